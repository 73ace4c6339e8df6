// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/lattice_body.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>
#include <numeric>

namespace ossatura {

namespace {

using Place = LatticeBody::Place;

int ones(std::uint64_t bits) {
  return int(std::bitset<64>(bits).count());
}

std::uint64_t bit(int x) {
  return std::uint64_t(1) << (x & 63);
}

/// The corners of a hexahedron from its lowest one, in the order of VTK.
constexpr int corner_of_node[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

Place corner(const Place& cell, const int (&offset)[3]) {
  return {cell[0] + offset[0], cell[1] + offset[1], cell[2] + offset[2]};
}

/// Calls visit(x) for the places that a row has.
template<class Visit>
void for_row(const LatticeRows& rows, std::size_t row, const Visit& visit) {
  const std::uint64_t* bits = rows.of_row(row);
  for (int x = 0; x < rows.shape[0]; ++x)
    if ((bits[x / 64] & bit(x)) != 0)
      visit(x);
}

/// Sets the bits of [low, high) in a row.
void set_bits(std::uint64_t* row, int low, int high) {
  for (int x = low; x < high;) {
    if (x % 64 == 0 && high - x >= 64) {
      row[x / 64] = ~std::uint64_t(0);
      x += 64;
    } else {
      row[x / 64] |= bit(x);
      ++x;
    }
  }
}

/// Marks the corners of the cells of one row in a row of nodes.
void mark_corners(const LatticeRows& cell, std::size_t row, std::uint64_t* nodes) {
  const std::uint64_t* bits = cell.of_row(row);
  std::uint64_t carry = 0;
  for (int w = 0; w < cell.words; ++w) {
    nodes[w] |= bits[w] | bits[w] << 1 | carry;
    carry = bits[w] >> 63;
  }
}

/// A run of cells in a row.
struct Run {
  int begin, end;
};

std::vector<Run> runs_of(const LatticeRows& cell, std::size_t row) {
  const std::uint64_t* bits = cell.of_row(row);
  std::vector<Run> runs;
  for (int x = 0; x < cell.shape[0];) {
    const std::uint64_t rest = bits[x / 64] >> (x & 63);
    const int count = rest == ~std::uint64_t(0) ? 64 : 1; // most words are all of a run
    if (rest == 0) {
      x = (x / 64 + 1) * 64;
      continue;
    }
    if ((rest & 1) != 0) {
      if (!runs.empty() && runs.back().end == x)
        runs.back().end += count;
      else
        runs.push_back({x, x + count});
    }
    x += count;
  }
  return runs;
}

} // namespace

void LatticeRows::resize(const std::array<int, 3>& places) {
  shape = places;
  // There is a bit behind the last place, for the corner beyond the last cell.
  words = places[0] / 64 + 1;
  bits.assign(std::size_t(words) * std::size_t(places[1]) * std::size_t(places[2]), 0);
}

void LatticeRows::count() {
  const std::size_t rows = bits.size() / std::size_t(words);
  begin.assign(rows + 1, 0);
  std::int64_t total = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (int w = 0; w < words; ++w)
      total += ones(of_row(row)[w]);
    if (total > std::numeric_limits<std::int32_t>::max())
      fail<InputError>("the lattice has more than 2^31 - 1 nodes or elements: take larger cells");
    begin[row + 1] = std::int32_t(total);
  }
}

bool LatticeRows::has(const std::array<int, 3>& place) const {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (place[axis] < 0 || place[axis] >= shape[axis])
      return false;
  return (of_row(row(place[1], place[2]))[place[0] / 64] & bit(place[0])) != 0;
}

std::int32_t LatticeRows::number(const std::array<int, 3>& place) const {
  const std::size_t in = row(place[1], place[2]);
  const std::uint64_t* word = of_row(in);
  std::int32_t result = begin[in];
  for (int w = 0; w < place[0] / 64; ++w)
    result += ones(word[w]);
  return result + ones(word[place[0] / 64] & (bit(place[0]) - 1));
}

std::array<int, 3> LatticeRows::place(std::int32_t number) const {
  const std::size_t in =
      std::size_t(std::upper_bound(begin.begin(), begin.end(), number) - begin.begin()) - 1;
  const std::uint64_t* word = of_row(in);
  int left = number - begin[in], x = 0;
  for (; left >= ones(word[x / 64]); x += 64)
    left -= ones(word[x / 64]);
  for (;; ++x)
    if ((word[x / 64] & bit(x)) != 0 && left-- == 0)
      break;
  return {x, int(in % std::size_t(shape[1])), int(in / std::size_t(shape[1]))};
}

LatticeBody::LatticeBody(std::array<std::vector<double>, 3> plane,
                         const std::vector<CellBox>& solid)
    : plane_(std::move(plane)) {
  Place cells{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::vector<double>& x = plane_[axis];
    OSSATURA_REQUIRE(x.size() >= 2 && x.size() <= 1u << 20, "a lattice with "
                                                                << x.size() << " planes normal to "
                                                                << "xyz"[axis]);
    for (std::size_t i = 1; i < x.size(); ++i)
      OSSATURA_REQUIRE(x[i] > x[i - 1] && std::isfinite(x[i] - x[i - 1]),
                       "planes normal to "
                           << "xyz"[axis] << " at " << x[i - 1] << " and " << x[i]);
    cells[axis] = int(x.size()) - 1;
  }
  cell_.resize(cells);
  for (const CellBox& box : solid) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      OSSATURA_REQUIRE(box.low[axis] >= 0 && box.high[axis] <= cells[axis],
                       "cells from " << box.low[axis] << " to " << box.high[axis] << " of "
                                     << cells[axis]);
    for (int z = box.low[2]; z < box.high[2]; ++z)
      for (int y = box.low[1]; y < box.high[1]; ++y)
        set_bits(cell_.of_row(cell_.row(y, z)), box.low[0], box.high[0]);
  }
  cell_.count();
  OSSATURA_REQUIRE(num_elem() > 0, "a lattice without cells");
  node_.resize({cells[0] + 1, cells[1] + 1, cells[2] + 1});
  for (int z = 0; z < cells[2]; ++z)
    for (int y = 0; y < cells[1]; ++y)
      for (const int side : {0, 1, 2, 3})
        mark_corners(cell_, cell_.row(y, z), node_.of_row(node_.row(y + side % 2, z + side / 2)));
  node_.count();
}

