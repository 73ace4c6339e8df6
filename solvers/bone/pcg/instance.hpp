// SPDX-License-Identifier: Apache-2.0
// This file has the definitions of pcg.hpp; the sources beside it alone include them.
#pragma once

#include <ossatura/kernels/algebra/fused_updates/free.hpp>
#include <ossatura/kernels/algebra/fused_updates/nodes.hpp>
#include <ossatura/solvers/bone/multigrid/cycle.hpp>
#include <ossatura/solvers/bone/pcg.hpp>
#include <ossatura/solvers/krylov/cg.hpp>

#include <algorithm>

namespace ossatura::detail {

/// The vectors of the iteration and of the finest level. Products and the iterates of the cycle
/// share memory: the cycle's result is read before the next product is formed, and that before the
/// next cycle.
template<class Exec, class Vector, class Cycle>
struct SolverVectors {
  static constexpr std::int64_t line = 32; ///< numbers of four bytes in a line of a cache

  Array<double, Exec> memory;  ///< of the product
  Array<double, Exec> product; ///< in double, while residuals are formed
  Array<Vector, Exec> r, p, q;
  LevelVectors<Exec, Cycle> level; ///< b is r where the types agree

  SolverVectors(const Exec& exec, std::int64_t n)
      : memory(make_zeros<double>(exec, n + line / 2, "ossatura::cg::q"))
      , product(memory.data(), n)
      , r(make_zeros<Vector>(exec, n, "ossatura::cg::r"))
      , p(make_zeros<Vector>(exec, n, "ossatura::cg::p")) {
    if constexpr (std::is_same_v<Cycle, double>) {
      level.x = make_zeros<Cycle>(exec, n, "ossatura::multigrid::x");
      level.next = product;
    } else {
      static_assert(sizeof(double) == 2 * sizeof(Cycle), "two iterates fill one product");
      // Views of the same bytes, one type at a time; `memory` owns them and lives as long.
      Cycle* const bytes = reinterpret_cast<Cycle*>(product.data());
      level.x = Array<Cycle, Exec>(bytes, n);
      level.next = Array<Cycle, Exec>(bytes + (n + line - 1) / line * line, n);
    }
    if constexpr (std::is_same_v<Vector, double>)
      q = product;
    else
      q = level.next;
    if constexpr (std::is_same_v<Vector, Cycle>)
      level.b = r;
    else
      level.b = make_zeros<Cycle>(exec, n, "ossatura::multigrid::b");
  }
};

template<class Exec, class Operator, class Vector, class Cycle>
class MultigridPcg final : public VoxelPcg<Exec> {
public:
  MultigridPcg(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy,
               const MultigridOptions& options)
      : held_(hierarchy.held)
      , is_cut_(hierarchy.is_cut)
      , is_periodic_(hierarchy.is_periodic())
      , matrix_(exec, hierarchy.grid, hierarchy.lame, hierarchy.edge)
      , vectors_(exec, hierarchy.grid.num_dofs())
      , multigrid_(exec, hierarchy, matrix_, options, vectors_.level) {
    if (is_cut_ || is_periodic_) {
      solution_halo_ = {exec, hierarchy.comm, hierarchy.share.plan};
      direction_halo_ = {exec, hierarchy.comm, hierarchy.share.plan};
    }
    if (is_cut_)
      sums_ = sums_of_cut(exec, hierarchy);
    else if constexpr (sums_up)
      partial_sum_ = make_zeros<double>(exec, matrix_.num_sums(), "ossatura::cg::sums_of_parts");
  }

  SolveResult solve(const Exec& exec, const CgOptions& options, const Array<double, Exec>& f,
                    const Array<double, Exec>& u, const IterationObserver& observe,
                    const VoxelCorrection<Exec>* correction,
                    const PointForces<Exec>* points) override {
    OSSATURA_REQUIRE(correction == nullptr || (!is_cut_ && !is_periodic_),
                     "a correction of a model that is cut, or of a unit cell");
    const auto product = [&](const auto& x, const auto& y, const auto& scalars) {
      if (correction != nullptr)
        multiply_corrected(exec, *correction, x, y, scalars);
      else
        multiply(exec, x, y, scalars);
      ++products_;
    };
    const auto residual = [&](const auto& x, double scale, const auto& r) {
      solution_halo_.exchange(exec, x);
      const StoreScaledResidual<Exec, double, Vector> store{held_.mask, f, scale, r};
      if (correction != nullptr || points != nullptr) {
        matrix_.apply(exec, x, vectors_.product);
        if (correction != nullptr)
          correction->add(exec, x, vectors_.product);
        if (points != nullptr)
          subtract(exec, *points, vectors_.product);
        update_nodes(exec, x, vectors_.product, store);
      } else {
        apply_then(exec, matrix_, x, vectors_.product, store);
      }
      ++products_;
    };
    const SolveResult result = conjugate_gradients(
        exec, options, product, residual,
        [&](const auto& b, const auto&... scalars) { return cycle(exec, b, scalars...); },
        CgVectors<Exec, double, Vector, Cycle>{u, vectors_.r, vectors_.p, vectors_.q,
                                               vectors_.level.b},
        observe, sums_);
    solution_halo_.exchange(exec, u);
    return result;
  }

  void apply(const Exec& exec, const Array<double, Exec>& u,
             const Array<double, Exec>& y) const override {
    solution_halo_.exchange(exec, u);
    matrix_.apply(exec, u, y);
  }

  void precondition(const Exec& exec, const Array<double, Exec>& r,
                    const Array<double, Exec>& z) override {
    copy(exec, r, vectors_.level.b);
    copy(exec, multigrid_.apply(exec, vectors_.level.b), z);
  }

  void renew(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy) override {
    multigrid_.renew(exec, hierarchy);
  }

