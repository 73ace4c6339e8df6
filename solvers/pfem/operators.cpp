// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/operators.hpp>

#include <ossatura/kernels/algebra/sparse/block_multiply.hpp>
#include <ossatura/kernels/pfem/diagonal.hpp>
#include <ossatura/kernels/pfem/matrix_free/multiply.hpp>
#include <ossatura/kernels/pfem/matrix_free/shared_multiply.hpp>
#include <ossatura/kernels/pfem/matrix_free/sized_multiply.hpp>
#include <ossatura/kernels/pfem/mode_block_matrix.hpp>
#include <ossatura/kernels/pfem/stiffness/congruent.hpp>
#include <ossatura/solvers/pfem/assembly.hpp>
#include <ossatura/solvers/pfem/stiffness.hpp>

#include <algorithm>
#include <limits>

namespace ossatura {
namespace {

std::int64_t matrix_bytes(MatrixStorage storage, std::int64_t dofs) {
  return 8 * matrix_entries(storage, dofs);
}

template<class Exec>
void require_vectors(const Array<double, Exec>& x, const Array<double, Exec>& y, int num_modes) {
  const std::size_t n = 3 * std::size_t(num_modes);
  OSSATURA_REQUIRE(x.extent(0) == n && y.extent(0) == n,
                   "vectors of " << x.extent(0) << " and " << y.extent(0) << " numbers, not " << n);
  OSSATURA_REQUIRE(x.data() != y.data() || n == 0, "x and y are the same");
}

/// Of results and lists of modes, and of x and y in a product.
OperatorCost cost_of_slots(std::int64_t slots, std::int64_t modes) {
  return {28 * slots + 4 * modes, 56.0 * double(slots) + 48.0 * double(modes), 3.0 * double(slots)};
}

/// Adds what a matrix-free product does at the points of a batch.
template<class Exec>
void add_points(const HexaBatch<Exec>& batch, int num_pairs, OperatorCost& cost) {
  cost.bytes_moved += 8 * double(batch.jacobian.extent(0) + batch.elasticity.extent(0) +
                                 (batch.is_trilinear() ? batch.corner.extent(0) : 0));
  cost.flops += double(batch.num_elem) *
                flops_of_matrix_free(batch.order, batch.points, batch.num_modes, num_pairs);
}

/// Products element by element into a buffer, which the modes then sum.
template<class Exec>
class ElementWiseOperator : public HierarchicOperator<Exec> {
public:
  ElementWiseOperator(const Exec& exec, const HierarchicModel<Exec>& model)
      : model_(model)
      , gather_(make_mode_gather(exec, model))
      , result_(make_uninitialized<double>(exec, 3 * gather_.num_slots(),
                                           "ossatura::hierarchic_operator::result")) {}

  void apply(const Exec& exec, const Array<double, Exec>& x,
             const Array<double, Exec>& y) const override {
    require_vectors<Exec>(x, y, model_.num_modes);
    for (std::size_t b = 0; b < model_.batch.size(); ++b)
      multiply_batch(exec, b, x, result_, 3 * gather_.first_slot[b]);
    sum_slots(exec, gather_, result_, y);
  }
  void diagonal(const Exec& exec, const Array<double, Exec>& block) const override {
    const auto own = make_uninitialized<double>(exec, 9 * gather_.num_slots(),
                                                "ossatura::hierarchic_operator::blocks");
    for (std::size_t b = 0; b < model_.batch.size(); ++b)
      diagonal_of_batch(exec, b, own, 9 * gather_.first_slot[b]);
    sum_slot_blocks(exec, gather_, own, block);
  }
  bool is_deterministic() const override { return true; }

protected:
  /// Of batch b into y from `first` on.
  virtual void multiply_batch(const Exec& exec, std::size_t b, const Array<double, Exec>& x,
                              const Array<double, Exec>& y, std::int64_t first) const = 0;
  virtual void diagonal_of_batch(const Exec& exec, std::size_t b, const Array<double, Exec>& block,
                                 std::int64_t first) const = 0;

