// SPDX-License-Identifier: Apache-2.0
// A FactorPreconditioner applies a factor in a resident solve: M = R L D L^T R^T, with the
// rotations R of the nodes since the factor was made (Kugelstadt et al.'s and SOFA's warping), or
// none.
#pragma once

#include <ossatura/kernels/factor/form_inverse.hpp>
#include <ossatura/kernels/factor/inverse_batch.hpp>
#include <ossatura/kernels/factor/inverse_product.hpp>
#include <ossatura/kernels/factor/node_blocks.hpp>
#include <ossatura/solvers/factor/maker.hpp>
#include <ossatura/solvers/krylov/resident_solve.hpp>
#include <ossatura/solvers/softbody/contact/solver.hpp>

#include <variant>

namespace ossatura {

/// Points to an inverse factor, whatever its entries are stored in.
template<class Exec>
using AnyInverse =
    std::variant<const InverseFactor<Exec, double>*, const InverseFactor<Exec, float>*,
                 const InverseFactor<Exec, Half>*>;

/// In use: what was last published. A factor that is made in the background is prepared beside it.
template<class Exec>
class FactorPreconditioner : public ResidentPreconditioner<Exec> {
public:
  /// Makes its own form of the factor, on any instance, beside the one in use if there are two.
  virtual void prepare(const Exec& exec, const MadeFactor<Exec>& made) = 0;
  /// Takes it into use. Does not fence.
  virtual void publish(const Exec&) {}

  /// The inverse in use; null where L itself is applied.
  virtual AnyInverse<Exec> inverse() const { return {}; }
  virtual int num_parts() const { return 0; } ///< sums of r . z, if more than a CG has by itself
  virtual std::int64_t num_inverse_entries() const { return 0; }
  virtual int num_bands() const { return 0; } ///< of the inverse
};

/// Solves with L, in place: `Solve` as SupernodeSolve.
template<class Exec, class Solve>
class SolvePreconditioner : public FactorPreconditioner<Exec> {
public:
  SolvePreconditioner(const Exec& exec, const FactorPattern& pattern,
                      const Array<double, Exec>& rotation)
      : solve_(exec, pattern)
      , rotation_(rotation)
      , rotated_(make_zeros<double>(exec, 3 * std::int64_t(pattern.num_nodes),
                                    "ossatura::preconditioner::rotated")) {}

  void prepare(const Exec& exec, const MadeFactor<Exec>& made) override {
    solve_.refresh(exec, made.factor);
  }
  void residual(const Exec& exec, const ResidentCg<Exec>& cg, double tolerance) override {
    cg_residual(exec, cg, tolerance, rotation_, rotated_);
  }
  void precondition(const Exec& exec, ResidentCg<Exec>& cg) override {
    if constexpr (!BackendTraits<Exec>::is_device)
      if (cg.flags(cg_stop) != 0)
        return; // the rest of a batch
    solve_.apply(exec, rotated_, cg.z);
    cg_rotate(exec, cg, cg.z, rotation_);
  }
  void step(const Exec& exec, const ResidentCg<Exec>& cg, int parity) override {
    cg_resident_step(exec, cg, parity, rotation_, rotated_);
  }

private:
  Solve solve_;
  Array<double, Exec> rotation_, rotated_;
};

/// Products with the explicit inverse factor.
template<class Exec, class Storage>
class InversePreconditioner : public FactorPreconditioner<Exec> {
public:
  /// With `beside`, prepare() leaves the factor in use alone until publish().
  InversePreconditioner(const Exec& exec, const FactorPattern& pattern, const InverseLayout& layout,
                        const FactorPatternArrays<Exec>& arrays,
                        const Array<double, Exec>& rotation, bool beside)
      : num_entries_(layout.num_entries)
      , forming_(exec, pattern, layout)
      , product_(exec, pattern, layout)
      , inverse_(make_inverse_factor<Storage>(exec, arrays, layout))
      , next_(beside ? make_inverse_factor<Storage>(exec, arrays, layout) : inverse_)
      , rotation_(rotation) {}

  void prepare(const Exec& exec, const MadeFactor<Exec>& made) override {
    Kokkos::deep_copy(exec, next_.inverse_pivot, made.inverse_pivot);
    graph_.run(exec, [&] { forming_.form(exec, made.factor, made.diagonal, next_); });
  }
  void publish(const Exec& exec) override {
    if (next_.value.data() == inverse_.value.data())
      return;
    Kokkos::deep_copy(exec, inverse_.value, next_.value);
    Kokkos::deep_copy(exec, inverse_.inverse_pivot, next_.inverse_pivot);
  }
  void residual(const Exec& exec, const ResidentCg<Exec>& cg, double tolerance) override {
    cg_residual(exec, cg, tolerance, rotation_, product_.rotated());
  }
  void precondition(const Exec& exec, ResidentCg<Exec>& cg) override {
    cg.num_rz_parts = product_.num_tiles();
    product_.apply_rotated(exec, inverse_, cg.r, cg.z, rotation_, cg.rz_parts, cg.flags);
  }
  void step(const Exec& exec, const ResidentCg<Exec>& cg, int parity) override {
    cg_resident_step(exec, cg, parity, rotation_, product_.rotated());
  }
  bool run_batch(const Exec& exec, ResidentCg<Exec>& cg, const CgBatchLength& length) override {
    return run_inverse_batch(exec, cg, product_, inverse_, rotation_, length, space_);
  }

  AnyInverse<Exec> inverse() const override { return &inverse_; }
  int num_parts() const override { return product_.num_tiles(); }
  std::int64_t num_inverse_entries() const override { return num_entries_; }
  int num_bands() const override { return inverse_.num_bands; }

private:
  std::int64_t num_entries_;
  InverseForming<Exec, Storage> forming_;
  InverseProduct<Exec, Storage> product_;
  InverseFactor<Exec, Storage> inverse_, next_;
  Array<double, Exec> rotation_;
  LaunchGraph<Exec> graph_;
  CgBatchSpace<Exec> space_;
};

/// z = r, or blocks of the diagonal.
template<class Exec>
class NodePreconditioner : public ResidentPreconditioner<Exec> {
public:
  NodePreconditioner(const Exec& exec, int num_nodes, SoftPreconditioner kind)
      : kind_(kind)
      , blocks_(make_zeros<double>(exec, 9 * std::int64_t(num_nodes),
                                   "ossatura::preconditioner::blocks")) {}

  void update(const Exec& exec, const BlockMatrix<Exec>& matrix) {
    if (kind_ != SoftPreconditioner::none)
      invert_node_blocks(exec, matrix, kind_ == SoftPreconditioner::block_jacobi, blocks_);
  }
  void precondition(const Exec& exec, ResidentCg<Exec>& cg) override {
    if (kind_ == SoftPreconditioner::none)
      cg_identity(exec, cg);
    else
      cg_blocks(exec, cg, blocks_);
  }
  bool run_batch(const Exec& exec, ResidentCg<Exec>& cg, const CgBatchLength& length) override {
    const bool none = kind_ == SoftPreconditioner::none;
    return run_node_batch(exec, cg, none ? Array<double, Exec>() : blocks_, length, space_);
  }

private:
  SoftPreconditioner kind_;
  Array<double, Exec> blocks_;
  CgBatchSpace<Exec> space_;
};

} // namespace ossatura