  std::vector<MultigridLevelInfo> level_info() const override { return multigrid_.level_info(); }
  double work() const override { return double(products_) + multigrid_.work(); }
  const Array<double, Exec>& spare() const override { return vectors_.product; }
  LaunchGraphState launch_graph() const override { return multigrid_.launch_graph(); }

private:
  using Sums = VectorSums<Exec>;
  static constexpr bool sums_up = SumsUpdates<Operator>::value;

  Sums sums_of_cut(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy) const {
    const GroupSums<Exec> groups(exec, hierarchy.comm, hierarchy.share.group_begin);
    if constexpr (sums_up) {
      const OwnedNodes owned = hierarchy.grid.owned;
      const std::int64_t parts =
          std::max(matrix_.num_sums(), cg_step_parts<Exec>(hierarchy.grid.num_dofs()));
      return Sums(groups, IntegerSums<Exec>(exec, hierarchy.comm, parts),
                  3 * std::int64_t(owned.begin), 3 * std::int64_t(owned.end));
    } else {
      return Sums(groups);
    }
  }

  /// q = A p at free components, and scalars.pq = p . q.
  void multiply(const Exec& exec, const Array<Vector, Exec>& p, const Array<Vector, Exec>& q,
                const CgScalarArray<Exec>& scalars) {
    const StoreFreeProduct<Exec, Vector> store{held_.mask, q};
    direction_halo_.exchange(exec, p);
    if constexpr (sums_up)
      if (const IntegerScale scale = sums_.scale(Sums::curvature); scale.is_set()) {
        using Dot = StoreFreeProductDot<Exec, Vector>;
        matrix_.apply_then(exec, p, SumAsIntegers<Dot>{{store, nullptr}, scale, sums_.parts()});
        sums_.add_parts_to(exec, matrix_.num_sums(), scalars, Sums::curvature);
        return;
      }
    if (is_cut_) {
      apply_then(exec, matrix_, p, q, store);
      sums_.dot_to(exec, p, q, scalars, Sums::curvature);
    } else if constexpr (sums_up) {
      matrix_.apply_then(exec, p, StoreFreeProductDot<Exec, Vector>{store, partial_sum_.data()});
      cg_curvature(exec, partial_sum_, scalars);
    } else {
      apply_then(exec, matrix_, p, q, store);
      cg_curvature(exec, p, q, scalars);
    }
  }

  /// The same of the matrix with a correction.
  void multiply_corrected(const Exec& exec, const VoxelCorrection<Exec>& correction,
                          const Array<Vector, Exec>& p, const Array<Vector, Exec>& q,
                          const CgScalarArray<Exec>& scalars) {
    matrix_.apply(exec, p, q);
    correction.add(exec, p, q);
    clear(exec, held_, q);
    cg_curvature(exec, p, q, scalars);
  }

  /// z = M b.
  Array<Cycle, Exec> cycle(const Exec& exec, const Array<Cycle, Exec>& b) {
    return in_region([&] { return multigrid_.apply(exec, b); });
  }
  /// The same, and scalars.next_rz = b . z.
  Array<Cycle, Exec> cycle(const Exec& exec, const Array<Cycle, Exec>& b,
                           const CgScalarArray<Exec>& scalars) {
    if constexpr (sums_up)
      if (const IntegerScale scale = sums_.scale(Sums::angle);
          scale.is_set() && multigrid_.has_coarse_levels()) {
        const auto z = in_region([&] { return multigrid_.apply(exec, b, scale, sums_.parts()); });
        sums_.add_parts_to(exec, matrix_.num_sums(), scalars, Sums::angle);
        return z;
      }
    if (is_cut_) {
      const auto z = cycle(exec, b);
      sums_.dot_to(exec, b, z, scalars, Sums::angle);
      return z;
    }
    if constexpr (sums_up)
      if (multigrid_.has_coarse_levels()) {
        const auto z = in_region([&] { return multigrid_.apply(exec, b, partial_sum_); });
        cg_angle(exec, partial_sum_, scalars);
        return z;
      }
    const auto z = cycle(exec, b);
    cg_angle(exec, b, z, scalars);
    return z;
  }

  template<class Apply>
  static Array<Cycle, Exec> in_region(const Apply& apply) {
    Kokkos::Profiling::pushRegion("ossatura::precondition");
    const Array<Cycle, Exec> z = apply();
    Kokkos::Profiling::popRegion();
    return z;
  }

  Constraints<Exec> held_;
  bool is_cut_;      ///< the model, among processes
  bool is_periodic_; ///< of a unit cell
  Operator matrix_;
  SolverVectors<Exec, Vector, Cycle> vectors_;
  Multigrid<Exec, Operator, Cycle> multigrid_;
  Array<double, Exec> partial_sum_; ///< of the operator's parts, if it sums up
  Sums sums_;                       ///< of a cut model
  Halo<Exec, double> solution_halo_;
  Halo<Exec, Vector> direction_halo_;
  std::int64_t products_ = 0;
};

template<class Exec, class Operator>
std::unique_ptr<VoxelPcg<Exec>>
make_voxel_pcg(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy, Precision precision,
               const MultigridOptions& options) {
  switch (precision) {
  case Precision::lean:
    return std::make_unique<MultigridPcg<Exec, Operator, float, float>>(exec, hierarchy, options);
  case Precision::mixed:
    return std::make_unique<MultigridPcg<Exec, Operator, double, float>>(exec, hierarchy, options);
  case Precision::fp64:
    return std::make_unique<MultigridPcg<Exec, Operator, double, double>>(exec, hierarchy, options);
  default:
    fail<UsageError>("the solver on voxels has no ", name_of(precision), " precision");
  }
}

} // namespace ossatura::detail
