// SPDX-License-Identifier: Apache-2.0
// Nodes are sorted by the cells of a lattice that is much coarser than the slack and finer than
// elements, so that few are in a cell and hardly any near its sides.
#include <ossatura/core/mesh/mechanics/coincident_nodes.hpp>

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/mesh/box.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

namespace ossatura {

namespace {

using Cell = std::array<std::int64_t, 3>;
using Entry = std::pair<std::uint64_t, std::int32_t>; ///< key of a cell, node

/// Mixed numbers of a cell. Nodes of two cells with one key are told apart by their distance.
std::uint64_t key_of(const Cell& cell) {
  std::uint64_t key = 0;
  for (const std::int64_t i : cell) {
    key = (key ^ std::uint64_t(i)) * 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
  }
  return key;
}

double square(const double* x, const double* y) {
  const double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
  return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

class CellSearch {
public:
  /// `edge` of the cells.
  CellSearch(const std::vector<double>& point, const Box& box, double slack, double edge)
      : point_(point)
      , slack_(slack)
      , edge_(edge) {
    for (std::size_t d = 0; d < 3; ++d)
      lower_[d] = box[d] - 0.382 * edge; // nodes of even meshes are not on sides of cells
  }

  CoincidentNodes find(const std::vector<std::uint8_t>& is_used) {
    sort(is_used);
    CoincidentNodes found;
    std::mutex mutex;
    for_parts(num_bins, 1, [&](std::size_t first, std::size_t end) {
      CoincidentNodes own;
      auto group = sorted_.begin() + std::ptrdiff_t(begin_[first]); // the first of the same cell
      for (auto at = group; at != sorted_.begin() + std::ptrdiff_t(begin_[end]); ++at) {
        if (at->first != group->first)
          group = at;
        const std::int32_t other = lower_neighbour(at->second, group);
        if (other < 0)
          continue;
        add({1, {other, at->second}, {}}, own);
      }
      const std::lock_guard<std::mutex> lock(mutex);
      add(own, found);
    });
    if (found.count > 0)
      std::copy_n(&point_[3 * std::size_t(found.node[1])], 3, found.place.begin());
    return found;
  }

private:
  using Iterator = std::vector<Entry>::const_iterator;
  static constexpr std::size_t num_bins = 1 << 10; ///< by the highest bits of keys

  static std::size_t bin_of(std::uint64_t key) { return std::size_t(key >> 54); }

  static void add(const CoincidentNodes& more, CoincidentNodes& found) {
    if (more.count > 0 && (found.count == 0 || more.node[1] < found.node[1]))
      found.node = more.node;
    found.count += more.count;
  }

  void sort(const std::vector<std::uint8_t>& is_used) {
    std::vector<std::uint64_t> key(is_used.size());
    for_parts(key.size(), 1 << 14, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        key[i] = key_of(cell_of(&point_[3 * i], 0));
    });
    begin_.assign(num_bins + 1, 0);
    for (std::size_t i = 0; i < key.size(); ++i)
      begin_[bin_of(key[i]) + 1] += is_used[i];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    sorted_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t i = 0; i < key.size(); ++i)
      if (is_used[i] != 0)
        sorted_[next[bin_of(key[i])]++] = {key[i], std::int32_t(i)};
    for_parts(num_bins, 1, [this](std::size_t first, std::size_t end) {
      for (std::size_t bin = first; bin < end; ++bin)
        std::sort(sorted_.begin() + std::ptrdiff_t(begin_[bin]),
                  sorted_.begin() + std::ptrdiff_t(begin_[bin + 1]));
    });
  }

  /// Of x, moved along all axes.
  Cell cell_of(const double* x, double by) const {
    Cell cell;
    for (std::size_t d = 0; d < 3; ++d)
      cell[d] = std::int64_t(std::floor((x[d] + by - lower_[d]) / edge_));
    return cell;
  }

