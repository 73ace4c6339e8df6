// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/start.hpp>

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/topopt/near_values.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ossatura {

namespace {

/// Calls visit(e, centre) for the elements of a problem, ascending.
template<class Visit>
void for_each_centre(const DesignProblem& problem, const Visit& visit) {
  if (!problem.lattice) {
    for (std::size_t e = 0; e < problem.num_elem(); ++e)
      visit(e, problem.centre_of(e));
    return;
  }
  const LatticeBody& body = *problem.lattice;
  ChosenPlanes all;
  for (std::size_t axis = 0; axis < 3; ++axis)
    all[axis].assign(std::size_t(body.cells()[axis]), true);
  LatticeBody::for_places(body.elem(), all, [&](const LatticeBody::Place& place, std::int32_t e) {
    std::array<double, 3> centre{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::vector<double>& plane = body.plane(int(axis));
      const std::size_t i = std::size_t(place[axis]);
      centre[axis] = 0.5 * (plane[i] + plane[i + 1]);
    }
    visit(std::size_t(e), centre);
  });
}

double distance_between(const double* a, const double* b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// Whether the interval of the one design is about that of the other along an axis. Bodies that
/// cubes fill end up to an edge apart; a design space may have been changed a little since.
bool is_alike(double low, double high, double to_low, double to_high, double edge) {
  constexpr double least = 0.8; // of the longer one
  const double longest = std::max(high - low, to_high - to_low);
  return std::min(high, to_high) - std::max(low, to_low) > least * longest - edge;
}

/// Whether both designs are of one body, as far as the boxes around them say: it is the same, or
/// where the problem has mirrors the design may be of the whole part. One of the half for a problem
/// of the whole would give all of its other half the densities in the plane of the mirror.
bool is_same_body(const PlacedDensities& from, double from_size, const DesignProblem& problem) {
  const Box to = problem.bounds();
  // Of cubes, from half their diagonal.
  const double edge =
      2 / std::sqrt(3.0) *
      std::max(from_size, problem.lattice ? 0.5 * std::sqrt(3.0) * problem.lattice->edge() : 0.0);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double low = from.bounds[axis], high = from.bounds[axis + 3];
    bool alike = is_alike(low, high, to[axis], to[axis + 3], edge);
    for (const MirrorPlane& mirror : problem.mirrors)
      if (std::size_t(mirror.axis) == axis)
        alike = alike || is_alike(low, high, std::min(to[axis], 2 * mirror.place - to[axis + 3]),
                                  std::max(to[axis + 3], 2 * mirror.place - to[axis]), edge);
    if (!alike)
      return false;
  }
  return true;
}

} // namespace

PlacedDensities place_densities(const DesignProblem& problem, std::vector<double> density) {
  OSSATURA_REQUIRE(density.size() == problem.num_elem(),
                   density.size() << " densities of " << problem.num_elem() << " elements");
  PlacedDensities placed;
  placed.density = std::move(density);
  placed.bounds = problem.bounds();
  placed.centre.reserve(3 * problem.num_elem());
  placed.size.reserve(problem.num_elem());
  const double half = problem.lattice ? 0.5 * std::sqrt(3.0) * problem.lattice->edge() : 0;
  for_each_centre(problem, [&](std::size_t e, const std::array<double, 3>& centre) {
    placed.centre.insert(placed.centre.end(), centre.begin(), centre.end());
    double size = half;
    if (!problem.lattice)
      for (const std::int32_t n : problem.nodes_of(e))
        size =
            std::max(size, distance_between(centre.data(), &problem.points()[3 * std::size_t(n)]));
    placed.size.push_back(size);
  });
  return placed;
}

PlacedDensities place_densities(const std::vector<double>& point,
                                const std::vector<std::int64_t>& begin,
                                const std::vector<std::int64_t>& node,
                                std::vector<double> density) {
  OSSATURA_REQUIRE(begin.size() == density.size() + 1 && begin.front() == 0 &&
                       std::size_t(begin.back()) == node.size(),
                   density.size() << " densities of elements that begin at " << begin.size()
                                  << " places of " << node.size() << " nodes");
  PlacedDensities placed;
  placed.density = std::move(density);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  placed.bounds = {infinity, infinity, infinity, -infinity, -infinity, -infinity};
  for (std::size_t e = 0; e + 1 < begin.size(); ++e) {
    OSSATURA_REQUIRE(begin[e] < begin[e + 1] && std::size_t(begin[e + 1]) <= node.size(),
                     "element " << e << " has no nodes");
    double centre[3] = {}, size = 0;
    const double count = double(begin[e + 1] - begin[e]);
    const auto at = [&](std::int64_t slot) {
      const std::int64_t n = node[std::size_t(slot)];
      OSSATURA_REQUIRE(n >= 0 && std::size_t(n) < point.size() / 3,
                       "element " << e << " has node " << n << " of " << point.size() / 3);
      return &point[3 * std::size_t(n)];
    };
    for (std::int64_t slot = begin[e]; slot < begin[e + 1]; ++slot)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double x = at(slot)[axis];
        centre[axis] += x / count;
        placed.bounds[axis] = std::min(placed.bounds[axis], x);
        placed.bounds[axis + 3] = std::max(placed.bounds[axis + 3], x);
      }
    for (std::int64_t slot = begin[e]; slot < begin[e + 1]; ++slot)
      size = std::max(size, distance_between(centre, at(slot)));
    placed.centre.insert(placed.centre.end(), centre, centre + 3);
    placed.size.push_back(size);
  }
  return placed;
}

template<class Exec>
std::vector<double> densities_at(const Exec& exec, const PlacedDensities& from,
                                 const DesignProblem& problem) {
  const std::size_t count = from.density.size();
  OSSATURA_REQUIRE(count > 0 && from.size.size() == count && from.centre.size() == 3 * count,
                   count << " densities, " << from.size.size() << " sizes and "
                         << from.centre.size() << " coordinates of elements");
  double mean_size = 0;
  for (const double size : from.size)
    mean_size += size / double(count);
  OSSATURA_REQUIRE(mean_size > 0 && std::isfinite(mean_size), "elements of size " << mean_size);
  OSSATURA_REQUIRE(is_same_body(from, mean_size, problem),
                   "the design is of another body, " << span_text(from.bounds)
                                                     << " m in x, y, z, and that of the problem is "
                                                     << span_text(problem.bounds()) << " m");
  const NearSources<Exec> sources =
      make_near_sources(exec, upload(exec, "ossatura::start::centre", from.centre),
                        upload(exec, "ossatura::start::size", from.size),
                        upload(exec, "ossatura::start::density", from.density), mean_size);
  std::vector<double> result, centres;
  result.reserve(problem.num_elem());
  constexpr std::size_t most = std::size_t(1) << 22; // at a time: points are larger than a design
  const auto interpolate = [&] {
    const std::vector<double> some = download(
        exec, interpolate_near(exec, sources, upload(exec, "ossatura::start::to", centres)));
    result.insert(result.end(), some.begin(), some.end());
    centres.clear();
  };
  for_each_centre(problem, [&](std::size_t, const std::array<double, 3>& centre) {
    centres.insert(centres.end(), centre.begin(), centre.end());
    if (centres.size() == 3 * most)
      interpolate();
  });
  if (!centres.empty())
    interpolate();
  return result;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::vector<double> densities_at(const Exec&, const PlacedDensities&,                   \
                                            const DesignProblem&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
