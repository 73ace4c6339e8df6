// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/generators/cut_lattice.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/parallel/random_shift.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace ossatura::detail {

namespace {

/// A cut closer to an end of its edge than this part of the edge, for edges along the axes and
/// across, moves that end onto the surface. From [1], of the best least angle.
constexpr double snap_part[2] = {0.24999, 0.41189};

/// Parts of h, the edge of a cube for each point, in a cube with two points.
constexpr double cube_edge = 1.2599210498948732;

/// Two cubic lattices, the corners and the centres of the same cubes. A lattice point is
/// 2 * cube + (1 for a centre), cubes numbered with x fastest.
class Lattice {
public:
  explicit Lattice(const CutLattice& lattice)
      : edge_(cube_edge * lattice.h)
      , jitter_(lattice.jitter * lattice.h)
      , seed_(lattice.seed) {
    for (int axis = 0; axis < 3; ++axis) {
      const double length = lattice.upper[axis] - lattice.lower[axis];
      OSSATURA_REQUIRE(length > 0 && lattice.h > 0 && length / edge_ < 10000,
                       "a box of " << length << " mm along an axis with edges of " << lattice.h);
      // Two cubes beyond the box on each side, so that no cell of the region lacks a neighbour.
      num_[axis] = int(std::ceil(length / edge_)) + 5;
      origin_[axis] = (lattice.lower[axis] + lattice.upper[axis] - edge_ * (num_[axis] - 1)) / 2;
    }
    OSSATURA_REQUIRE(std::int64_t(num_[0]) * num_[1] * num_[2] < INT32_MAX / 3,
                     "too many points in a lattice of edge " << lattice.h << " mm");
    for (int corner = 0; corner < 8; ++corner)
      to_corner_[corner] = cube(corner & 1, corner >> 1 & 1, corner >> 2);
  }

  std::int32_t cube(int i, int j, int k) const { return i + num_[0] * (j + num_[1] * k); }
  int num(int axis) const { return num_[axis]; }
  std::int32_t num_points() const { return 2 * num_[0] * num_[1] * num_[2]; }

  Array3 position(std::int32_t point) const {
    const std::int32_t cube = point / 2;
    const int index[3] = {cube % num_[0], cube / num_[0] % num_[1], cube / num_[0] / num_[1]};
    Array3 x = random_shift(seed_, point, jitter_);
    for (int axis = 0; axis < 3; ++axis)
      x[axis] += origin_[axis] + edge_ * (index[axis] + 0.5 * (point % 2));
    return x;
  }

  /// Along an axis edges join equal points of neighbouring cubes; across, a centre and a corner of
  /// its cube. An edge belongs to the end of less position along the axis, or the centre:
  /// directions 0 to 2 along an axis, 3 to 10 from a centre to a corner by the bits of x, y, z.
  int num_directions(std::int32_t point) const { return point % 2 ? 11 : 3; }
  std::int32_t neighbour(std::int32_t point, int direction) const {
    if (direction < 3)
      return point + 2 * to_corner_[1 << direction];
    return point - 1 + 2 * to_corner_[direction - 3];
  }

private:
  double edge_, jitter_;
  std::uint64_t seed_;
  int num_[3];
  Array3 origin_;
  std::int32_t to_corner_[8];
};

/// An edge with ends on both sides of the surface, which it meets at this part of the way.
struct Cut {
  std::int32_t from, to;
  float part;
};

class Cutter {
public:
  Cutter(const CutLattice& lattice, const LevelFunction& level)
      : h_(lattice.h)
      , lattice_(lattice)
      , level_function_(level) {}

  TetraMesh run() {
    evaluate();
    find_cuts();
    snap_points();
    cut_cells();
    return number_points();
  }

private:
  /// What `fill(plane, list)` puts into the lists of planes from `first` on, one after the other.
  template<class T, class Fill>
  void by_planes(int first, std::vector<T>& all, const Fill& fill) const;
  void evaluate();
  void find_cuts();
  float find_cut(std::int32_t from, std::int32_t to) const;
  void snap_points();
  void cut_cells();
  using Tetra = std::vector<std::int32_t>; ///< four points each
  void cut_tetra(const std::array<std::int32_t, 4>& corner, Tetra& tetra) const;
  /// The number of the cut between two lattice points.
  std::int32_t cut(std::int32_t a, std::int32_t b) const;
  Array3 position(const Cut& cut) const;
  double square_distance(std::int32_t cut_a, std::int32_t cut_b) const;
  TetraMesh number_points();
  void renumber(TetraMesh& mesh, const std::vector<std::int32_t>& number);

