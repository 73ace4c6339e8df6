// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/voxel_solver.hpp"

#include "kernels/gather_operator.hpp"
#include "kernels/hash_operator.hpp"
#include "kernels/offset_operator.hpp"
#include "solvers/multigrid.hpp"

namespace femura {

template<class Exec>
struct VoxelSolver<Exec>::Implementation {
  virtual ~Implementation() = default;
  virtual SolveResult solve(const Exec& exec, const Array<double, Exec>& f,
                            const Array<double, Exec>& u, const IterationObserver& observe) = 0;
  virtual void apply(const Exec& exec, const Array<double, Exec>& u,
                     const Array<double, Exec>& y) const = 0;
  virtual void precondition(const Exec& exec, const Array<double, Exec>& r,
                            const Array<double, Exec>& z) = 0;
  virtual std::vector<MultigridLevelInfo> level_info() const = 0;
  virtual double work() const = 0;
};

namespace {

template<class Exec, template<class> class Operator, class Scalar>
struct VoxelPcg final : VoxelSolver<Exec>::Implementation {
  VoxelPcg(const Exec& exec, const VoxelProblem<Exec>& problem, const VoxelSolverOptions& options)
      : cg(options.cg)
      , held(problem.held)
      , matrix(exec, problem.grid, problem.lame, problem.edge)
      , multigrid(exec, problem.grid, problem.lame, problem.material, problem.held, problem.edge,
                  matrix, options.multigrid)
      , r(make_zeros<double>(exec, problem.grid.num_dofs(), "femura::cg::r"))
      , z(make_zeros<double>(exec, problem.grid.num_dofs(), "femura::cg::z"))
      , p(make_zeros<double>(exec, problem.grid.num_dofs(), "femura::cg::p")) {
    // The cycle is over when the product is formed, so both share a vector where the types agree.
    if constexpr (std::is_same_v<Scalar, double>)
      q = multigrid.scratch();
    else
      q = make_zeros<double>(exec, problem.grid.num_dofs(), "femura::cg::q");
  }

  SolveResult solve(const Exec& exec, const Array<double, Exec>& f, const Array<double, Exec>& u,
                    const IterationObserver& observe) override {
    const auto product = [&](const auto& x, const auto& y) {
      matrix.apply(exec, x, y);
      clear(exec, held, y);
      ++products;
    };
    const auto residual = [&](const auto& x, const auto& y) {
      matrix.apply(exec, x, y);
      if (f.extent(0) > 0)
        axpby(exec, 1.0, f, -1.0, y);
      else
        axpby(exec, -1.0, y, 0.0, y);
      clear(exec, held, y);
      ++products;
    };
    return conjugate_gradients(
        exec, cg, product, residual,
        [&](const auto& x, const auto& y) {
          Kokkos::Profiling::pushRegion("femura::precondition");
          multigrid.apply(exec, x, y);
          Kokkos::Profiling::popRegion();
        },
        u, r, z, p, q, observe);
  }

  void apply(const Exec& exec, const Array<double, Exec>& u,
             const Array<double, Exec>& y) const override {
    matrix.apply(exec, u, y);
  }

  void precondition(const Exec& exec, const Array<double, Exec>& x,
                    const Array<double, Exec>& y) override {
    multigrid.apply(exec, x, y);
  }

  std::vector<MultigridLevelInfo> level_info() const override { return multigrid.level_info(); }
  double work() const override { return double(products) + multigrid.work(); }

  CgOptions cg;
  Constraints<Exec> held;
  Operator<Exec> matrix;
  Multigrid<Exec, Operator, Scalar> multigrid;
  Array<double, Exec> r, z, p, q;
  std::int64_t products = 0;
};

template<class Exec, template<class> class Operator>
std::unique_ptr<typename VoxelSolver<Exec>::Implementation>
make_pcg(const Exec& exec, const VoxelProblem<Exec>& problem, const VoxelSolverOptions& options) {
  if (options.single_precision_cycle)
    return std::make_unique<VoxelPcg<Exec, Operator, float>>(exec, problem, options);
  return std::make_unique<VoxelPcg<Exec, Operator, double>>(exec, problem, options);
}

template<class Exec>
std::unique_ptr<typename VoxelSolver<Exec>::Implementation>
make_implementation(const Exec& exec, const VoxelProblem<Exec>& problem,
                    const VoxelSolverOptions& options) {
  switch (options.matrix) {
  case VoxelOperatorKind::offset:
    return make_pcg<Exec, OffsetOperator>(exec, problem, options);
  case VoxelOperatorKind::hash:
    return make_pcg<Exec, HashOperator>(exec, problem, options);
  case VoxelOperatorKind::gather:
    break;
  }
  return make_pcg<Exec, GatherOperator>(exec, problem, options);
}

} // namespace

template<class Exec>
VoxelSolver<Exec>::VoxelSolver(const Exec& exec, const VoxelProblem<Exec>& problem,
                               const VoxelSolverOptions& options)
    : implementation_(make_implementation(exec, problem, options)) {}

template<class Exec>
VoxelSolver<Exec>::~VoxelSolver() = default;

template<class Exec>
SolveResult VoxelSolver<Exec>::solve(const Exec& exec, const Array<double, Exec>& f,
                                     const Array<double, Exec>& u,
                                     const IterationObserver& observe) {
  return implementation_->solve(exec, f, u, observe);
}

template<class Exec>
void VoxelSolver<Exec>::apply(const Exec& exec, const Array<double, Exec>& u,
                              const Array<double, Exec>& y) const {
  implementation_->apply(exec, u, y);
}

template<class Exec>
void VoxelSolver<Exec>::precondition(const Exec& exec, const Array<double, Exec>& r,
                                     const Array<double, Exec>& z) {
  implementation_->precondition(exec, r, z);
}

template<class Exec>
std::vector<MultigridLevelInfo> VoxelSolver<Exec>::level_info() const {
  return implementation_->level_info();
}

template<class Exec>
double VoxelSolver<Exec>::work() const {
  return implementation_->work();
}

#define FEMURA_INSTANTIATE(Exec) template class VoxelSolver<Exec>;
FEMURA_FOR_EACH_BACKEND(FEMURA_INSTANTIATE)

} // namespace femura
