// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/preconditioners/mode_factor.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/algebra/gather_rows.hpp>
#include <ossatura/kernels/pfem/mode_block_matrix.hpp>
#include <ossatura/solvers/factor/maker.hpp>
#include <ossatura/solvers/factor/nested_dissection.hpp>
#include <ossatura/solvers/pfem/assembly.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace ossatura::detail {

namespace {

constexpr std::uint8_t all_held = 7;

/// Rows and columns of modes that are free in part.
struct ModeGraph {
  std::vector<int> row_begin, column;
};

template<class Exec>
ModeGraph free_graph(const Exec& exec, const HierarchicModel<Exec>& model,
                     const std::vector<std::uint8_t>& held) {
  const BlockMatrix<Exec> matrix = make_mode_block_pattern(exec, model);
  const std::vector<int> begin = download(exec, matrix.row_begin);
  const std::vector<int> column = download(exec, matrix.column);
  ModeGraph graph;
  graph.row_begin.push_back(0);
  for (std::size_t row = 0; row < held.size(); ++row) {
    for (int k = begin[row]; k < begin[row + 1]; ++k) {
      const auto other = std::size_t(column[std::size_t(k)]);
      if (other == row || (held[row] != all_held && held[other] != all_held))
        graph.column.push_back(int(other));
    }
    graph.row_begin.push_back(int(graph.column.size()));
  }
  return graph;
}

/// The same with row k for mode order[k], columns ascending.
ModeGraph in_order(const ModeGraph& graph, const std::vector<int>& order) {
  std::vector<int> position(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    position[std::size_t(order[k])] = int(k);
  ModeGraph ordered;
  ordered.row_begin.push_back(0);
  ordered.column.reserve(graph.column.size());
  for (const int old : order) {
    for (int k = graph.row_begin[std::size_t(old)]; k < graph.row_begin[std::size_t(old) + 1]; ++k)
      ordered.column.push_back(position[std::size_t(graph.column[std::size_t(k)])]);
    std::sort(ordered.column.begin() + ordered.row_begin.back(), ordered.column.end());
    ordered.row_begin.push_back(int(ordered.column.size()));
  }
  return ordered;
}

/// A block of the assembled matrix as the factor takes it: held components keep their diagonal
/// alone.
struct OrderedBlocks {
  ArrayPointer<const int> row_begin, column; ///< in the order of elimination
  ArrayPointer<const int> mode;              ///< [num_modes], new -> old
  ArrayPointer<const std::uint8_t> held;     ///< of old modes
  ArrayPointer<const int> from_begin, from_column;
  ArrayPointer<const double> from;
  ArrayPointer<double> value;

  /// A row.
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int own = mode(i);
    for (int k = row_begin(i); k < row_begin(i + 1); ++k) {
      const int other = mode(column(k));
      const std::int64_t source =
          find_column(from_column.data, from_begin(own), from_begin(own + 1), other);
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < 3; ++d) {
          const bool off = own != other || c != d;
          const bool is_held = (held(own) >> c & 1) || (held(other) >> d & 1);
          value(9 * std::int64_t(k) + 3 * c + d) =
              off && is_held ? 0 : from(9 * source + 3 * c + d);
        }
    }
  }
};

struct AddEntries {
  ArrayPointer<const double> y;
  ArrayPointer<double> x;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { x(i) += y(i); }
};

} // namespace

template<class Exec>
ModeFactor<Exec>::ModeFactor(const Exec& exec, const HierarchicModel<Exec>& model,
                             const std::vector<std::uint8_t>& held)
    : model_(model)
    , held_(held) {
  const TimedScope scope("ossatura::pfem_factor::order");
  const ModeGraph graph = free_graph(exec, model, held);
  order_ = nested_dissection(graph.row_begin, graph.column);
  pattern_ = make_factor_pattern(graph.row_begin, graph.column, order_);
  ModeGraph ordered = in_order(graph, order_);
  row_begin_ = std::move(ordered.row_begin);
  column_ = std::move(ordered.column);
}

