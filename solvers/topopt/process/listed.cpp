// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/process/listed.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/topopt/draw_heights.hpp>
#include <ossatura/kernels/topopt/listed_links.hpp>
#include <ossatura/solvers/topopt/process/groups.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ossatura {

namespace {

template<class Exec>
class ListedProcess final : public ElementProcess<Exec> {
public:
  using Vector = Array<double, Exec>;
  using Roles = Array<std::uint8_t, Exec>;

  ListedProcess(const Exec& exec, const DesignProblem& problem, const DesignProcess& process,
                const Vector& volume, const Roles& role);

  void link(const Exec& exec, const Roles& role, const Vector& x) const override {
    if (links_.num_groups() > 0)
      average_links(exec, links_, role, false, x);
  }
  void link_back(const Exec& exec, const Roles& role, const Vector& gradient) const override {
    if (links_.num_groups() > 0)
      average_links(exec, links_, role, true, gradient);
  }
  void shape(const Exec& exec, double sharpness, const Roles& role, const Vector& blueprint,
             const Vector& density) const override {
    apply_heights(exec, heights_, sharpness, role, blueprint, density);
  }
  void shape_back(const Exec& exec, double sharpness, const Roles& role, const Vector& blueprint,
                  const Vector&, const Vector& gradient) const override {
    apply_heights_back(exec, heights_, sharpness, role, blueprint, gradient);
  }
  ProcessFaults find_faults(const Exec& exec, const Roles& role,
                            const Vector& density) const override {
    ProcessFaults faults;
    if (is_drawn_)
      faults.undercuts = count_undercuts(exec, heights_, density);
    else if (links_.num_groups() > 0)
      faults.unlike = count_unlike(exec, links_, role, density);
    return faults;
  }

private:
  void make_heights(const Exec& exec, const ElementPoints& points, const DesignProcess::Draw& draw,
                    const std::vector<double>& volume, std::vector<std::int32_t>& column,
                    const Roles& role);

  ListedLinks<Exec> links_;
  bool is_drawn_;
  ListedHeights<Exec> heights_;
};

template<class Exec>
ListedProcess<Exec>::ListedProcess(const Exec& exec, const DesignProblem& problem,
                                   const DesignProcess& process, const Vector& volume,
                                   const Roles& role)
    : is_drawn_(process.draw.has_value()) {
  if (process.overhang)
    fail<std::invalid_argument>("overhang is of layers of equal cubes: take the grid voxels, or "
                                "leave it out");
  ElementPoints points;
  const std::vector<double> volumes = download(exec, volume);
  for (std::size_t e = 0; e < volumes.size(); ++e) {
    const std::array<double, 3> centre = problem.centre_of(e);
    points.centre.insert(points.centre.end(), centre.begin(), centre.end());
    points.size.push_back(std::cbrt(volumes[e]));
  }
  std::vector<std::int32_t> column;
  if (process.extrude || process.draw) {
    const int axis = process.extrude ? *process.extrude : process.draw->direction.axis;
    require_swept(problem, points, axis);
    column = find_columns(points, axis);
  }
  if (process.draw)
    make_heights(exec, points, *process.draw, volumes, column, role);
  const ElementLists lists = link_elements(points, process, column);
  links_ = {upload(exec, "ossatura::listed_links::begin", lists.begin),
            upload(exec, "ossatura::listed_links::member", lists.member), volume};
}

/// Columns in two parts become two. Places are by volume: columns are as wide all along.
template<class Exec>
void ListedProcess<Exec>::make_heights(const Exec& exec, const ElementPoints& points,
                                       const DesignProcess::Draw& draw,
                                       const std::vector<double>& volume,
                                       std::vector<std::int32_t>& column, const Roles& role) {
  const std::size_t n = points.num_elem(), axis = std::size_t(draw.direction.axis);
  const auto above = [&](std::size_t e) {
    return draw.parting && points.centre[3 * e + axis] >= *draw.parting;
  };
  for (std::size_t e = 0; draw.parting && e < n; ++e)
    column[e] = 2 * column[e] + (above(e) ? 1 : 0);
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const auto height = [&](std::int32_t e) { // outward
    const bool rises = draw.parting ? above(std::size_t(e)) : draw.direction.sense > 0;
    const double x = points.centre[3 * std::size_t(e) + axis];
    return rises ? x : -x;
  };
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const std::int32_t i = column[std::size_t(a)], j = column[std::size_t(b)];
    return i != j ? i < j : height(a) < height(b);
  });
  std::vector<std::uint8_t> roles = download(exec, role);
  std::vector<double> most(n, 1), place(n);
  std::vector<std::int64_t> begin{0};
  constexpr std::uint8_t free = std::uint8_t(DesignRole::free),
                         solid = std::uint8_t(DesignRole::solid);
  for (std::size_t first = 0, last; first < n; first = last) {
    for (last = first;
         last < n && column[std::size_t(order[last])] == column[std::size_t(order[first])];)
      ++last;
    begin.push_back(std::int64_t(last));
    bool below = false;
    double total = 0, count = 0;
    for (std::size_t k = last; k-- > first;) {
      const std::size_t e = std::size_t(order[k]);
      below = below || roles[e] == solid;
      if (below && roles[e] == free)
        roles[e] = solid;
      total += roles[e] == free ? volume[e] : 0;
      count += roles[e] == free ? 1 : 0;
    }
    double so_far = 0;
    for (std::size_t k = first; k < last; ++k) {
      const std::size_t e = std::size_t(order[k]);
      if (roles[e] != free)
        continue;
      most[e] = most_draw_sharpness * count;
      place[e] = (so_far + volume[e] / 2) / total;
      so_far += volume[e];
    }
  }
  Kokkos::deep_copy(exec, role, upload(exec, "ossatura::design::role", roles));
  heights_ = {upload(exec, "ossatura::listed_heights::most", most),
              upload(exec, "ossatura::listed_heights::place", place),
              upload(exec, "ossatura::listed_heights::begin", begin),
              upload(exec, "ossatura::listed_heights::member", order)};
  fence(exec, "ossatura::listed_heights");
}

} // namespace

template<class Exec>
std::unique_ptr<ElementProcess<Exec>>
make_listed_process(const Exec& exec, const DesignProblem& problem, const DesignProcess& process,
                    const Array<double, Exec>& volume, const Array<std::uint8_t, Exec>& role) {
  return std::make_unique<ListedProcess<Exec>>(exec, problem, process, volume, role);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::unique_ptr<ElementProcess<Exec>> make_listed_process(                              \
      const Exec&, const DesignProblem&, const DesignProcess&, const Array<double, Exec>&,         \
      const Array<std::uint8_t, Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