  HierarchicModel<Exec> model_;
  ModeGather<Exec> gather_;

private:
  Array<double, Exec> result_; ///< [slots, 3]
};

template<class Exec>
class PackedOperator final : public ElementWiseOperator<Exec> {
public:
  PackedOperator(const Exec& exec, const HierarchicModel<Exec>& model, StiffnessMethod form)
      : ElementWiseOperator<Exec>(exec, model) {
    for (const HexaBatch<Exec>& batch : model.batch) {
      matrix_.push_back(make_uninitialized<double>(
          exec, batch.num_elem * matrix_entries(MatrixStorage::packed, batch.num_dofs()),
          "ossatura::packed_operator::matrix"));
      form_stiffness(exec, form, batch, MatrixStorage::packed, 0, batch.num_elem, matrix_.back());
    }
  }

  OperatorCost cost() const override {
    OperatorCost cost = cost_of_slots(this->gather_.num_slots(), this->model_.num_modes);
    for (const Array<double, Exec>& matrix : matrix_) {
      cost.bytes_kept += 8 * std::int64_t(matrix.extent(0));
      cost.bytes_moved += 8 * double(matrix.extent(0));
      cost.flops += 4 * double(matrix.extent(0));
    }
    return cost;
  }

protected:
  void multiply_batch(const Exec& exec, std::size_t b, const Array<double, Exec>& x,
                      const Array<double, Exec>& y, std::int64_t first) const override {
    multiply_packed_elements(exec, this->model_.batch[b], matrix_[b], x, y, first);
  }
  void diagonal_of_batch(const Exec& exec, std::size_t b, const Array<double, Exec>& block,
                         std::int64_t first) const override {
    diagonal_of_matrices(exec, this->model_.batch[b], MatrixStorage::packed, matrix_[b], {}, block,
                         first);
  }

private:
  std::vector<Array<double, Exec>> matrix_; ///< of each batch
};

template<class Exec>
class MatrixFreeOperator final : public ElementWiseOperator<Exec> {
public:
  MatrixFreeOperator(const Exec& exec, const HierarchicModel<Exec>& model)
      : ElementWiseOperator<Exec>(exec, model) {
    for (const HexaBatch<Exec>& batch : model.batch) {
      ranges_.push_back(make_mode_ranges(exec, batch));
      plan_.push_back(plan_matrix_free(batch, ranges_.back().num_pairs));
    }
  }

  OperatorCost cost() const override {
    OperatorCost cost = cost_of_slots(this->gather_.num_slots(), this->model_.num_modes);
    for (std::size_t b = 0; b < ranges_.size(); ++b) {
      const HexaBatch<Exec>& batch = this->model_.batch[b];
      cost.bytes_kept += 4 * std::int64_t(ranges_[b].range.extent(0));
      add_points(batch, ranges_[b].num_pairs, cost);
    }
    return cost;
  }

protected:
  void multiply_batch(const Exec& exec, std::size_t b, const Array<double, Exec>& x,
                      const Array<double, Exec>& y, std::int64_t first) const override {
    multiply_matrix_free(exec, this->model_.batch[b], ranges_[b], plan_[b], x, y, first);
  }
  void diagonal_of_batch(const Exec& exec, std::size_t b, const Array<double, Exec>& block,
                         std::int64_t first) const override {
    diagonal_from_points(exec, this->model_.batch[b], block, first);
  }

private:
  std::vector<ModeRanges<Exec>> ranges_;
  std::vector<MatrixFreePlan> plan_;
};

/// The same where all sizes are known when compiled.
template<class Exec>
class SizedOperator final : public HierarchicOperator<Exec> {
public:
  SizedOperator(const Exec& exec, const HierarchicModel<Exec>& model)
      : model_(model) {
    bool by_targets = false;
    for (const HexaBatch<Exec>& batch : model.batch) {
      tables_.push_back(make_sized_tables(exec, batch));
      num_pairs_.push_back(make_mode_ranges(exec, batch).num_pairs);
      by_targets = by_targets || needs_targets(batch.order);
    }
    gather_ = make_mode_gather(exec, model);
    result_ = make_uninitialized<double>(exec, 3 * gather_.num_slots(),
                                         "ossatura::hierarchic_operator::result");
    if (by_targets) {
      targets_ = make_slot_targets(exec, gather_);
      gather_.slot = {}; // of no use to products then
    }
  }