  double h_;
  Lattice lattice_;
  const LevelFunction& level_function_;
  std::vector<float> level_; ///< of lattice points; 0 once moved onto the surface
  std::vector<Cut> cuts_;    ///< by `from`, then `to`
  std::vector<std::pair<std::int32_t, Array3>> snapped_; ///< by lattice point
  std::vector<std::int32_t> tetra_; ///< lattice points, and lattice_.num_points() + a cut
};

template<class T, class Fill>
void Cutter::by_planes(int first, std::vector<T>& all, const Fill& fill) const {
  std::vector<std::vector<T>> lists(std::size_t(std::max(0, lattice_.num(2) - 1 - first)));
  for_parts(lists.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t plane = begin; plane < end; ++plane)
      fill(first + int(plane), lists[plane]);
  });
  std::size_t count = 0;
  for (const std::vector<T>& list : lists)
    count += list.size();
  all.reserve(count);
  for (std::vector<T>& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
    list = {};
  }
}

void Cutter::evaluate() {
  level_.resize(lattice_.num_points());
  for_parts(level_.size(), 1 << 12, [&](std::size_t first, std::size_t end) {
    for (std::size_t point = first; point < end; ++point)
      level_[point] = float(level_function_(lattice_.position(std::int32_t(point))));
  });
}

/// Where the surface meets an edge, by the Illinois variant of the false position.
float Cutter::find_cut(std::int32_t from, std::int32_t to) const {
  const Array3 a = lattice_.position(from), b = lattice_.position(to);
  double left = 0, right = 1, level_left = level_[from], level_right = level_[to];
  double part = 0.5;
  for (int step = 0; step < 30; ++step) {
    part = (left * level_right - right * level_left) / (level_right - level_left);
    Array3 x;
    for (int axis = 0; axis < 3; ++axis)
      x[axis] = a[axis] + part * (b[axis] - a[axis]);
    const double level = level_function_(x);
    if (std::abs(level) < 1e-5 * h_)
      break;
    if ((level < 0) == (level_right < 0)) {
      right = part;
      level_right = level;
      level_left /= 2;
    } else {
      left = part;
      level_left = level;
      level_right /= 2;
    }
  }
  return float(part);
}

void Cutter::find_cuts() {
  by_planes(0, cuts_, [&](int k, std::vector<Cut>& cuts) {
    for (int j = 0; j + 1 < lattice_.num(1); ++j)
      for (int i = 0; i + 1 < lattice_.num(0); ++i)
        for (int odd = 0; odd < 2; ++odd) {
          const std::int32_t from = 2 * lattice_.cube(i, j, k) + odd;
          const std::size_t first = cuts.size();
          for (int direction = 0; direction < lattice_.num_directions(from); ++direction) {
            const std::int32_t to = lattice_.neighbour(from, direction);
            if (level_[from] * level_[to] < 0)
              cuts.push_back({from, to, find_cut(from, to)});
          }
          std::sort(cuts.begin() + std::ptrdiff_t(first), cuts.end(),
                    [](const Cut& a, const Cut& b) { return a.to < b.to; });
        }
  });
}

Array3 Cutter::position(const Cut& cut) const {
  const Array3 a = lattice_.position(cut.from), b = lattice_.position(cut.to);
  Array3 x;
  for (int axis = 0; axis < 3; ++axis)
    x[axis] = a[axis] + cut.part * (b[axis] - a[axis]);
  return x;
}

/// Ends of edges move onto near cuts, the shortest moves first. A cut beside a point that has moved
/// is one no more, so that those which stay lie between points that have not.
void Cutter::snap_points() {
  struct Move {
    float distance;
    std::int32_t point, cut;
  };
  std::vector<Move> moves;
  for (std::size_t c = 0; c < cuts_.size(); ++c) {
    const bool across = (cuts_[c].from - cuts_[c].to) % 2 != 0;
    const float length = across ? 0.8660254f : 1; // in edges of cubes
    const float part = cuts_[c].part;
    if (part < snap_part[across])
      moves.push_back({part * length, cuts_[c].from, std::int32_t(c)});
    else if (1 - part < snap_part[across])
      moves.push_back({(1 - part) * length, cuts_[c].to, std::int32_t(c)});
  }
  std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
    return std::tie(a.distance, a.cut) < std::tie(b.distance, b.cut);
  });
  for (const Move& move : moves) {
    const Cut& cut = cuts_[move.cut];
    if (level_[cut.from] == 0 || level_[cut.to] == 0)
      continue;
    level_[move.point] = 0;
    snapped_.push_back({move.point, position(cut)});
  }
  std::sort(snapped_.begin(), snapped_.end());
}