Box LatticeBody::bounds() const {
  ChosenPlanes has;
  Box box;
  for (std::size_t axis = 0; axis < 3; ++axis)
    has[axis].assign(plane_[axis].size(), false);
  for (int z = 0; z < node_.shape[2]; ++z)
    for (int y = 0; y < node_.shape[1]; ++y) {
      const std::size_t row = node_.row(y, z);
      if (node_.begin[row] == node_.begin[row + 1])
        continue;
      has[1][std::size_t(y)] = has[2][std::size_t(z)] = true;
      const Place first = node_.place(node_.begin[row]),
                  last = node_.place(node_.begin[row + 1] - 1);
      has[0][std::size_t(first[0])] = has[0][std::size_t(last[0])] = true;
    }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto first = std::find(has[axis].begin(), has[axis].end(), true);
    const auto last = std::find(has[axis].rbegin(), has[axis].rend(), true);
    box[axis] = plane_[axis][std::size_t(first - has[axis].begin())];
    box[axis + 3] = plane_[axis][std::size_t(has[axis].rend() - last) - 1];
  }
  return box;
}

double LatticeBody::edge() const {
  std::size_t longest = 0;
  for (std::size_t axis = 1; axis < 3; ++axis)
    if (cells()[axis] > cells()[longest])
      longest = axis;
  return (plane_[longest].back() - plane_[longest].front()) / cells()[longest];
}

bool LatticeBody::is_of_cubes() const {
  constexpr double slack = 1e-5;
  const double one = edge();
  const Box box = bounds();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::vector<double>& x = plane_[axis];
    if (box[axis] != x.front() || box[axis + 3] != x.back())
      return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (std::fabs((x[i] - x[0]) / one - double(i)) > slack ||
          (i > 0 && std::fabs((x[i] - x[i - 1]) / one - 1) > 2 * slack))
        return false;
  }
  return true;
}

