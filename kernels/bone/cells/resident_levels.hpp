// SPDX-License-Identifier: Apache-2.0
// Resident levels are small levels of cells, cut into parts that stay on chip while one launch runs
// through many steps of a cycle (resident_cycle.hpp). A part owns consecutive nodes of each level.
// It lists the cells around them and the nodes of these cells, its own and those of other parts,
// under numbers of its own, so that a product needs nothing from memory but the vector.
#pragma once

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/bone/cells/grid.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace ossatura {

/// Where the tables of a level begin in the memory of a part, in bytes; the same for every part.
struct ResidentTables {
  int num_owned = 0;         ///< nodes of a part, but for the last parts
  int max_cells = 0;         ///< of a part
  int max_local = 0;         ///< nodes of a part's cells, its own included
  int counts = 0;            ///< [2] int: cells, and nodes of them
  int node = 0;              ///< [max_local] int: node of the level, own ones first
  int held = 0;              ///< [max_local] uint8: Constraints::mask
  int corner = 0;            ///< [8 max_cells] uint16: place in `node`
  int moduli = 0;            ///< [2 max_cells] float: CellGrid::lambda_value, mu_value
  int entry_begin = 0;       ///< [num_owned + 1] uint16
  int entry = 0;             ///< uint16: 8 cell + corner, those of a node in the order of the cells
  int restriction_begin = 0; ///< [num_owned + 1] uint16
  int restriction = 0;       ///< int: 4 fine node + k, of weight 2^-k
  int prolongation_begin = 0; ///< [max_local + 1] uint16
  int prolongation = 0;       ///< int: coarse nodes, of equal weights
};

namespace detail {

/// A level in the memory of the host. Levels below the first have the map from the one above.
struct HostCells {
  int num_nodes = 0;
  std::vector<int> corner;
  std::vector<float> lambda, mu;
  std::vector<std::uint8_t> held;
  std::vector<int> parent;            ///< CellTransfer::parent
  std::vector<std::uint8_t> position; ///< CellTransfer::position
};

/// Rows of a sparse table.
struct HostRows {
  std::vector<int> begin, entry;

  /// Rows of `count` from `visit(add)`, which calls add(row, entry), twice the same.
  template<class Visit>
  HostRows(int count, const Visit& visit)
      : begin(std::size_t(count) + 1, 0) {
    visit([&](int row, int) { ++begin[std::size_t(row) + 1]; });
    for (int row = 0; row < count; ++row)
      begin[std::size_t(row) + 1] += begin[std::size_t(row)];
    entry.resize(std::size_t(begin.back()));
    std::vector<int> next(begin.begin(), begin.end() - 1);
    visit([&](int row, int e) { entry[std::size_t(next[std::size_t(row)]++)] = e; });
  }

  /// visit(entry) for those of a row.
  template<class Visit>
  void visit_row(int row, const Visit& visit) const {
    for (int i = begin[std::size_t(row)]; i < begin[std::size_t(row) + 1]; ++i)
      visit(entry[std::size_t(i)]);
  }
};

/// Calls visit(corner, halvings) for the corners that a position of CellTransfer interpolates from,
/// with weights of 2^-halvings.
template<class Visit>
void visit_weighted_corners(int position, const Visit& visit) {
  const int along[3] = {position % 3, position / 3 % 3, position / 9};
  const int halvings = (along[0] & 1) + (along[1] & 1) + (along[2] & 1);
  for (int v = 0; v < 8; ++v) {
    bool weighted = true;
    for (int d = 0; d < 3; ++d)
      weighted = weighted && along[d] != (v >> d & 1 ? 0 : 2);
    if (weighted)
      visit(v, halvings);
  }
}

/// What a part has of a level.
struct HostPart {
  std::vector<int> node, cell, restriction, prolongation;
  std::vector<std::uint16_t> corner, entry_begin, entry, restriction_begin, prolongation_begin;
};

/// What a level is cut with, for all parts: the entries 8 cell + corner of each node, and the fine
/// nodes that it sums over in restriction.
struct LevelRows {
  HostRows corners, restrictions;

  explicit LevelRows(const HostCells& level)
      : corners(level.num_nodes,
                [&](const auto& add) {
                  for (std::size_t k = 0; k < level.corner.size(); ++k)
                    add(level.corner[k], int(k));
                })
      , restrictions(level.num_nodes, [&](const auto& add) {
        for (std::size_t f = 0; f < level.parent.size(); ++f)
          visit_weighted_corners(level.position[f], [&](int v, int halvings) {
            const std::size_t k = 8 * std::size_t(level.parent[f]) + std::size_t(v);
            add(level.corner[k], 4 * int(f) + halvings);
          });
      }) {}
};

/// Cuts parts from a level, one after the other.
class PartCutter {
public:
  PartCutter(const HostCells& level, const LevelRows& rows, const HostCells* coarse, int num_owned)
      : level_(level)
      , rows_(rows)
      , coarse_(coarse)
      , num_owned_(num_owned)
      , place_(std::size_t(level.num_nodes), -1)
      , cell_place_(level.corner.size() / 8, -1) {}

  /// Throws std::length_error where the part has more than 16-bit numbers hold.
  HostPart cut(int rank) {
    const int first = std::min(rank * num_owned_, level_.num_nodes),
              end = std::min(first + num_owned_, level_.num_nodes);
    HostPart part;
    for (int node = first; node < end; ++node)
      place_of(node, part);
    for (int node = first; node < end; ++node) {
      part.entry_begin.push_back(narrow(part.entry.size()));
      rows_.corners.visit_row(node, [&](int corner) { add_entry(corner, part); });
      part.restriction_begin.push_back(narrow(part.restriction.size()));
      rows_.restrictions.visit_row(node, [&](int entry) { part.restriction.push_back(entry); });
    }
    part.entry_begin.push_back(narrow(part.entry.size()));
    part.restriction_begin.push_back(narrow(part.restriction.size()));
    if (coarse_)
      list_prolongations(part);
    for (int node : part.node)
      place_[std::size_t(node)] = -1;
    for (int cell : part.cell)
      cell_place_[std::size_t(cell)] = -1;
    return part;
  }

private:
  static std::uint16_t narrow(std::size_t n) {
    if (n > std::numeric_limits<std::uint16_t>::max())
      throw std::length_error("a part of a level has more than 16-bit numbers hold");
    return std::uint16_t(n);
  }
  std::uint16_t place_of(int node, HostPart& part) {
    int& place = place_[std::size_t(node)];
    if (place < 0) {
      place = narrow(part.node.size());
      part.node.push_back(node);
    }
    return std::uint16_t(place);
  }
  void add_entry(int corner, HostPart& part) {
    int& cell = cell_place_[std::size_t(corner / 8)];
    if (cell < 0) {
      cell = int(part.cell.size());
      part.cell.push_back(corner / 8);
      for (int v = 0; v < 8; ++v)
        part.corner.push_back(place_of(level_.corner[std::size_t(corner / 8 * 8 + v)], part));
    }
    part.entry.push_back(narrow(std::size_t(8 * cell + corner % 8)));
  }
  void list_prolongations(HostPart& part) const {
    for (int node : part.node) {
      part.prolongation_begin.push_back(narrow(part.prolongation.size()));
      const std::size_t cell = std::size_t(coarse_->parent[std::size_t(node)]);
      visit_weighted_corners(coarse_->position[std::size_t(node)], [&](int v, int) {
        part.prolongation.push_back(coarse_->corner[8 * cell + std::size_t(v)]);
      });
    }
    part.prolongation_begin.push_back(narrow(part.prolongation.size()));
  }

  const HostCells& level_;
  const LevelRows& rows_;
  const HostCells* coarse_;
  int num_owned_;
  std::vector<int> place_, cell_place_; ///< in the present part, or -1
};

/// Sizes the tables of a level for the largest of its parts, from byte `begin` on; returns the end.
inline int size_tables(const std::vector<HostPart>& parts, int num_owned, int begin,
                       ResidentTables& tables) {
  std::size_t cells = 0, local = 0, entries = 0, restrictions = 0, prolongations = 0;
  for (const HostPart& part : parts) {
    cells = std::max(cells, part.cell.size());
    local = std::max(local, part.node.size());
    entries = std::max(entries, part.entry.size());
    restrictions = std::max(restrictions, part.restriction.size());
    prolongations = std::max(prolongations, part.prolongation.size());
  }
  const auto place = [&](std::size_t count, std::size_t size) {
    const int at = begin;
    begin += int((count * size + 15) / 16 * 16);
    return at;
  };
  const std::size_t owned = std::size_t(num_owned) + 1;
  tables.num_owned = num_owned;
  tables.max_cells = int(cells);
  tables.max_local = int(local);
  tables.counts = place(2, sizeof(int));
  tables.node = place(local, sizeof(int));
  tables.held = place(local, 1);
  tables.corner = place(8 * cells, 2);
  tables.moduli = place(2 * cells, sizeof(float));
  tables.entry_begin = place(owned, 2);
  tables.entry = place(entries, 2);
  tables.restriction_begin = place(owned, 2);
  tables.restriction = place(restrictions, sizeof(int));
  tables.prolongation_begin = place(local + 1, 2);
  tables.prolongation = place(prolongations, sizeof(int));
  return begin;
}

template<class T>
void write_table(char* memory, int at, const std::vector<T>& values) {
  if (!values.empty())
    std::memcpy(memory + at, values.data(), values.size() * sizeof(T));
}

/// Writes the tables of a part of a level.
inline void write_part(const HostCells& level, const HostPart& part, const ResidentTables& tables,
                       char* memory) {
  std::vector<float> moduli;
  for (int cell : part.cell) {
    moduli.push_back(level.lambda[std::size_t(cell)]);
    moduli.push_back(level.mu[std::size_t(cell)]);
  }
  std::vector<std::uint8_t> held;
  for (int node : part.node)
    held.push_back(level.held[std::size_t(node)]);
  write_table(memory, tables.counts,
              std::vector<int>{int(part.cell.size()), int(part.node.size())});
  write_table(memory, tables.node, part.node);
  write_table(memory, tables.held, held);
  write_table(memory, tables.corner, part.corner);
  write_table(memory, tables.moduli, moduli);
  write_table(memory, tables.entry_begin, part.entry_begin);
  write_table(memory, tables.entry, part.entry);
  write_table(memory, tables.restriction_begin, part.restriction_begin);
  write_table(memory, tables.restriction, part.restriction);
  write_table(memory, tables.prolongation_begin, part.prolongation_begin);
  write_table(memory, tables.prolongation, part.prolongation);
}

} // namespace detail

/// Tables of levels, in the memory of the host.
struct ResidentLevels {
  std::vector<ResidentTables> tables;  ///< the finest level first
  std::vector<std::vector<int>> cells; ///< of each: [num_parts][max_cells]; -1 behind a part's last
  int bytes = 0;                       ///< of a part, a multiple of 16
  Kokkos::View<std::uint64_t*, Kokkos::LayoutRight, Kokkos::HostSpace> memory; ///< part after part
};

/// Cuts levels, the finest first, into `num_parts` parts, by all threads (for_parts). Throws
/// std::length_error where a part is too large for its numbers.
inline ResidentLevels cut_resident_levels(const std::vector<detail::HostCells>& levels,
                                          int num_parts) {
  ResidentLevels resident;
  std::vector<std::vector<detail::HostPart>> parts(levels.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const detail::LevelRows rows(levels[l]);
    const int num_owned = (levels[l].num_nodes + num_parts - 1) / num_parts;
    parts[l].resize(std::size_t(num_parts));
    for_parts(parts[l].size(), 4, [&](std::size_t first, std::size_t end) {
      detail::PartCutter cutter(levels[l], rows, l + 1 < levels.size() ? &levels[l + 1] : nullptr,
                                num_owned);
      for (std::size_t rank = first; rank < end; ++rank)
        parts[l][rank] = cutter.cut(int(rank));
    });
    resident.tables.emplace_back();
    resident.bytes =
        detail::size_tables(parts[l], num_owned, resident.bytes, resident.tables.back());
    const std::size_t most = std::size_t(resident.tables.back().max_cells);
    resident.cells.emplace_back(most * parts[l].size(), -1);
    for (std::size_t rank = 0; rank < parts[l].size(); ++rank)
      std::copy(parts[l][rank].cell.begin(), parts[l][rank].cell.end(),
                resident.cells.back().begin() + std::ptrdiff_t(rank * most));
  }
  const std::size_t bytes = std::size_t(resident.bytes);
  resident.memory = decltype(resident.memory)(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "ossatura::resident_levels"),
      bytes / 8 * std::size_t(num_parts));
  char* const memory = reinterpret_cast<char*>(resident.memory.data());
  for_parts(std::size_t(num_parts), 4, [&](std::size_t first, std::size_t end) {
    std::memset(memory + first * bytes, 0, (end - first) * bytes);
    for (std::size_t rank = first; rank < end; ++rank)
      for (std::size_t l = 0; l < levels.size(); ++l)
        detail::write_part(levels[l], parts[l][rank], resident.tables[l], memory + rank * bytes);
  });
  return resident;
}

/// The cells of a level in the memory of the host; `transfer` is the map from the level above, or
/// null where that is not resident. Fences.
template<class Exec>
detail::HostCells download_cells(const Exec& exec, const CellGrid<Exec>& cells,
                                 const Array<std::uint8_t, Exec>& held,
                                 const CellTransfer<Exec>* transfer) {
  detail::HostCells host;
  host.num_nodes = cells.num_nodes;
  host.corner = download(exec, cells.corner);
  host.lambda = download(exec, cells.lambda_value);
  host.mu = download(exec, cells.mu_value);
  host.held = download(exec, held);
  if (!transfer)
    return host;
  host.position = download(exec, transfer->position);
  if (transfer->parent.extent(0) > 0) {
    host.parent = download(exec, transfer->parent);
    return host;
  }
  const std::vector<int> begin = download(exec, transfer->fine_begin),
                         node = download(exec, transfer->fine_node);
  host.parent.resize(node.size());
  for (std::size_t cell = 0; cell + 1 < begin.size(); ++cell)
    for (int i = begin[cell]; i < begin[cell + 1]; ++i)
      host.parent[std::size_t(node[std::size_t(i)])] = int(cell);
  return host;
}

} // namespace ossatura