  void apply(const Exec& exec, const Array<double, Exec>& x,
             const Array<double, Exec>& y) const override {
    require_vectors<Exec>(x, y, model_.num_modes);
    for (std::size_t b = 0; b < model_.batch.size(); ++b)
      multiply_sized(exec, model_.batch[b], tables_[b], targets_.target, gather_.first_slot[b], x,
                     result_);
    if (targets_.target.data())
      sum_targets(exec, targets_, result_, y);
    else
      sum_slots(exec, gather_, result_, y);
  }
  void diagonal(const Exec& exec, const Array<double, Exec>& block) const override {
    const ModeGather<Exec> gather = make_mode_gather(exec, model_);
    const auto own = make_uninitialized<double>(exec, 9 * gather.num_slots(),
                                                "ossatura::hierarchic_operator::blocks");
    for (std::size_t b = 0; b < model_.batch.size(); ++b)
      diagonal_from_points(exec, model_.batch[b], own, 9 * gather.first_slot[b]);
    sum_slot_blocks(exec, gather, own, block);
  }
  OperatorCost cost() const override {
    OperatorCost cost = cost_of_slots(gather_.num_slots(), model_.num_modes);
    for (std::size_t b = 0; b < tables_.size(); ++b)
      add_points(model_.batch[b], num_pairs_[b], cost);
    return cost;
  }
  bool is_deterministic() const override { return true; }

private:
  HierarchicModel<Exec> model_;
  ModeGather<Exec> gather_;    ///< without slots where there are targets
  SlotTargets<Exec> targets_;  ///< empty where results are written by slots
  Array<double, Exec> result_; ///< [slots, 3]
  std::vector<SizedTables<Exec>> tables_;
  std::vector<int> num_pairs_;
};

/// Sized where all batches have a sized product.
template<class Exec>
std::unique_ptr<HierarchicOperator<Exec>>
make_matrix_free_operator(const Exec& exec, const HierarchicModel<Exec>& model) {
  if constexpr (BackendTraits<Exec>::is_device)
    if (std::all_of(model.batch.begin(), model.batch.end(), has_sized_product<Exec>))
      return std::make_unique<SizedOperator<Exec>>(exec, model);
  return std::make_unique<MatrixFreeOperator<Exec>>(exec, model);
}

/// Throws std::invalid_argument.
template<class Exec>
void require_shareable(const HexaBatch<Exec>& batch) {
  OSSATURA_REQUIRE(batch.is_trilinear() && batch.point_stride == 0,
                   "elements that are curved or have a material that varies share no matrix");
}

template<class Exec>
class SharedOperator final : public ElementWiseOperator<Exec> {
public:
  SharedOperator(const Exec& exec, const HierarchicModel<Exec>& model, StiffnessMethod form)
      : ElementWiseOperator<Exec>(exec, model) {
    for (const HexaBatch<Exec>& batch : model.batch) {
      require_shareable(batch);
      const HexaClasses<Exec> classes = find_hexa_classes(exec, batch, 0, batch.num_elem);
      const HexaBatch<Exec> few = gather_classes(exec, batch, 0, classes);
      matrix_.push_back(make_uninitialized<double>(
          exec, few.num_elem * matrix_entries(MatrixStorage::full, few.num_dofs()),
          "ossatura::shared_operator::matrix"));
      form_stiffness(exec, form, few, MatrixStorage::full, 0, few.num_elem, matrix_.back());
      of_elem_.push_back(classes.of_elem);
      tiles_.push_back(make_shared_tiles(exec, classes));
    }
  }

