// SPDX-License-Identifier: Apache-2.0
// The element-wise system runs the block-diagonal scheme of conjugate gradients [1]: vectors stay
// element by element (kernels/pfem/published/element_vectors.hpp), products are those of the blocks
// K_e, eq. (3) without the sum over C_e^T, and elements exchange once in a product, by the sum over
// the copies of a mode. The iteration is that of the assembled matrix to rounding. Not for users.
//
// [1] A. Novikov, I. Kuzmin, N. Nedozhogin, S. Kopysov. Formation of finite element systems on
//     GPGPU (in Russian). Parallel Computational Technologies (PaVT) 2014.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/matrix_free/packed_multiply.hpp>
#include <ossatura/kernels/pfem/published/element_vectors.hpp>
#include <ossatura/kernels/pfem/stiffness/method.hpp>
#include <ossatura/solvers/pfem/stiffness.hpp>

#include <utility>
#include <vector>

namespace ossatura::detail {

template<class Exec>
class ElementWiseSystem final : public Operator<Exec, double> {
public:
  /// `held` [num_modes]. Fences.
  ElementWiseSystem(const Exec& exec, const HierarchicModel<Exec>& model,
                    const Array<std::uint8_t, Exec>& held, StiffnessMethod form)
      : gather_(make_mode_gather(exec, model))
      , held_(held)
      , root_(make_slot_roots(exec, gather_)) {
    OSSATURA_REQUIRE(gather_.num_slots() < std::int64_t(1) << 30,
                     gather_.num_slots() << " modes of elements: more than 30 bits count");
    copies_ = make_vector(exec);
    product_ = make_vector(exec);
    inverse_diagonal_ = make_vector(exec);
    std::int64_t first = 0;
    for (const HexaBatch<Exec>& batch : model.batch) {
      Batch own{batch, first, {}};
      const std::int64_t slots = batch.num_elem * batch.num_modes;
      std::vector<int> itself(std::size_t(slots), 0);
      for (std::size_t k = 0; k < itself.size(); ++k)
        itself[k] = 2 * int(first + std::int64_t(k));
      own.batch.signed_mode = upload(exec, "ossatura::element_wise::slot", itself);
      const std::int64_t entries = matrix_entries(MatrixStorage::packed, batch.num_dofs());
      own.matrix = make_uninitialized<double>(exec, batch.num_elem * entries,
                                              "ossatura::element_wise::matrix");
      form_stiffness(exec, form, batch, MatrixStorage::packed, 0, batch.num_elem, own.matrix);
      packed_diagonal(exec, batch.num_dofs(), own.matrix,
                      Array<double, Exec>(Kokkos::subview(
                          inverse_diagonal_, std::make_pair(3 * first, 3 * (first + slots)))));
      batches_.push_back(std::move(own));
      first += slots;
    }
    invert_slot_diagonal(exec, gather_, held_, inverse_diagonal_);
    fence(exec, "ossatura::ElementWiseSystem");
  }

  Array<double, Exec> make_vector(const Exec& exec) const {
    return make_zeros<double>(exec, 3 * gather_.num_slots(), "ossatura::element_wise::vector");
  }
  const Array<double, Exec>& inverse_diagonal() const { return inverse_diagonal_; }

  /// The vector x of u [num_modes, 3], and u of x at free components. Do not fence.
  void start(const Exec& exec, const Array<double, Exec>& u, const Array<double, Exec>& x) const {
    spread_modes(exec, gather_, u, x);
  }
  void finish(const Exec& exec, const Array<double, Exec>& x, const Array<double, Exec>& u) const {
    collect_modes(exec, gather_, held_, x, u);
  }

  /// q = A p, zero where held. Does not fence.
  void apply(const Exec& exec, const Array<double, Exec>& p,
             const Array<double, Exec>& q) const override {
    multiply(exec, p);
    gather_scatter(exec, gather_, held_, product_, q);
  }
  /// r = scale (f - A x), zero where held; f [num_modes, 3]. Does not fence.
  void residual(const Exec& exec, const Array<double, Exec>& f, const Array<double, Exec>& x,
                double scale, const Array<double, Exec>& r) const {
    multiply(exec, x);
    gather_scatter_residual(exec, gather_, held_, f, scale, product_, r);
  }
  /// y = K u, [num_modes, 3], all components. Does not fence.
  void apply_to_modes(const Exec& exec, const Array<double, Exec>& u,
                      const Array<double, Exec>& y) const {
    const auto x = make_vector(exec);
    spread_modes(exec, gather_, u, x);
    multiply(exec, x);
    sum_slots(exec, gather_, product_, y);
  }

  /// Kept: matrices, lists and vectors of its own. A product reads the matrices once, two
  /// multiply-adds an entry, and passes over the vectors.
  OperatorCost cost() const override {
    std::int64_t entries = 0;
    for (const Batch& own : batches_)
      entries += std::int64_t(own.matrix.extent(0));
    const std::int64_t slots = gather_.num_slots();
    OperatorCost cost;
    cost.bytes_kept = 8 * entries + slots * (4 + 4 + 8 + 3 * 24);
    cost.bytes_moved = 8.0 * double(entries) + double(slots) * (8 + 4 + 6 * 24);
    cost.flops = 4.0 * double(entries);
    return cost;
  }
  bool is_deterministic() const override { return true; }

private:
  struct Batch {
    HexaBatch<Exec> batch; ///< whose modes are its slots
    std::int64_t first;    ///< slot
    Array<double, Exec> matrix;
  };

  /// product = K_e times the copies of x.
  void multiply(const Exec& exec, const Array<double, Exec>& x) const {
    unscale_slots(exec, root_, x, copies_);
    for (const Batch& own : batches_)
      multiply_packed_elements(exec, own.batch, own.matrix, copies_, product_, 3 * own.first);
  }

  ModeGather<Exec> gather_;
  Array<std::uint8_t, Exec> held_;
  Array<double, Exec> root_, copies_, product_, inverse_diagonal_;
  std::vector<Batch> batches_;
};

} // namespace ossatura::detail
