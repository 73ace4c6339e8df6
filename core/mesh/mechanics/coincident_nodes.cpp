// SPDX-License-Identifier: Apache-2.0
// Nodes are sorted by the cells of a lattice that is much coarser than the slack and finer than
// elements, so that few are in a cell and hardly any near its sides. Bits by the keys of cells say
// at once that most cells have none.
#include <ossatura/core/mesh/mechanics/coincident_nodes.hpp>

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/mesh/box.hpp>

#include <algorithm>
#include <array>
#include <atomic>
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

struct Entry {
  std::uint64_t key; ///< of a cell
  std::int32_t node;
  bool is_near; ///< another cell is within the slack
};
bool operator<(const Entry& a, const Entry& b) {
  return a.key < b.key || (a.key == b.key && a.node < b.node);
}

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

double diagonal_of(const Box& box) {
  return std::hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
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
      , per_edge_(1 / edge)
      , side_(slack / edge) {
    for (std::size_t d = 0; d < 3; ++d)
      lower_[d] = box[d] - 0.382 * edge; // nodes of even meshes are not on sides of cells
  }

  /// Before all others. Takes all nodes where `is_used` is empty.
  void sort(const std::vector<std::uint8_t>& is_used) {
    const std::size_t num_nodes = point_.size() / 3;
    std::vector<std::uint64_t> key(num_nodes);
    std::vector<std::uint8_t> is_near(num_nodes);
    constexpr std::array<int, 3> none{0, 0, 0};
    for_parts(num_nodes, 1 << 14, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) {
        const auto [cell, sides] = cell_of(&point_[3 * i]);
        key[i] = key_of(cell);
        is_near[i] = sides != none ? 1 : 0;
      }
    });
    const auto is_taken = [&](std::size_t i) { return is_used.empty() || is_used[i] != 0; };
    begin_.assign(num_bins + 1, 0);
    for (std::size_t i = 0; i < num_nodes; ++i)
      begin_[bin_of(key[i]) + 1] += is_taken(i) ? 1 : 0;
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    sorted_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t i = 0; i < num_nodes; ++i)
      if (is_taken(i))
        sorted_[next[bin_of(key[i])]++] = {key[i], std::int32_t(i), is_near[i] != 0};
    while ((std::size_t(1) << mark_bits_) < 16 * sorted_.size() && mark_bits_ < 32)
      ++mark_bits_;
    marks_.assign(std::size_t(1) << (mark_bits_ - 6), 0);
    for_parts(num_bins, 1, [this](std::size_t first, std::size_t end) {
      for (std::size_t bin = first; bin < end; ++bin)
        sort_bin(bin);
    });
  }

  /// The most nodes of a cell.
  std::size_t largest_group() const {
    std::size_t largest = 0, count = 0;
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      count = i > 0 && sorted_[i].key == sorted_[i - 1].key ? count + 1 : 1;
      largest = std::max(largest, count);
    }
    return largest;
  }

  /// Fetches what tells whether there is a node in the place x.
  void prefetch(const double* x) const {
    __builtin_prefetch(&marks_[word_of(key_of(cell_of(x).first))]);
  }

  /// The lowest node in the place x, or -1.
  std::int32_t node_at(const double* x) const {
    const auto [cell, sides] = cell_of(x);
    return lowest_at(x, std::numeric_limits<std::int32_t>::max(), first_of(key_of(cell)), cell,
                     sides);
  }

  CoincidentNodes find() const {
    CoincidentNodes found;
    std::mutex mutex;
    for_parts(num_bins, 1, [&](std::size_t first, std::size_t end) {
      CoincidentNodes own;
      const Iterator last = sorted_.begin() + std::ptrdiff_t(begin_[end]);
      Iterator group = sorted_.begin() + std::ptrdiff_t(begin_[first]); // the first of a cell
      for (Iterator at = group; at != last; ++at) {
        if (at->key != group->key)
          group = at;
        if (at == group && !at->is_near) // its place is far away in memory
          continue;
        const double* const x = &point_[3 * std::size_t(at->node)];
        const auto [cell, sides] = cell_of(x);
        const std::int32_t node = at->node, other = lowest_at(x, node, group, cell, sides);
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
  static constexpr int log_bins = 10;
  static constexpr std::size_t num_bins = std::size_t(1) << log_bins; ///< by the highest bits

  static std::size_t bin_of(std::uint64_t key) { return std::size_t(key >> (64 - log_bins)); }

  std::size_t word_of(std::uint64_t key) const { return std::size_t(key >> (70 - mark_bits_)); }
  std::uint64_t bit_of(std::uint64_t key) const {
    return std::uint64_t(1) << (key >> (64 - mark_bits_) & 63);
  }

  /// Marks are by the highest bits, too: words of a bin are its own.
  void sort_bin(std::size_t bin) {
    const auto first = sorted_.begin() + std::ptrdiff_t(begin_[bin]);
    const auto end = sorted_.begin() + std::ptrdiff_t(begin_[bin + 1]);
    std::sort(first, end);
    for (auto at = first; at != end; ++at) {
      marks_[word_of(at->key)] |= bit_of(at->key);
    }
  }

  static void add(const CoincidentNodes& more, CoincidentNodes& found) {
    if (more.count > 0 && (found.count == 0 || more.node[1] < found.node[1]))
      found.node = more.node;
    found.count += more.count;
  }

  /// That of x, and by axis -1, 1 or 0: whether the cell below or above is within the slack.
  std::pair<Cell, std::array<int, 3>> cell_of(const double* x) const {
    std::pair<Cell, std::array<int, 3>> found;
    for (std::size_t d = 0; d < 3; ++d) {
      const double at = (x[d] - lower_[d]) * per_edge_, below = std::floor(at);
      found.first[d] = std::int64_t(below);
      found.second[d] = at - below <= side_ ? -1 : at - below >= 1 - side_ ? 1 : 0;
    }
    return found;
  }

  /// Where the nodes of a cell begin, if it has any.
  Iterator first_of(std::uint64_t key) const {
    if ((marks_[word_of(key)] & bit_of(key)) == 0) // most are without
      return sorted_.end();
    const std::size_t bin = bin_of(key);
    const Iterator end = sorted_.begin() + std::ptrdiff_t(begin_[bin + 1]);
    const Iterator at =
        std::lower_bound(sorted_.begin() + std::ptrdiff_t(begin_[bin]), end, Entry{key, 0, false});
    return at != end && at->key == key ? at : sorted_.end();
  }

  /// The lowest node below `limit` in the place x, or -1; `own` is where its cell begins.
  std::int32_t lowest_at(const double* x, std::int32_t limit, Iterator own, const Cell& cell,
                         const std::array<int, 3>& sides) const {
    std::int32_t lowest = look_from(own, x, limit);
    for (unsigned corner = 1; corner < 8; ++corner) {
      Cell beside = cell;
      bool is_near = true;
      for (std::size_t d = 0; d < 3; ++d)
        if ((corner >> d & 1) != 0) {
          beside[d] += sides[d];
          is_near = is_near && sides[d] != 0;
        }
      if (!is_near)
        continue;
      const std::int32_t other = look_from(first_of(key_of(beside)), x, limit);
      lowest = lowest < 0 ? other : other < 0 ? lowest : std::min(lowest, other);
    }
    return lowest;
  }

  /// Among the nodes of a cell, from its first one on.
  std::int32_t look_from(Iterator at, const double* x, std::int32_t limit) const {
    if (at == sorted_.end())
      return -1;
    for (const std::uint64_t key = at->key;
         at != sorted_.end() && at->key == key && at->node < limit; ++at)
      if (square(x, &point_[3 * std::size_t(at->node)]) <= slack_ * slack_)
        return at->node;
    return -1;
  }

  const std::vector<double>& point_;
  double slack_, per_edge_;
  double side_; ///< the slack in edges of cells
  std::array<double, 3> lower_{};
  std::vector<Entry> sorted_;
  std::vector<std::size_t> begin_;   ///< [num_bins + 1] into these
  int mark_bits_ = log_bins + 6;     ///< a word for each bin, or more
  std::vector<std::uint64_t> marks_; ///< a bit for each key that there may be
};

/// The shortest edge of each node, as a square; infinite where it has none. edges_of(elem, visit)
/// calls visit(a, b) with the ends of each edge of an element.
template<class EdgesOf>
std::vector<std::atomic<double>> shortest_edges(const std::vector<double>& point,
                                                std::size_t num_elem, const EdgesOf& edges_of) {
  std::vector<std::atomic<double>> shortest(point.size() / 3);
  for_parts(shortest.size(), 1 << 14, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      shortest[i].store(infinite, std::memory_order_relaxed);
  });
  for_parts(num_elem, 1 << 12, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end; ++e)
      edges_of(e, [&](std::int32_t a, std::int32_t b) {
        const double length = square(&point[3 * std::size_t(a)], &point[3 * std::size_t(b)]);
        for (const std::int32_t node : {a, b}) {
          std::atomic<double>& least = shortest[std::size_t(node)];
          double before = least.load(std::memory_order_relaxed);
          while (length < before &&
                 !least.compare_exchange_weak(before, length, std::memory_order_relaxed)) {
          }
        }
      });
  });
  return shortest;
}

