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

constexpr double infinite = std::numeric_limits<double>::infinity();

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

  /// Before all others.
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

  /// The lowest node in the place x, or -1.
  std::int32_t node_at(const double* x) const {
    const Iterator at = first_of(key_of(cell_of(x, 0)));
    return lowest_at(x, std::numeric_limits<std::int32_t>::max(), at);
  }

  CoincidentNodes find() const {
    CoincidentNodes found;
    std::mutex mutex;
    for_parts(num_bins, 1, [&](std::size_t first, std::size_t end) {
      CoincidentNodes own;
      auto group = sorted_.begin() + std::ptrdiff_t(begin_[first]); // the first of the same cell
      for (auto at = group; at != sorted_.begin() + std::ptrdiff_t(begin_[end]); ++at) {
        if (at->first != group->first)
          group = at;
        const std::int32_t node = at->second;
        const std::int32_t other = lowest_at(&point_[3 * std::size_t(node)], node, group);
        if (other >= 0)
          add({1, {other, node}, {}, 0, {}}, own);
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

  /// Of x, moved along all axes.
  Cell cell_of(const double* x, double by) const {
    Cell cell;
    for (std::size_t d = 0; d < 3; ++d)
      cell[d] = std::int64_t(std::floor((x[d] + by - lower_[d]) / edge_));
    return cell;
  }

  /// Where the nodes of a cell begin, if it has any.
  Iterator first_of(std::uint64_t key) const {
    const std::size_t bin = bin_of(key);
    const Iterator end = sorted_.begin() + std::ptrdiff_t(begin_[bin + 1]);
    const Iterator at = std::lower_bound(sorted_.begin() + std::ptrdiff_t(begin_[bin]), end,
                                         Entry(key, std::numeric_limits<std::int32_t>::min()));
    return at != end && at->first == key ? at : sorted_.end();
  }

  /// The lowest node below `limit` in the place x, or -1; `own` is where its cell begins.
  std::int32_t lowest_at(const double* x, std::int32_t limit, Iterator own) const {
    std::int32_t lowest = look_from(own, x, limit);
    const Cell lower = cell_of(x, -slack_), upper = cell_of(x, slack_);
    if (lower == upper)
      return lowest;
    for (int corner = 0; corner < 8; ++corner) { // some of them are the same
      Cell cell;
      for (std::size_t d = 0; d < 3; ++d)
        cell[d] = (corner >> d & 1) != 0 ? upper[d] : lower[d];
      const std::int32_t other = look_from(first_of(key_of(cell)), x, limit);
      lowest = lowest < 0 ? other : other < 0 ? lowest : std::min(lowest, other);
    }
    return lowest;
  }

  /// Among the nodes of a cell, from its first one on.
  std::int32_t look_from(Iterator at, const double* x, std::int32_t limit) const {
    if (at == sorted_.end())
      return -1;
    for (const std::uint64_t key = at->first;
         at != sorted_.end() && at->first == key && at->second < limit; ++at)
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

/// edges_of(elem, visit) calls visit(a, b) with the ends of each edge of an element.
template<class EdgesOf>
double shortest_edge(const std::vector<double>& point, std::size_t num_elem,
                     const EdgesOf& edges_of) {
  double least = infinite; // square
  std::mutex mutex;
  for_parts(num_elem, 1 << 12, [&](std::size_t first, std::size_t end) {
    double own = infinite;
    for (std::size_t e = first; e < end; ++e)
      edges_of(e, [&](std::int32_t a, std::int32_t b) {
        own = std::min(own, square(&point[3 * std::size_t(a)], &point[3 * std::size_t(b)]));
      });
    const std::lock_guard<std::mutex> lock(mutex);
    least = std::min(least, own);
  });
  return std::sqrt(least);
}

/// Looks at edges that are long enough for two or three of the shortest.
template<class EdgesOf>
void find_hanging(const std::vector<double>& point, std::size_t num_elem, const EdgesOf& edges_of,
                  double shortest, const CellSearch& search, CoincidentNodes& found) {
  std::vector<std::int32_t> hanging;
  std::mutex mutex;
  for_parts(num_elem, 1 << 12, [&](std::size_t first, std::size_t end) {
    std::vector<std::int32_t> own;
    for (std::size_t e = first; e < end; ++e)
      edges_of(e, [&](std::int32_t a, std::int32_t b) {
        const double *const x = &point[3 * std::size_t(a)], *const y = &point[3 * std::size_t(b)];
        const double length = std::sqrt(square(x, y));
        for (const int parts : {2, 3})
          for (int part = 1; part < parts && length > 0.99 * parts * shortest; ++part) {
            double between[3];
            for (std::size_t d = 0; d < 3; ++d)
              between[d] = ((parts - part) * x[d] + part * y[d]) / parts;
            const std::int32_t node = search.node_at(between);
            if (node >= 0)
              own.push_back(node);
          }
      });
    const std::lock_guard<std::mutex> lock(mutex);
    hanging.insert(hanging.end(), own.begin(), own.end());
  });
  std::sort(hanging.begin(), hanging.end());
  hanging.erase(std::unique(hanging.begin(), hanging.end()), hanging.end());
  found.hanging = std::int64_t(hanging.size());
  if (!hanging.empty())
    std::copy_n(&point[3 * std::size_t(hanging[0])], 3, found.hanging_place.begin());
}

/// `is_used`: nodes of elements; those that may hang, where that is asked.
template<class EdgesOf>
CoincidentNodes find(const std::vector<double>& point, std::size_t num_elem,
                     const EdgesOf& edges_of, const std::vector<std::uint8_t>& is_used,
                     bool look_for_hanging = true) {
  const double shortest = shortest_edge(point, num_elem, edges_of);
  if (!(shortest > 0 && shortest < infinite))
    return {};
  const Box box = bounding_box(point);
  const double slack = std::min(rounding_of(box), 1e-2 * shortest);
  // Numbers of cells fit into 64 bits, however fine a mesh is somewhere.
  const double extent = std::hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
  CellSearch search(point, box, slack, std::max(shortest / 2, 1e-15 * extent));
  search.sort(is_used);
  CoincidentNodes found = search.find();
  if (look_for_hanging)
    find_hanging(point, num_elem, edges_of, shortest, search, found);
  return found;
}

} // namespace

CoincidentNodes find_coincident_nodes(const ElementMesh& mesh) {
  std::vector<std::uint8_t> is_used(mesh.num_points());
  for (const std::int32_t node : mesh.node)
    is_used[std::size_t(node)] = 1;
  const auto n = std::size_t(nodes_per_elem(mesh.shape));
  const SolidShape& shape = mesh.shape == ElementShape::hexa ? hexa_shape : tetra_shape;
  const int num_edges = mesh.shape == ElementShape::triangle ? 3 : shape.num_edges;
  return find(
      mesh.point, mesh.num_elem(),
      [&, n](std::size_t e, const auto& visit) {
        const std::int32_t* const node = &mesh.node[n * e];
        for (int k = 0; k < num_edges; ++k)
          visit(node[shape.edge[k][0]], node[shape.edge[k][1]]);
      },
      is_used);
}

CoincidentNodes find_coincident_nodes(const SolidMesh& mesh) {
  std::vector<std::uint8_t> is_used(mesh.num_points());
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (int a = 0; a < shape_of(mesh.kind[e]).num_corners; ++a)
      is_used[std::size_t(mesh.nodes_of(e)[std::size_t(a)])] = 1;
  return find(
      mesh.point, mesh.num_elem(),
      [&](std::size_t e, const auto& visit) {
        const SolidShape& shape = shape_of(mesh.kind[e]);
        const NodeRange node = mesh.nodes_of(e);
        for (int k = 0; k < shape.num_edges; ++k)
          visit(node[std::size_t(shape.edge[k][0])], node[std::size_t(shape.edge[k][1])]);
      },
      is_used);
}

CoincidentNodes find_coincident_nodes(const TetraMesh& mesh, const std::vector<bool>& blocked) {
  const auto conducts = [&blocked](std::size_t e) { return blocked.empty() || !blocked[e]; };
  std::vector<std::uint8_t> is_used(mesh.num_points());
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e)
    for (std::size_t a = 0; conducts(e) && a < 4; ++a)
      is_used[std::size_t(mesh.tetra[4 * e + a])] = 1;
  return find(
      mesh.point, mesh.num_tetra(),
      [&](std::size_t e, const auto& visit) {
        const std::int32_t* const node = &mesh.tetra[4 * e];
        for (int k = 0; conducts(e) && k < tetra_shape.num_edges; ++k)
          visit(node[tetra_shape.edge[k][0]], node[tetra_shape.edge[k][1]]);
      },
      is_used, false);
}

std::string describe_coincident(const CoincidentNodes& found) {
  std::ostringstream text;
  const auto place = [&text](const std::array<double, 3>& x) {
    text << ", the first at (" << x[0] << ", " << x[1] << ", " << x[2] << ") m: ";
  };
  if (found.count > 0) {
    text << found.count << (found.count == 1 ? " node lies" : " nodes lie")
         << " in the place of another one, without being it";
    place(found.place);
    text << "elements there are not joined, and move apart or through each other. Merge such "
            "nodes (Gmsh: Coherence before meshing), unless they are a crack";
  } else if (found.hanging > 0) {
    text << found.hanging << (found.hanging == 1 ? " node lies" : " nodes lie")
         << " on edges of elements that do not have them (hanging nodes)";
    place(found.hanging_place);
    text << "elements there are not joined. Mesh the body so that neighbours share whole faces";
  }
  return text.str();
}

std::string describe_split_tissue(const CoincidentNodes& found) {
  if (found.count == 0)
    return "";
  std::ostringstream text;
  text << found.count << (found.count == 1 ? " vertex lies" : " vertices lie")
       << " in the place of another one, without being it, the first at (" << found.place[0] << ", "
       << found.place[1] << ", " << found.place[2]
       << ") mm: no wave goes from one side to the other there. Merge such vertices (Gmsh: "
          "Coherence before meshing), unless the tissue is cut or insulated there";
  return text.str();
}

} // namespace ossatura