template<class Exec>
FactorCost ModeFactor<Exec>::cost() const {
  FactorCost cost;
  double updates =
      0; // of fronts, on devices; a panel that continues its only child has its child's
  std::vector<int> children(std::size_t(pattern_.num_panels()), 0), child = children;
  for (int s = 0; s < pattern_.num_panels(); ++s) {
    const double width = 3.0 * pattern_.width(s), height = 3.0 * pattern_.height(s),
                 below = height - width;
    cost.flops += width * height * below + width * width * width / 3;
    const auto own = std::size_t(s);
    if (children[own] != 1 || pattern_.num_below(child[own]) != pattern_.height(s))
      updates += below * below;
    if (const int parent = pattern_.parent[own]; parent >= 0) {
      ++children[std::size_t(parent)];
      child[std::size_t(parent)] = s;
    }
  }
  // The factor, on devices also as supernodes invert it and once more; the matrix as it is
  // assembled and in the order of elimination.
  constexpr bool is_device = BackendTraits<Exec>::is_device;
  cost.bytes = (is_device ? 24 : 8) * pattern_.begin.back() + 152 * std::int64_t(column_.size()) +
               (is_device ? std::int64_t(8 * updates) : 0);
  return cost;
}

template<class Exec>
bool ModeFactor<Exec>::make(const Exec& exec, StiffnessMethod form) {
  const TimedScope scope("ossatura::pfem_factor::make");
  BlockMatrix<Exec> matrix;
  matrix.num_rows = model_.num_modes;
  matrix.row_begin = upload(exec, "ossatura::pfem_factor::row_begin", row_begin_);
  matrix.column = upload(exec, "ossatura::pfem_factor::column", column_);
  matrix.value = make_uninitialized<double>(exec, 9 * std::int64_t(column_.size()),
                                            "ossatura::pfem_factor::value");
  mode_ = upload(exec, "ossatura::pfem_factor::mode", order_);
  {
    const BlockMatrix<Exec> assembled = assemble_modes(exec, model_, form);
    const auto held = upload(exec, "ossatura::pfem_factor::held", held_);
    Kokkos::parallel_for("ossatura::pfem_factor::order_blocks", range(exec, matrix.num_rows),
                         OrderedBlocks{matrix.row_begin, matrix.column, mode_, held,
                                       assembled.row_begin, assembled.column, assembled.value,
                                       matrix.value});
    fence(exec, "ossatura::ModeFactor::make"); // assembled goes
  }
  FactorMaker<Exec> maker(exec, pattern_, row_begin_, column_, BackendTraits<Exec>::is_device);
  maker.make(exec, matrix);
  solve_ = std::make_unique<SupernodeSolve<Exec>>(exec, pattern_);
  solve_->refresh(exec, maker.made().factor);
  const std::int64_t n = 3 * std::int64_t(model_.num_modes);
  ordered_ = make_zeros<double>(exec, n, "ossatura::pfem_factor::ordered");
  z_ = make_zeros<double>(exec, n, "ossatura::pfem_factor::z");
  return maker.num_replaced(exec) == 0;
}

template<class Exec>
Array<double, Exec> ModeFactor<Exec>::apply(const Exec& exec, const Array<double, Exec>& r) {
  gather_rows(exec, mode_, 3, r, ordered_);
  solve_->apply(exec, ordered_, ordered_);
  scatter_rows(exec, mode_, 3, ordered_, z_);
  return z_;
}

template<class Exec>
std::string ModeFactor<Exec>::describe() const {
  std::ostringstream text;
  text << "factor of " << 3 * std::int64_t(model_.num_modes) << " components, "
       << std::ceil(8e-7 * double(pattern_.begin.back())) / 100 << " GB";
  return text.str();
}

template<class Exec>
void add_correction(const Exec& exec, const Array<double, Exec>& y, const Array<double, Exec>& x) {
  Kokkos::parallel_for("ossatura::add_correction", range(exec, std::int64_t(x.extent(0))),
                       AddEntries{y, x});
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template class ModeFactor<Exec>;                                                                 \
  template void add_correction(const Exec&, const Array<double, Exec>&, const Array<double, Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::detail