double shortest_of(const std::vector<std::atomic<double>>& shortest) {
  double least = infinite;
  for (const std::atomic<double>& of_node : shortest)
    least = std::min(least, of_node.load(std::memory_order_relaxed));
  return std::sqrt(least);
}

/// Looks at edges of which an end has one that is half or a third as long, as it has where a finer
/// neighbour has nodes on the first.
template<class EdgesOf>
void find_hanging(const std::vector<double>& point, std::size_t num_elem, const EdgesOf& edges_of,
                  const std::vector<std::atomic<double>>& shortest, const CellSearch& search,
                  CoincidentNodes& found) {
  constexpr double nearly = 0.98; // 0.99 of a length
  std::vector<std::int32_t> hanging;
  std::mutex mutex;
  for_parts(num_elem, 1 << 12, [&](std::size_t first, std::size_t end) {
    std::vector<std::int32_t> own;
    std::array<std::array<double, 3>, 64> places; // looked up together, as memory is far away
    std::size_t num_places = 0;
    const auto look_up = [&] {
      for (std::size_t i = 0; i < num_places; ++i)
        if (const std::int32_t node = search.node_at(places[i].data()); node >= 0)
          own.push_back(node);
      num_places = 0;
    };
    for (std::size_t e = first; e < end; ++e)
      edges_of(e, [&](std::int32_t a, std::int32_t b) {
        const double *const x = &point[3 * std::size_t(a)], *const y = &point[3 * std::size_t(b)];
        const double least = std::min(shortest[std::size_t(a)].load(std::memory_order_relaxed),
                                      shortest[std::size_t(b)].load(std::memory_order_relaxed));
        const double length = square(x, y);
        for (int parts = 2; parts <= 3 && length > nearly * parts * parts * least; ++parts)
          for (int part = 1; part < parts; ++part) {
            std::array<double, 3>& between = places[num_places++];
            for (std::size_t d = 0; d < 3; ++d)
              between[d] = ((parts - part) * x[d] + part * y[d]) / parts;
            search.prefetch(between.data());
            if (num_places == places.size())
              look_up();
          }
      });
    look_up();
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
                     bool may_hang = true) {
  const std::vector<std::atomic<double>> of_nodes = shortest_edges(point, num_elem, edges_of);
  const double shortest = shortest_of(of_nodes);
  if (!(shortest > 0 && shortest < infinite))
    return {};
  const Box box = bounding_box(point);
  const double slack = std::min(rounding_of(box), 1e-2 * shortest);
  // Numbers of cells fit into 64 bits, however fine a mesh is somewhere.
  CellSearch search(point, box, slack, std::max(shortest / 2, 1e-15 * diagonal_of(box)));
  search.sort(is_used);
  CoincidentNodes found = search.find();
  if (may_hang)
    find_hanging(point, num_elem, edges_of, of_nodes, search, found);
  return found;
}

std::string place_text(const std::array<double, 3>& x) {
  std::ostringstream text;
  text << '(' << x[0] << ", " << x[1] << ", " << x[2] << ')';
  return text.str();
}

/// Whether any two points may be one place, of which elements then say more: these take most of the
/// time. Cells are of the size that points have on average.
bool may_coincide(const std::vector<double>& point) {
  constexpr std::size_t most = 1000; // each of a cell is compared with all others
  const Box box = bounding_box(point);
  const double slack = rounding_of(box), diagonal = diagonal_of(box);
  if (!(diagonal > 0 && diagonal < infinite))
    return true;
  const std::size_t num_points = point.size() / 3;
  const double edge = std::max(0.25 * diagonal / std::cbrt(double(num_points)), 64 * slack);
  CellSearch search(point, box, slack, edge);
  search.sort({});
  return search.largest_group() > most || search.find().count > 0;
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
  if (!may_coincide(mesh.point))
    return {};
  std::vector<std::uint8_t> is_used(mesh.num_points());
  for (std::size_t k = 0; k < mesh.tetra.size(); ++k)
    if (blocked.empty() || !blocked[k / 4])
      is_used[std::size_t(mesh.tetra[k])] = 1;
  return find(
      mesh.point, mesh.num_tetra(),
      [&](std::size_t e, const auto& visit) {
        for (int k = 0; k < tetra_shape.num_edges; ++k)
          visit(mesh.tetra[4 * e + std::size_t(tetra_shape.edge[k][0])],
                mesh.tetra[4 * e + std::size_t(tetra_shape.edge[k][1])]);
      },
      is_used, false);
}

std::string describe_coincident(const CoincidentNodes& found) {
  std::ostringstream text;
  if (found.count > 0) {
    text << found.count << (found.count == 1 ? " node lies" : " nodes lie")
         << " in the place of another one, without being it, the first at "
         << place_text(found.place) << " m: ";
    text << "elements there are not joined, and move apart or through each other. Merge such "
            "nodes (Gmsh: Coherence before meshing), unless they are a crack";
  } else if (found.hanging > 0) {
    text << found.hanging << (found.hanging == 1 ? " node lies" : " nodes lie")
         << " on edges of elements that do not have them (hanging nodes), the first at "
         << place_text(found.hanging_place) << " m: ";
    text << "elements there are not joined. Mesh the body so that neighbours share whole faces";
  }
  return text.str();
}

std::string describe_split_tissue(const CoincidentNodes& found) {
  std::ostringstream text;
  if (found.count > 0)
    text << found.count << (found.count == 1 ? " vertex lies" : " vertices lie")
         << " in the place of another one, without being it, the first at "
         << place_text(found.place)
         << " mm: tetrahedra there are not joined, and no wave crosses. Merge such vertices (Gmsh: "
            "Coherence before meshing), unless they are a line of block";
  return text.str();
}

} // namespace ossatura