std::uint8_t LatticeBody::faces_at(const std::array<double, 3>& x) const {
  constexpr double slack = 1e-3;              // of a cell
  std::array<int, 3> plane{};                 // that x is in, or -1
  std::array<std::array<int, 2>, 3> around{}; // cells below and above it, or twice the one
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double>& at = plane_[d];
    const auto above =
        std::clamp<std::ptrdiff_t>(std::upper_bound(at.begin(), at.end(), x[d]) - at.begin(), 1,
                                   std::ptrdiff_t(at.size()) - 1);
    const int cell = int(above) - 1;
    const double part =
        (x[d] - at[std::size_t(cell)]) / (at[std::size_t(above)] - at[std::size_t(cell)]);
    plane[d] = std::fabs(part) <= slack ? cell : std::fabs(part - 1) <= slack ? cell + 1 : -1;
    around[d] =
        plane[d] < 0 ? std::array<int, 2>{cell, cell} : std::array<int, 2>{plane[d] - 1, plane[d]};
  }
  unsigned faces = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    if (plane[d] < 0)
      continue;
    for (unsigned corner = 0; corner < 4; ++corner) {
      Place low{};
      low[(d + 1) % 3] = around[(d + 1) % 3][corner & 1];
      low[(d + 2) % 3] = around[(d + 2) % 3][corner >> 1];
      Place high = low;
      low[d] = around[d][0];
      high[d] = around[d][1];
      const bool below = cell_.has(low), above = cell_.has(high);
      if (below != above)
        faces |= 1u << (2 * d + (below ? 1 : 0));
    }
  }
  return std::uint8_t(faces);
}

bool LatticeBody::is_one_part() const {
  const std::size_t num_rows = cell_.begin.size() - 1;
  std::vector<std::size_t> parent, begin(num_rows + 1);
  std::vector<Run> runs;
  const auto root = [&](std::size_t i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  };
  std::size_t parts = 0;
  for (int z = 0; z < cells()[2]; ++z)
    for (int y = 0; y < cells()[1]; ++y) {
      const std::size_t row = cell_.row(y, z);
      for (const Run& run : runs_of(cell_, row)) {
        const std::size_t own = runs.size();
        runs.push_back(run);
        parent.push_back(own);
        ++parts;
        // Rows before this one whose cells may share nodes with it.
        for (const auto& [dy, dz] : {std::array<int, 2>{-1, 0}, {-1, -1}, {0, -1}, {1, -1}}) {
          if (y + dy < 0 || y + dy >= cells()[1] || z + dz < 0)
            continue;
          const std::size_t other = cell_.row(y + dy, z + dz);
          for (std::size_t i = begin[other]; i < begin[other + 1]; ++i)
            if (runs[i].begin <= run.end && runs[i].end >= run.begin)
              if (const std::size_t a = root(i), b = root(own); a != b) {
                parent[std::max(a, b)] = std::min(a, b);
                --parts;
              }
        }
      }
      begin[row + 1] = runs.size();
    }
  return parts == 1;
}

std::vector<double> LatticeBody::points_in_plane(int z) const {
  std::vector<double> points;
  for (int y = 0; y < node_.shape[1]; ++y)
    for_row(node_, node_.row(y, z), [&](int x) {
      for (const double value : point({x, y, z}))
        points.push_back(value);
    });
  return points;
}

std::vector<std::int32_t> LatticeBody::elements_in_layer(int z) const {
  std::vector<std::int32_t> nodes;
  for (int y = 0; y < cells()[1]; ++y) {
    std::array<std::int32_t, 4> low{}; // of the edges along x, by y, then z
    int before = -2;
    for_row(cell_, cell_.row(y, z), [&](int x) {
      for (int side = 0; side < 4; ++side)
        low[std::size_t(side)] = x == before + 1 ? low[std::size_t(side)] + 1
                                                 : node_.number({x, y + side % 2, z + side / 2});
      before = x;
      for (const auto& offset : corner_of_node)
        nodes.push_back(low[std::size_t(offset[1] + 2 * offset[2])] + offset[0]);
    });
  }
  return nodes;
}

ElementMesh LatticeBody::mesh() const {
  ElementMesh mesh;
  mesh.shape = ElementShape::hexa;
  mesh.point.resize(3 * std::size_t(num_nodes()));
  mesh.node.resize(8 * std::size_t(num_elem()));
  for_parts(std::size_t(node_.shape[2]), 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t z = first; z < end; ++z) {
      const std::vector<double> points = points_in_plane(int(z));
      std::copy(points.begin(), points.end(),
                mesh.point.begin() + 3 * std::ptrdiff_t(node_.begin[node_.row(0, int(z))]));
      if (int(z) == cells()[2])
        continue;
      const std::vector<std::int32_t> nodes = elements_in_layer(int(z));
      std::copy(nodes.begin(), nodes.end(),
                mesh.node.begin() + 8 * std::ptrdiff_t(cell_.begin[cell_.row(0, int(z))]));
    }
  });
  return mesh;
}