  /// The lowest node before this one that lies in its place, or -1; `group` is where its cell
  /// begins.
  std::int32_t lower_neighbour(std::int32_t node, Iterator group) const {
    const double* const x = &point_[3 * std::size_t(node)];
    std::int32_t lowest = look_from(group, node);
    const Cell lower = cell_of(x, -slack_), upper = cell_of(x, slack_);
    if (lower == upper)
      return lowest;
    const std::uint64_t own = group->first;
    for (int corner = 0; corner < 8; ++corner) { // some of them are the same
      Cell cell;
      for (std::size_t d = 0; d < 3; ++d)
        cell[d] = (corner >> d & 1) != 0 ? upper[d] : lower[d];
      const std::uint64_t key = key_of(cell);
      if (key == own)
        continue;
      const std::size_t bin = bin_of(key);
      const Iterator begin = sorted_.begin() + std::ptrdiff_t(begin_[bin]),
                     end = sorted_.begin() + std::ptrdiff_t(begin_[bin + 1]);
      const Entry least(key, std::numeric_limits<std::int32_t>::min());
      const Iterator at = std::lower_bound(begin, end, least);
      const std::int32_t other = at != end && at->first == key ? look_from(at, node) : -1;
      lowest = lowest < 0 ? other : other < 0 ? lowest : std::min(lowest, other);
    }
    return lowest;
  }

  /// Among the nodes of a cell, from its first one on.
  std::int32_t look_from(Iterator at, std::int32_t node) const {
    const std::uint64_t key = at->first;
    const double* const x = &point_[3 * std::size_t(node)];
    for (; at != sorted_.end() && at->first == key && at->second < node; ++at)
      if (square(x, &point_[3 * std::size_t(at->second)]) <= slack_ * slack_)
        return at->second;
    return -1;
  }

  const std::vector<double>& point_;
  double slack_, edge_;
  std::array<double, 3> lower_{};
  std::vector<Entry> sorted_;
  std::vector<std::size_t> begin_; ///< [num_bins + 1] into these
};

template<class NodesOf>
CoincidentNodes find(const std::vector<double>& point, std::size_t num_elem,
                     const NodesOf& nodes_of) {
  std::vector<std::uint8_t> is_used(point.size() / 3);
  for (std::size_t e = 0; e < num_elem; ++e)
    for (const std::int32_t node : nodes_of(e))
      is_used[std::size_t(node)] = 1;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double least = infinite; // square of the shortest edge
  std::mutex mutex;
  for_parts(num_elem, 1 << 12, [&](std::size_t first, std::size_t end) {
    double own = infinite;
    for (std::size_t e = first; e < end; ++e) {
      const NodeRange nodes = nodes_of(e);
      for (std::size_t a = 1; a < nodes.size(); ++a)
        own = std::min(
            own, square(&point[3 * std::size_t(nodes[a - 1])], &point[3 * std::size_t(nodes[a])]));
    }
    const std::lock_guard<std::mutex> lock(mutex);
    least = std::min(least, own);
  });
  if (!(least > 0 && least < infinite))
    return {};
  const double shortest = std::sqrt(least);
  const Box box = bounding_box(point);
  const double slack = std::min(rounding_of(box), 1e-2 * shortest);
  // Numbers of cells fit into 64 bits, however fine a mesh is somewhere.
  const double extent = std::hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
  return CellSearch(point, box, slack, std::max(shortest / 2, 1e-15 * extent)).find(is_used);
}

} // namespace

CoincidentNodes find_coincident_nodes(const ElementMesh& mesh) {
  const std::size_t n = std::size_t(nodes_per_elem(mesh.shape));
  return find(mesh.point, mesh.num_elem(), [&mesh, n](std::size_t e) {
    return NodeRange{mesh.node.data() + n * e, mesh.node.data() + n * (e + 1)};
  });
}

CoincidentNodes find_coincident_nodes(const SolidMesh& mesh) {
  return find(mesh.point, mesh.num_elem(), [&mesh](std::size_t e) { return mesh.nodes_of(e); });
}

std::string describe_coincident(const CoincidentNodes& found) {
  if (found.count == 0)
    return {};
  std::ostringstream text;
  text << found.count << (found.count == 1 ? " node lies" : " nodes lie")
       << " in the place of another one, without being it, the first at (" << found.place[0] << ", "
       << found.place[1] << ", " << found.place[2]
       << ") m: elements there are not joined, and move apart or through each other. Merge such "
          "nodes (Gmsh: Coherence before meshing), unless they are a crack";
  return text.str();
}

} // namespace ossatura