/// The tetrahedra about the edge between the centres of neighbouring cubes: one for each edge of
/// the face between them.
void Cutter::cut_cells() {
  const int step[3] = {2 * lattice_.cube(1, 0, 0), 2 * lattice_.cube(0, 1, 0),
                       2 * lattice_.cube(0, 0, 1)};
  by_planes(1, tetra_, [&](int k, Tetra& tetra) {
    for (int j = 1; j + 1 < lattice_.num(1); ++j)
      for (int i = 1; i + 1 < lattice_.num(0); ++i)
        for (int axis = 0; axis < 3; ++axis) {
          const std::int32_t corner = 2 * lattice_.cube(i, j, k) + step[axis];
          const std::int32_t near = 2 * lattice_.cube(i, j, k) + 1, far = near + step[axis];
          const int u = step[(axis + 1) % 3], v = step[(axis + 2) % 3];
          const std::int32_t ring[5] = {corner, corner + u, corner + u + v, corner + v, corner};
          for (int side = 0; side < 4; ++side)
            cut_tetra({near, far, ring[side], ring[side + 1]}, tetra);
        }
  });
}

/// Adds what of a tetrahedron is inside. Where a face is cut into a quadrilateral, its diagonal
/// starts at the deeper of the two points inside, which both tetrahedra of the face agree on and
/// which leaves a prism that can be cut into tetrahedra.
void Cutter::cut_tetra(const std::array<std::int32_t, 4>& corner, Tetra& tetra) const {
  const auto add = [&](std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
    tetra.insert(tetra.end(), {a, b, c, d});
  };
  std::int32_t in[4] = {}, out[4] = {}, on[4] = {};
  int num_in = 0, num_out = 0, num_on = 0;
  for (const std::int32_t point : corner) {
    if (level_[point] < 0)
      in[num_in++] = point;
    else if (level_[point] > 0)
      out[num_out++] = point;
    else
      on[num_on++] = point;
  }
  if (num_in == 0)
    return;
  if (num_out == 0)
    return add(corner[0], corner[1], corner[2], corner[3]);
  const auto put_deeper_first = [&](std::int32_t& p, std::int32_t& q) {
    if (std::make_pair(level_[q], q) < std::make_pair(level_[p], p))
      std::swap(p, q);
  };
  if (num_in == 3)
    put_deeper_first(in[1], in[2]);
  if (num_in >= 2)
    put_deeper_first(in[0], in[1]);
  if (num_in == 3)
    put_deeper_first(in[1], in[2]);
  const std::int32_t a = in[0], b = in[1], c = in[2];
  if (num_in == 1) {
    for (int o = 0; o < num_out; ++o)
      on[num_on++] = cut(a, out[o]);
    return add(a, on[0], on[1], on[2]);
  }
  const std::int32_t ad = cut(a, out[0]), bd = cut(b, out[0]);
  if (num_in == 3) {
    const std::int32_t cd = cut(c, out[0]);
    add(a, ad, bd, cd);
    add(a, b, bd, cd);
    return add(a, b, c, cd);
  }
  if (num_out == 1) {
    add(a, b, bd, on[0]);
    return add(a, bd, ad, on[0]);
  }
  const std::int32_t ae = cut(a, out[1]), be = cut(b, out[1]);
  add(a, b, bd, be);
  if (square_distance(ad, be) < square_distance(ae, bd)) {
    add(a, ad, ae, be);
    add(a, ad, be, bd);
  } else {
    add(a, ae, be, bd);
    add(a, ae, bd, ad);
  }
}

std::int32_t Cutter::cut(std::int32_t a, std::int32_t b) const {
  const bool a_first = (a - b) % 2 == 0 ? a < b : a % 2 != 0;
  const auto ends = a_first ? std::make_pair(a, b) : std::make_pair(b, a);
  const auto place =
      std::lower_bound(cuts_.begin(), cuts_.end(), ends, [](const Cut& cut, const auto& e) {
        return std::make_pair(cut.from, cut.to) < e;
      });
  return std::int32_t(lattice_.num_points() + (place - cuts_.begin()));
}