  OperatorCost cost() const override {
    OperatorCost cost = cost_of_slots(this->gather_.num_slots(), this->model_.num_modes);
    for (std::size_t b = 0; b < matrix_.size(); ++b) {
      const HexaBatch<Exec>& batch = this->model_.batch[b];
      cost.bytes_kept += 8 * std::int64_t(matrix_[b].extent(0)) + 8 * batch.num_elem;
      cost.bytes_moved += 8 * double(matrix_[b].extent(0));
      cost.flops += 2 * double(batch.num_elem) * batch.num_dofs() * batch.num_dofs();
    }
    return cost;
  }

protected:
  void multiply_batch(const Exec& exec, std::size_t b, const Array<double, Exec>& x,
                      const Array<double, Exec>& y, std::int64_t first) const override {
    multiply_shared_elements(exec, this->model_.batch[b], tiles_[b], matrix_[b], x, y, first);
  }
  void diagonal_of_batch(const Exec& exec, std::size_t b, const Array<double, Exec>& block,
                         std::int64_t first) const override {
    diagonal_of_matrices(exec, this->model_.batch[b], MatrixStorage::full, matrix_[b], of_elem_[b],
                         block, first);
  }

private:
  std::vector<Array<double, Exec>> matrix_; ///< of each batch, [classes, full]
  std::vector<Array<int, Exec>> of_elem_;   ///< [num_elem] class
  std::vector<SharedTiles<Exec>> tiles_;
};

template<class Exec>
class BlockMatrixOperator final : public HierarchicOperator<Exec> {
public:
  BlockMatrixOperator(const Exec& exec, const HierarchicModel<Exec>& model, StiffnessMethod form)
      : matrix_(detail::assemble_modes(exec, model, form)) {}