ElementMesh LatticeBody::mesh_around(const std::vector<std::int32_t>& nodes,
                                     std::vector<std::int32_t>& number) const {
  std::vector<std::int32_t> cells;
  for (const std::int32_t node : nodes) {
    const Place at = node_.place(node);
    for (const auto& offset : corner_of_node)
      if (const Place cell{at[0] - offset[0], at[1] - offset[1], at[2] - offset[2]};
          cell_.has(cell))
        cells.push_back(cell_.number(cell));
  }
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  ElementMesh mesh;
  mesh.shape = ElementShape::hexa;
  for (const std::int32_t cell : cells)
    for (const auto& offset : corner_of_node)
      mesh.node.push_back(node_.number(corner(cell_.place(cell), offset)));
  number = mesh.node;
  std::sort(number.begin(), number.end());
  number.erase(std::unique(number.begin(), number.end()), number.end());
  for (std::int32_t& node : mesh.node)
    node = std::int32_t(std::lower_bound(number.begin(), number.end(), node) - number.begin());
  for (const std::int32_t node : number)
    for (const double value : point(node_.place(node)))
      mesh.point.push_back(value);
  return mesh;
}

LatticeBody make_lattice_box(const std::array<int, 3>& cells, const std::array<double, 3>& size,
                             const std::array<int, 3>& first, const std::array<int, 3>& last) {
  std::array<std::vector<double>, 3> plane;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    OSSATURA_REQUIRE(cells[axis] > 0 && cells[axis] < 10000,
                     "a box of " << cells[axis] << " cells along an axis");
    OSSATURA_REQUIRE(size[axis] > 0 && std::isfinite(size[axis]),
                     "a box of " << size[axis] << " m along an axis");
    for (int i = 0; i <= cells[axis]; ++i)
      plane[axis].push_back(size[axis] * i / cells[axis]);
  }
  if (first[0] >= last[0])
    return LatticeBody(std::move(plane), {{{0, 0, 0}, cells}});
  std::vector<LatticeBody::CellBox> around; // the hole, at both sides along each axis
  Place low{0, 0, 0}, high = cells;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    OSSATURA_REQUIRE(first[axis] >= 0 && first[axis] < last[axis] && last[axis] <= cells[axis],
                     "a hole from " << first[axis] << " to " << last[axis] << " in " << cells[axis]
                                    << " cells");
    LatticeBody::CellBox below{low, high}, above{low, high};
    below.high[axis] = first[axis];
    above.low[axis] = last[axis];
    around.push_back(below);
    around.push_back(above);
    low[axis] = first[axis];
    high[axis] = last[axis];
  }
  return LatticeBody(std::move(plane), around);
}

LatticeBody make_lattice_body(const VoxelImage& image, double unit) {
  for (const double stretch : image.stretch)
    OSSATURA_REQUIRE(stretch == 1, "voxels of " << stretch << " times another edge are no cubes");
  OSSATURA_REQUIRE(image.value.size() == image.num_voxels(), "an image without all of its planes");
  std::vector<LatticeBody::CellBox> solid;
  Place low = image.shape, high{};
  const float* value = image.value.data();
  for (int z = 0; z < image.shape[2]; ++z)
    for (int y = 0; y < image.shape[1]; ++y)
      for (int x = 0; x < image.shape[0]; ++x)
        if (*value++ > 0) {
          if (!solid.empty() && solid.back().high == Place{x, y + 1, z + 1})
            ++solid.back().high[0];
          else
            solid.push_back({{x, y, z}, {x + 1, y + 1, z + 1}});
          const LatticeBody::CellBox& run = solid.back();
          for (std::size_t axis = 0; axis < 3; ++axis) {
            low[axis] = std::min(low[axis], run.low[axis]);
            high[axis] = std::max(high[axis], run.high[axis]);
          }
        }
  OSSATURA_REQUIRE(!solid.empty(), "no voxel is solid");
  std::array<std::vector<double>, 3> plane;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (int i = low[axis]; i <= high[axis]; ++i)
      plane[axis].push_back(unit * (image.origin[axis] + image.spacing * double(std::size_t(i))));
    for (LatticeBody::CellBox& run : solid) {
      run.low[axis] -= low[axis];
      run.high[axis] -= low[axis];
    }
  }
  return LatticeBody(std::move(plane), solid);
}

} // namespace ossatura
