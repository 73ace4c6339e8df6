// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/sparse/aggregates.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/select_indices.hpp>
#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/sparse/inverse_map.hpp>

#include <algorithm>
#include <utility>

namespace ossatura {

namespace {

constexpr std::size_t rows_of_part = 1 << 14; ///< for a thread, where each row is on its own

/// What is looked at of a row, side by side in memory.
struct RowState {
  int cell = 0;             ///< of a grid
  int contact = 0;          ///< touched neighbours, of rows that are not touched
  std::uint8_t touched = 0; ///< whether the row or a neighbour has an aggregate
  std::uint8_t is_active = 0;

  bool may_be_root() const { return !touched && is_active; }
};

/// The states of rows, all in one cell.
std::vector<RowState> look_around(const GraphView& graph, const std::vector<std::uint8_t>& active,
                                  const Aggregates& aggregates) {
  const std::vector<int>& of = aggregates.of;
  std::vector<RowState> rows(of.size());
  for_parts(of.size(), rows_of_part, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      rows[i].is_active = active[i] != 0;
      if (aggregates.count > 0)
        for_each_column(graph, int(i), [&](int j) {
          if (of[std::size_t(j)] >= 0)
            rows[i].touched = 1;
        });
    }
  });
  if (aggregates.count > 0)
    for_parts(of.size(), rows_of_part, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        if (!rows[i].touched)
          for_each_column(graph, int(i),
                          [&](int j) { rows[i].contact += rows[std::size_t(j)].touched; });
    });
  return rows;
}

/// Cells of a grid, and the rows in each.
struct Cells {
  std::vector<int> of;
  HostGraph<> rows;

  int count() const { return rows.num_rows(); }
};

/// A grid over the box of the points [num_rows, 3], moved by `shift` of a cell.
Cells make_cells(const double* point, std::size_t num_rows, int rows_of_cell, double shift) {
  const Box box = bounding_box(point, num_rows);
  int cells[3] = {1, 1, 1};
  while (double(cells[0]) * cells[1] * cells[2] * rows_of_cell < double(num_rows)) {
    const auto edge = [&](std::size_t c) { return (box[c + 3] - box[c]) / cells[c]; };
    const std::size_t longest = edge(0) >= edge(1) && edge(0) >= edge(2) ? 0
                                : edge(1) >= edge(2)                     ? 1
                                                                         : 2;
    if (!(edge(longest) > 0))
      break; // all in one place
    ++cells[longest];
  }
  double scale[3];
  for (std::size_t c = 0; c < 3; ++c)
    scale[c] = box[c + 3] > box[c] ? cells[c] / (box[c + 3] - box[c]) : 0;
  Cells grid;
  grid.of.resize(num_rows);
  for_parts(num_rows, rows_of_part, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      int cell = 0;
      for (std::size_t c = 3; c-- > 0;) {
        const int along = int((point[3 * i + c] - box[c]) * scale[c] + shift);
        cell = cell * (cells[c] + 1) + std::clamp(along, 0, cells[c]);
      }
      grid.of[i] = cell;
    }
  });
  grid.rows = invert_map(grid.of, (cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1));
  return grid;
}

/// Chooses rows whose neighbourhoods become aggregates. Of those that are not touched, the ones
/// with most touched neighbours come first: the corners between aggregates. It changes nothing
/// outside a cell, and takes neighbourhoods that lie inside whole.
class RootChoice {
public:
  RootChoice(const GraphView& graph, std::vector<RowState>& rows, int cell)
      : graph_(graph)
      , rows_(rows)
      , cell_(cell) {}

  /// The roots in their order, from the rows row_at(0) .. row_at(count - 1).
  template<class RowAt>
  std::vector<int> choose(std::size_t count, const RowAt& row_at) {
    for (std::size_t k = 0; k < count; ++k)
      if (const int i = row_at(k); row(i).may_be_root() && row(i).contact > 0)
        wait(i);
    serve();
    for (std::size_t k = 0; k < count; ++k)
      if (const int i = row_at(k); row(i).may_be_root() && lies_inside(i)) {
        take(i);
        serve();
      }
    return std::move(roots_);
  }

private:
  RowState& row(int i) const { return rows_[std::size_t(i)]; }
  bool lies_inside(int i) const {
    bool inside = true;
    for_each_column(graph_, i, [&](int j) { inside = inside && row(j).cell == cell_; });
    return inside;
  }

  /// Takes the roots that wait, and those that come to wait.
  void serve() {
    while (most_ > 0) {
      std::vector<int>& list = waiting_[most_];
      if (served_[most_] == list.size()) {
        list.clear();
        served_[most_--] = 0;
        continue;
      }
      const int next = list[served_[most_]++];
      if (!row(next).touched && std::size_t(row(next).contact) == most_ && lies_inside(next))
        take(next);
    }
  }

  /// Makes a row and its neighbours an aggregate. Rows wait by the contact that they have at last.
  void take(int root) {
    roots_.push_back(root);
    touched_.clear();
    for_each_column(graph_, root, [&](int j) {
      if (row(j).is_active)
        for_each_column(graph_, j, [&](int i) { touch(i); });
    });
    changed_.clear();
    for (const int j : touched_)
      for_each_column(graph_, j, [&](int i) {
        RowState& near = row(i);
        if (near.cell == cell_ && near.may_be_root()) // other threads change other cells
          changed_.emplace_back(i, ++near.contact);
      });
    for (const auto& [i, contact] : changed_)
      if (row(i).contact == contact)
        wait(i);
  }
  void touch(int i) {
    RowState& own = row(i);
    if (own.cell != cell_ || own.touched)
      return;
    own.touched = 1;
    touched_.push_back(i);
  }
  void wait(int i) {
    const std::size_t contact = std::size_t(row(i).contact);
    if (contact >= waiting_.size()) {
      waiting_.resize(contact + 1);
      served_.resize(contact + 1, 0);
    }
    waiting_[contact].push_back(i);
    most_ = std::max(most_, contact);
  }