  void apply(const Exec& exec, const Array<double, Exec>& x,
             const Array<double, Exec>& y) const override {
    require_vectors<Exec>(x, y, matrix_.num_rows);
    multiply(exec, matrix_, x, y);
  }
  void diagonal(const Exec& exec, const Array<double, Exec>& block) const override {
    diagonal_blocks(exec, matrix_, block);
  }
  OperatorCost cost() const override {
    return cost_of_rows<double, int, 3>(matrix_.num_entries(), matrix_.num_rows);
  }
  bool is_deterministic() const override { return true; }

private:
  BlockMatrix<Exec> matrix_;
};

/// Up to this order stored matrices take less time than matrix-free products: by measurement, with
/// matrices that do not fit a cache. On devices the assembled one then takes half the time of
/// packed ones.
template<class Exec>
constexpr int highest_stored_order = BackendTraits<Exec>::is_device ? 1 : 2;

/// Elements for each class from which on one matrix for all pays.
constexpr std::int64_t elements_per_class = 64;

/// Of the assembled matrix at most: as if no two modes shared two elements. Without a bound where
/// 31 bits may not count the blocks.
template<class Exec>
std::int64_t most_bsr_bytes(const HierarchicModel<Exec>& model) {
  std::int64_t blocks = model.num_modes;
  for (const HexaBatch<Exec>& batch : model.batch)
    blocks += batch.num_elem * batch.num_modes * (batch.num_modes - 1);
  return blocks > std::numeric_limits<int>::max()
             ? std::numeric_limits<std::int64_t>::max()
             : cost_of_rows<double, int, 3>(blocks, model.num_modes).bytes_kept;
}

std::string megabytes(std::int64_t bytes) {
  return std::to_string((bytes + 999999) / 1000000) + " MB";
}

/// Classes of all batches, or 0 if they are too many for `shared` or take more than `memory`.
template<class Exec>
std::int64_t count_classes(const Exec& exec, const HierarchicModel<Exec>& model,
                           std::int64_t memory) {
  std::int64_t num_classes = 0, most = 0, bytes = 0;
  for (const HexaBatch<Exec>& batch : model.batch) {
    if (!batch.is_trilinear() || batch.point_stride != 0)
      return 0;
    most += batch.num_elem;
  }
  most /= elements_per_class;
  for (const HexaBatch<Exec>& batch : model.batch) {
    const std::int64_t own = count_hexa_classes(exec, batch, most - num_classes);
    num_classes += own;
    bytes += own * matrix_bytes(MatrixStorage::full, batch.num_dofs());
    if (num_classes > most || bytes > memory)
      return 0;
  }
  return num_classes;
}

} // namespace

template<class Exec>
OperatorChoice<HierarchicOperatorKind>
choose_hierarchic_operator(const Exec& exec, const HierarchicModel<Exec>& model,
                           std::int64_t memory) {
  std::int64_t num_elem = 0, packed = 0, low = 0;
  for (const HexaBatch<Exec>& batch : model.batch) {
    const std::int64_t own = batch.num_elem * matrix_bytes(MatrixStorage::packed, batch.num_dofs());
    num_elem += batch.num_elem;
    packed += own;
    if (batch.order <= highest_stored_order<Exec> && !has_sized_product(batch))
      low += own;
  }
  if (const std::int64_t classes = count_classes(exec, model, memory); classes > 0)
    return {HierarchicOperatorKind::shared,
            std::to_string(classes) + (classes == 1 ? " matrix for " : " matrices for ") +
                std::to_string(num_elem) + " elements",
            classes};
  if (packed > memory)
    return {HierarchicOperatorKind::matrix_free,
            "packed matrices take " + megabytes(packed) + ", and there are " + megabytes(memory)};
  if (const std::int64_t assembled = most_bsr_bytes(model);
      2 * low > packed && BackendTraits<Exec>::is_device && assembled <= memory)
    return {HierarchicOperatorKind::bsr, "low order: the assembled matrix, of up to " +
                                             megabytes(assembled) +
                                             ", is read faster than recomputed"};
  if (2 * low > packed)
    return {HierarchicOperatorKind::packed,
            "low order: matrices of " + megabytes(packed) + " are read faster than recomputed"};
  return {HierarchicOperatorKind::matrix_free,
          "packed matrices take " + megabytes(packed) + " and more time to read than to recompute"};
}

template<class Exec>
std::int64_t count_shared_matrices(const Exec& exec, const HierarchicModel<Exec>& model) {
  std::int64_t count = 0;
  for (const HexaBatch<Exec>& batch : model.batch) {
    require_shareable(batch);
    count += count_hexa_classes(exec, batch, batch.num_elem);
  }
  return count;
}

std::int64_t memory_for_matrices(std::int64_t left) {
  return left > 0 ? left / 2 : std::numeric_limits<std::int64_t>::max();
}

template<class Exec>
std::unique_ptr<HierarchicOperator<Exec>>
make_hierarchic_operator(const Exec& exec, HierarchicOperatorKind kind,
                         const HierarchicModel<Exec>& model, StiffnessMethod form) {
  std::unique_ptr<HierarchicOperator<Exec>> made;
  switch (kind) {
  case HierarchicOperatorKind::packed:
    made = std::make_unique<PackedOperator<Exec>>(exec, model, form);
    break;
  case HierarchicOperatorKind::bsr:
    made = std::make_unique<BlockMatrixOperator<Exec>>(exec, model, form);
    break;
  case HierarchicOperatorKind::matrix_free:
    made = make_matrix_free_operator(exec, model);
    break;
  case HierarchicOperatorKind::shared:
    made = std::make_unique<SharedOperator<Exec>>(exec, model, form);
    break;
  case HierarchicOperatorKind::automatic:
    break;
  }
  OSSATURA_REQUIRE(made != nullptr, "choose_hierarchic_operator chooses a kind");
  fence(exec, "ossatura::make_hierarchic_operator");
  return made;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template OperatorChoice<HierarchicOperatorKind> choose_hierarchic_operator<Exec>(                \
      const Exec&, const HierarchicModel<Exec>&, std::int64_t);                                    \
  template std::int64_t count_shared_matrices<Exec>(const Exec&, const HierarchicModel<Exec>&);    \
  template std::unique_ptr<HierarchicOperator<Exec>> make_hierarchic_operator<Exec>(               \
      const Exec&, HierarchicOperatorKind, const HierarchicModel<Exec>&, StiffnessMethod);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
