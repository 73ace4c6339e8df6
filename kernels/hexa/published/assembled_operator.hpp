// SPDX-License-Identifier: Apache-2.0
// The assembled operators multiply with the assembled matrix of a mesh of hexahedra, in rows of 3 x
// 3 blocks or of scalars. New moduli assemble the matrix anew, in the order of the elements:
// bitwise the same for any number of threads. A row is summed in one thread on cores and over lanes
// in a fixed order on devices.
#pragma once

#include <ossatura/kernels/algebra/sparse/block_multiply.hpp>
#include <ossatura/kernels/hexa/block_matrix.hpp>
#include <ossatura/kernels/hexa/checked_operator.hpp>
#include <ossatura/kernels/hexa/published/scalar_rows.hpp>

namespace ossatura {

namespace detail {

/// The scalar columns and row beginnings of a row of blocks.
template<class Exec>
struct ExpandHexaRow {
  ArrayPointer<const std::int64_t> block_begin;
  ArrayPointer<const int> block_column;
  ArrayPointer<std::int64_t> row_begin;
  ArrayPointer<int> column;
  int num_rows; ///< of blocks

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t begin = block_begin(i), end = block_begin(i + 1);
    for (int r = 0; r < 3; ++r) {
      row_begin(3 * i + r) = RowsOfScalars::place(begin, end, begin, r, 0);
      for (std::int64_t k = begin; k < end; ++k)
        for (int c = 0; c < 3; ++c)
          column(RowsOfScalars::place(begin, end, k, r, c)) = 3 * block_column(k) + c;
    }
    if (i == num_rows - 1)
      row_begin(3 * i + 3) = 9 * end;
  }
};

} // namespace detail

/// `bsr`
template<class Exec, class Scalar>
class HexaBlockOperator final : public HexaCheckedOperator<Exec, Scalar> {
public:
  /// Fences.
  HexaBlockOperator(const Exec& exec, const HexaArrays<Exec>& arrays, const UnitLame& lame)
      : HexaCheckedOperator<Exec, Scalar>(arrays)
      , lame_(lame)
      , pattern_(make_hexa_graph(exec, arrays))
      , value_(make_uninitialized<Scalar>(exec, 9 * pattern_.num_entries(), "ossatura::hexa_bsr")) {
  }

  bool is_deterministic() const override { return true; }

  OperatorCost cost() const override {
    return cost_of_rows<Scalar, std::int64_t, 3>(pattern_.num_entries(), pattern_.num_rows);
  }

  const Graph<Exec>& pattern() const { return pattern_; }
  const Array<Scalar, Exec>& value() const { return value_; } ///< as assemble_hexa_blocks fills it

protected:
  void take_modulus(const Exec& exec, const Array<double, Exec>& modulus) override {
    assemble_hexa_blocks<Scalar>(exec, this->arrays_, lame_, modulus, pattern_, value_);
  }
  void multiply(const Exec& exec, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& y) const override {
    detail::multiply_block_rows<BackendTraits<Exec>::is_device>(
        exec, detail::BlockMultiply<Exec, Scalar, std::int64_t>{
                  pattern_.num_rows, pattern_.row_begin.data(), pattern_.column.data(),
                  value_.data(), x.data(), y.data()});
  }

private:
  UnitLame lame_;
  Graph<Exec> pattern_;
  Array<Scalar, Exec> value_;
};

/// `csr`
template<class Exec, class Scalar>
class HexaCsrOperator final : public HexaCheckedOperator<Exec, Scalar> {
public:
  /// Fences.
  HexaCsrOperator(const Exec& exec, const HexaArrays<Exec>& arrays, const UnitLame& lame)
      : HexaCheckedOperator<Exec, Scalar>(arrays)
      , lame_(lame)
      , pattern_(make_hexa_graph(exec, arrays)) {
    const std::int64_t entries = 9 * pattern_.num_entries();
    row_begin_ = make_uninitialized<std::int64_t>(exec, 3 * std::int64_t(pattern_.num_rows) + 1,
                                                  "ossatura::hexa_csr::row_begin");
    column_ = make_uninitialized<int>(exec, entries, "ossatura::hexa_csr::column");
    value_ = make_uninitialized<Scalar>(exec, entries, "ossatura::hexa_csr");
    Kokkos::parallel_for("ossatura::make_hexa_csr", range(exec, pattern_.num_rows),
                         detail::ExpandHexaRow<Exec>{pattern_.row_begin, pattern_.column,
                                                     row_begin_, column_, pattern_.num_rows});
  }

  bool is_deterministic() const override { return true; }

  /// The pattern of blocks is kept, too, but a product does not read it.
  OperatorCost cost() const override {
    const std::int64_t num_blocks = pattern_.num_entries(), num_rows = pattern_.num_rows;
    OperatorCost cost = cost_of_rows<Scalar, std::int64_t, 1>(9 * num_blocks, 3 * num_rows);
    cost.bytes_kept += 4 * num_blocks + 8 * (num_rows + 1);
    return cost;
  }

  const Array<std::int64_t, Exec>& row_begin() const { return row_begin_; } ///< [3 num_nodes + 1]
  const Array<int, Exec>& column() const { return column_; }
  const Array<Scalar, Exec>& value() const { return value_; }

protected:
  void take_modulus(const Exec& exec, const Array<double, Exec>& modulus) override {
    detail::assemble_hexa_rows<detail::RowsOfScalars>(
        exec, this->arrays_, HexaStiffnessFromMesh<Exec>{this->arrays_, lame_}, modulus, pattern_,
        value_);
  }
  void multiply(const Exec& exec, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& y) const override {
    detail::multiply_scalar_rows<BackendTraits<Exec>::is_device>(
        exec, detail::ScalarRowMultiply<Exec, Scalar>{3 * std::int64_t(pattern_.num_rows),
                                                      row_begin_.data(), column_.data(),
                                                      value_.data(), x.data(), y.data()});
  }

private:
  UnitLame lame_;
  Graph<Exec> pattern_;
  Array<std::int64_t, Exec> row_begin_;
  Array<int, Exec> column_;
  Array<Scalar, Exec> value_;
};

} // namespace ossatura
