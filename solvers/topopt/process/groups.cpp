// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/process/groups.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <unordered_map>

namespace ossatura {

namespace {

constexpr double same_column = 0.02, other_column = 0.2, same_place = 0.05, same_size = 0.1;

using Position = std::array<double, 3>;

Position centre(const ElementPoints& points, std::size_t e) {
  return {points.centre[3 * e], points.centre[3 * e + 1], points.centre[3 * e + 2]};
}

/// Elements by cells of a width; cells share lists now and then, so that distances have to be
/// looked at.
class PlaceCells {
public:
  explicit PlaceCells(double width)
      : width_(width) {}

  void add(const Position& place, std::int32_t elem) {
    cells_[key(cell(place[0]), cell(place[1]), cell(place[2]))].push_back(elem);
  }
  /// Calls visit(elem) for those within a width of the place, and some others.
  template<class Visit>
  void for_near(const Position& place, const Visit& visit) const {
    for (std::int64_t z = cell(place[2]) - 1; z <= cell(place[2]) + 1; ++z)
      for (std::int64_t y = cell(place[1]) - 1; y <= cell(place[1]) + 1; ++y)
        for (std::int64_t x = cell(place[0]) - 1; x <= cell(place[0]) + 1; ++x)
          if (const auto found = cells_.find(key(x, y, z)); found != cells_.end())
            for (const std::int32_t elem : found->second)
              visit(elem);
  }

private:
  std::int64_t cell(double x) const { return std::int64_t(std::floor(x / width_)); }
  static std::uint64_t key(std::int64_t x, std::int64_t y, std::int64_t z) {
    return (std::uint64_t(x) * 0x9e3779b97f4a7c15u ^ std::uint64_t(y)) * 0xc2b2ae3d27d4eb4fu ^
           std::uint64_t(z) * 0x165667b19e3779f9u;
  }