  GraphView graph_;
  std::vector<RowState>& rows_;
  int cell_;
  std::vector<int> roots_;
  std::vector<int> touched_;                 ///< by the last root
  std::vector<std::pair<int, int>> changed_; ///< rows and their contacts, in turn
  std::vector<std::vector<int>> waiting_{1}; ///< rows by their contact; some have more by now
  std::vector<std::size_t> served_{0};       ///< of each list
  std::size_t most_ = 0;                     ///< longer contacts have no rows
};

/// Makes aggregates of the neighbourhoods of roots.
void add_aggregates(const GraphView& graph, const std::vector<std::uint8_t>& active,
                    const std::vector<int>& roots, Aggregates& aggregates) {
  for_parts(roots.size(), 1 << 10, [&](std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k)
      for_each_column(graph, roots[k], [&](int j) {
        if (active[std::size_t(j)])
          aggregates.of[std::size_t(j)] = aggregates.count + int(k);
      });
  });
  aggregates.count += int(roots.size());
}

/// Fills the insides of all cells, side by side.
void fill_cells(const GraphView& graph, const std::vector<std::uint8_t>& active, const Cells& cells,
                Aggregates& aggregates) {
  std::vector<RowState> rows = look_around(graph, active, aggregates);
  for_parts(rows.size(), rows_of_part, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      rows[i].cell = cells.of[i];
  });
  std::vector<std::vector<int>> roots(std::size_t(cells.count()));
  for_parts(roots.size(), 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t cell = first; cell < end; ++cell) {
      const auto begin = std::size_t(cells.rows.row_begin[cell]);
      roots[cell] = RootChoice(graph, rows, int(cell))
                        .choose(std::size_t(cells.rows.row_begin[cell + 1]) - begin,
                                [&](std::size_t k) { return cells.rows.column[begin + k]; });
    }
  });
  for (const std::vector<int>& of_cell : roots)
    add_aggregates(graph, active, of_cell, aggregates);
}

/// Rows next to aggregates join the one that has most of their neighbours.
void join_rows_between(const GraphView& graph, const std::vector<std::uint8_t>& active,
                       std::vector<int>& of) {
  std::vector<int> joined(of.size(), -1);
  for_parts(of.size(), rows_of_part, [&](std::size_t begin, std::size_t end) {
    std::vector<int> near;
    for (std::size_t i = begin; i < end; ++i) {
      if (of[i] >= 0 || !active[i])
        continue;
      near.clear();
      for_each_column(graph, int(i), [&](int j) {
        if (of[std::size_t(j)] >= 0)
          near.push_back(of[std::size_t(j)]);
      });
      std::sort(near.begin(), near.end());
      std::size_t largest = 0;
      for (std::size_t k = 0, first = 0; k < near.size(); ++k) {
        first = near[k] == near[first] ? first : k;
        if (k - first + 1 > largest) {
          largest = k - first + 1;
          joined[i] = near[k];
        }
      }
    }
  });
  for_parts(of.size(), rows_of_part, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (of[i] < 0)
        of[i] = joined[i];
  });
}

/// Rows without an aggregate around them make their own, with their neighbours.
void gather_rows_left(const GraphView& graph, const std::vector<std::uint8_t>& active,
                      Aggregates& aggregates) {
  std::vector<int>& of = aggregates.of;
  for (const int i :
       select_indices(of.size(), [&](std::size_t k) { return of[k] < 0 && active[k]; })) {
    if (of[std::size_t(i)] >= 0)
      continue; // by now
    const int name = aggregates.count++;
    of[std::size_t(i)] = name;
    for_each_column(graph, i, [&](int j) {
      if (of[std::size_t(j)] < 0 && active[std::size_t(j)])
        of[std::size_t(j)] = name;
    });
  }
}

} // namespace

Aggregates make_aggregates(const GraphView& graph, const std::vector<std::uint8_t>& active,
                           const double* point, int rows_of_cell) {
  const std::size_t num_rows = active.size();
  OSSATURA_REQUIRE(std::int64_t(num_rows) == graph.num_rows,
                   num_rows << " marks for " << graph.num_rows << " rows");
  OSSATURA_REQUIRE(rows_of_cell > 0, "cells of " << rows_of_cell << " rows");
  Aggregates aggregates;
  aggregates.of.assign(num_rows, -1);
  if (num_rows > std::size_t(rows_of_cell) && point)
    for (const double shift : {0.0, 0.5})
      fill_cells(graph, active, make_cells(point, num_rows, rows_of_cell, shift), aggregates);
  std::vector<RowState> rows = look_around(graph, active, aggregates);
  const std::vector<int> left =
      select_indices(num_rows, [&](std::size_t i) { return rows[i].may_be_root(); });
  add_aggregates(
      graph, active,
      RootChoice(graph, rows, 0).choose(left.size(), [&](std::size_t k) { return left[k]; }),
      aggregates);
  join_rows_between(graph, active, aggregates.of);
  gather_rows_left(graph, active, aggregates);
  return aggregates;
}

} // namespace ossatura