double Cutter::square_distance(std::int32_t cut_a, std::int32_t cut_b) const {
  const Array3 x = position(cuts_[cut_a - lattice_.num_points()]);
  const Array3 y = position(cuts_[cut_b - lattice_.num_points()]);
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis)
    sum += (x[axis] - y[axis]) * (x[axis] - y[axis]);
  return sum;
}

/// Numbers the points that are used, a cut after the lattice point its edge belongs to: how many
/// there are in each plane of the lattice first, then the points.
TetraMesh Cutter::number_points() {
  const std::size_t num_lattice = std::size_t(lattice_.num_points());
  std::vector<std::int32_t> number(num_lattice + cuts_.size(), -1);
  for_parts(tetra_.size(), 1 << 16, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      __atomic_store_n(&number[std::size_t(tetra_[i])], 0, __ATOMIC_RELAXED); // by many threads
  });
  const std::size_t plane_size = 2 * std::size_t(lattice_.num(0)) * std::size_t(lattice_.num(1));
  const std::size_t num_planes = num_lattice / plane_size;
  /// Calls keep(slot of `number`, position) for what is used of a plane.
  const auto walk = [&](std::size_t plane, const auto& keep) {
    const std::int32_t begin = std::int32_t(plane * plane_size),
                       end = std::int32_t((plane + 1) * plane_size);
    auto moved =
        std::lower_bound(snapped_.begin(), snapped_.end(), begin,
                         [](const auto& s, std::int32_t point) { return s.first < point; });
    auto cut = std::lower_bound(cuts_.begin(), cuts_.end(), begin,
                                [](const Cut& c, std::int32_t point) { return c.from < point; });
    for (std::int32_t point = begin; point < end; ++point) {
      const bool has_moved = moved != snapped_.end() && moved->first == point;
      if (number[std::size_t(point)] >= 0)
        keep(std::size_t(point),
             [&] { return has_moved ? moved->second : lattice_.position(point); });
      moved += has_moved;
      for (; cut != cuts_.end() && cut->from == point; ++cut)
        if (const std::size_t slot = num_lattice + std::size_t(cut - cuts_.begin());
            number[slot] >= 0)
          keep(slot, [&] { return position(*cut); });
    }
  };
  std::vector<std::int32_t> first(num_planes + 1, 0);
  for_parts(num_planes, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t plane = begin; plane < end; ++plane)
      walk(plane, [&](std::size_t, const auto&) { ++first[plane + 1]; });
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  TetraMesh mesh;
  mesh.point.resize(3 * std::size_t(first.back()));
  for_parts(num_planes, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t plane = begin; plane < end; ++plane) {
      std::int32_t next = first[plane];
      walk(plane, [&](std::size_t slot, const auto& place) {
        number[slot] = next;
        const Array3 x = place();
        std::copy(x.begin(), x.end(), mesh.point.begin() + 3 * std::ptrdiff_t(next++));
      });
    }
  });
  renumber(mesh, number);
  return mesh;
}

/// Hands the tetrahedra to the mesh, and turns those that are negative.
void Cutter::renumber(TetraMesh& mesh, const std::vector<std::int32_t>& number) {
  mesh.tetra = std::move(tetra_);
  for_parts(mesh.num_tetra(), 1 << 14, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end; ++e) {
      std::int32_t* const v = &mesh.tetra[4 * e];
      for (int n = 0; n < 4; ++n)
        v[n] = number[std::size_t(v[n])];
      double edge[3][3];
      for (int n = 0; n < 3; ++n)
        for (int axis = 0; axis < 3; ++axis)
          edge[n][axis] = mesh.point[3 * std::size_t(v[n + 1]) + axis] -
                          mesh.point[3 * std::size_t(v[0]) + axis];
      const double determinant = edge[0][0] * (edge[1][1] * edge[2][2] - edge[1][2] * edge[2][1]) +
                                 edge[0][1] * (edge[1][2] * edge[2][0] - edge[1][0] * edge[2][2]) +
                                 edge[0][2] * (edge[1][0] * edge[2][1] - edge[1][1] * edge[2][0]);
      if (determinant < 0)
        std::swap(v[2], v[3]);
    }
  });
}

} // namespace

TetraMesh cut_lattice(const CutLattice& lattice, const LevelFunction& level) {
  return Cutter(lattice, level).run();
}

} // namespace ossatura::detail