  double width_;
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> cells_;
};

double distance(const Position& a, const Position& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// Sets of elements that grow together.
class Unions {
public:
  explicit Unions(std::size_t n)
      : first_(n) {
    std::iota(first_.begin(), first_.end(), 0);
  }
  /// The least member of the set.
  std::int32_t first(std::int32_t e) {
    while (first_[std::size_t(e)] != e)
      e = first_[std::size_t(e)] = first_[std::size_t(first_[std::size_t(e)])];
    return e;
  }
  void join(std::int32_t a, std::int32_t b) {
    a = first(a);
    b = first(b);
    first_[std::size_t(std::max(a, b))] = std::min(a, b);
  }

private:
  std::vector<std::int32_t> first_;
};

std::vector<std::pair<PlaceMap, std::string>> maps_of(const DesignProcess& process) {
  std::vector<std::pair<PlaceMap, std::string>> maps;
  for (const DesignProcess::Plane& plane : process.symmetry) {
    std::ostringstream what;
    what << "across the plane "
         << "xyz"[plane.axis] << " = " << plane.place << " m";
    maps.emplace_back(
        [plane](Position x) {
          x[std::size_t(plane.axis)] = 2 * plane.place - x[std::size_t(plane.axis)];
          return x;
        },
        what.str());
  }
  if (process.rotation) {
    const DesignProcess::Rotation turn = *process.rotation;
    std::ostringstream what;
    what << "a turn of 360 / " << turn.sectors << " degrees about "
         << "xyz"[turn.axis] << " away";
    maps.emplace_back(
        [turn](Position x) {
          const std::size_t u = std::size_t(turn.axis + 1) % 3, v = std::size_t(turn.axis + 2) % 3;
          const double angle = 2 * std::acos(-1.0) / turn.sectors;
          const double a = x[u] - turn.point[u], b = x[v] - turn.point[v];
          x[u] = turn.point[u] + a * std::cos(angle) - b * std::sin(angle);
          x[v] = turn.point[v] + a * std::sin(angle) + b * std::cos(angle);
          return x;
        },
        what.str());
  }
  return maps;
}

std::string in_text(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

[[noreturn]] void fail_no_columns(int axis, const std::string& reason) {
  const char name = "xyz"[axis];
  fail<std::invalid_argument>("the mesh has no columns along ", name, ": ", reason,
                              ". Sweep the mesh along ", name, ", or take the grid voxels");
}

/// How many other corners are beside a corner by less than `slack` across the axis.
int count_above(const std::vector<Position>& corners, std::size_t own, std::size_t axis,
                double slack) {
  int count = 0;
  for (std::size_t k = 0; k < corners.size(); ++k) {
    Position there = corners[k];
    there[axis] = corners[own][axis];
    count += k != own && distance(corners[own], there) <= slack ? 1 : 0;
  }
  return count;
}

} // namespace

void require_swept(const DesignProblem& problem, const ElementPoints& points, int axis) {
  std::vector<Position> corners;
  for (std::size_t e = 0; e < problem.num_elem(); ++e) {
    const NodeRange nodes = problem.nodes_of(e);
    const SolidShape& shape = problem.solids ? shape_of(problem.solids->kind[e]) : hexa_shape;
    corners.clear();
    for (int k = 0; k < shape.num_corners; ++k)
      corners.push_back(problem.point(nodes[std::size_t(k)]));
    for (std::size_t k = 0; k < corners.size(); ++k)
      if (count_above(corners, k, std::size_t(axis), same_column * points.size[e]) != 1)
        fail_no_columns(axis, "element " + std::to_string(e) +
                                  " has a corner that is not straight above or below one other");
  }
}

std::vector<std::int32_t> find_columns(const ElementPoints& points, int axis) {
  const std::size_t n = points.num_elem();
  OSSATURA_REQUIRE(n > 0 && axis >= 0 && axis < 3, n << " elements along axis " << axis);
  PlaceCells cells(other_column * *std::max_element(points.size.begin(), points.size.end()));
  std::vector<std::int32_t> column(n, -1), leader; // an element of each column
  for (std::size_t e = 0; e < n; ++e) {
    Position place = centre(points, e);
    place[std::size_t(axis)] = 0;
    cells.for_near(place, [&](std::int32_t number) {
      const std::size_t other = std::size_t(leader[std::size_t(number)]);
      Position there = centre(points, other);
      there[std::size_t(axis)] = 0;
      const double size = std::min(points.size[e], points.size[other]);
      const double way = distance(place, there);
      if (way >= other_column * size || column[e] == number)
        return;
      if (way > same_column * size || column[e] >= 0)
        fail_no_columns(axis, "the centres of the elements " + std::to_string(other) + " and " +
                                  std::to_string(e) + " are " + in_text(way) +
                                  " m beside each other, which is less than an element");
      column[e] = number;
    });
    if (column[e] < 0) {
      column[e] = std::int32_t(leader.size());
      leader.push_back(std::int32_t(e));
      cells.add(place, column[e]);
    }
  }
  return column;
}

std::vector<std::int32_t> find_images(const ElementPoints& points, const PlaceMap& map,
                                      const std::string& what) {
  const std::size_t n = points.num_elem();
  OSSATURA_REQUIRE(n > 0, "no elements");
  PlaceCells cells(same_place * *std::max_element(points.size.begin(), points.size.end()));
  for (std::size_t e = 0; e < n; ++e)
    cells.add(centre(points, e), std::int32_t(e));
  std::vector<std::int32_t> image(n, -1);
  for (std::size_t e = 0; e < n; ++e) {
    const Position there = map(centre(points, e));
    double nearest = same_place * points.size[e];
    cells.for_near(there, [&](std::int32_t other) {
      const double size = points.size[std::size_t(other)];
      const double way = distance(there, centre(points, std::size_t(other)));
      if (way > nearest || std::fabs(size - points.size[e]) > same_size * points.size[e])
        return;
      nearest = way;
      image[e] = other;
    });
    if (image[e] < 0)
      fail<std::invalid_argument>("element ", e, " at ", points.centre[3 * e], ", ",
                                  points.centre[3 * e + 1], ", ", points.centre[3 * e + 2],
                                  " m has no image ", what,
                                  ": take a mesh with this symmetry, or leave it out");
  }
  return image;
}

ElementLists link_elements(const ElementPoints& points, const DesignProcess& process,
                           const std::vector<std::int32_t>& column) {
  const std::size_t n = points.num_elem();
  Unions sets(n);
  std::vector<std::int32_t> first; // by column
  for (std::size_t e = 0; e < column.size(); ++e) {
    const std::size_t number = std::size_t(column[e]);
    if (number >= first.size())
      first.resize(number + 1, -1);
    if (first[number] < 0)
      first[number] = std::int32_t(e);
    sets.join(first[number], std::int32_t(e));
  }
  for (const auto& [map, what] : maps_of(process)) {
    const std::vector<std::int32_t> image = find_images(points, map, what);
    for (std::size_t e = 0; e < n; ++e)
      sets.join(std::int32_t(e), image[e]);
  }
  std::vector<std::int64_t> count(n), place(n, -1);
  for (std::size_t e = 0; e < n; ++e)
    ++count[std::size_t(sets.first(std::int32_t(e)))];
  ElementLists lists;
  for (std::size_t e = 0; e < n; ++e)
    if (count[e] > 1) {
      place[e] = lists.begin.back();
      lists.begin.push_back(place[e] + count[e]);
    }
  lists.member.resize(std::size_t(lists.begin.back()));
  for (std::size_t e = 0; e < n; ++e)
    if (std::int64_t& next = place[std::size_t(sets.first(std::int32_t(e)))]; next >= 0)
      lists.member[std::size_t(next++)] = std::int32_t(e);
  return lists;
}

} // namespace ossatura
