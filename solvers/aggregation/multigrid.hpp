// SPDX-License-Identifier: Apache-2.0
// Smoothed aggregation [1] preconditions a solve on any mesh. The aggregates depend on the graph
// alone and stay; prolongators and coarse matrices are formed for a matrix with that graph, so that
// coarse functions bend where the material is soft, and may serve for matrices like it. The V-cycle
// has the same polynomial smoother [2] before and after, and is symmetric positive definite.
//
// [1] P. Vanek, J. Mandel, M. Brezina. Algebraic multigrid by smoothed aggregation for second and
//     fourth order elliptic problems. Computing 56 (1996) 179-196, doi:10.1007/BF02238511.
// [2] M. Adams, M. Brezina, J. Hu, R. Tuminaro. Parallel multigrid smoothing: polynomial versus
//     Gauss-Seidel. J. Comput. Phys. 188 (2003) 593-610, doi:10.1016/S0021-9991(03)00194-3.
#pragma once

#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/aggregation/block_rows.hpp>
#include <ossatura/kernels/algebra/dense/inverse.hpp>
#include <ossatura/kernels/algebra/dense/operator.hpp>
#include <ossatura/kernels/algebra/operator.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/aggregation/hierarchy.hpp>
#include <ossatura/solvers/krylov/lanczos.hpp>
#include <ossatura/solvers/krylov/multigrid_level.hpp>
#include <ossatura/solvers/krylov/preconditioner.hpp>

#include <memory>

namespace ossatura {

template<class Exec, class Scalar>
class AggregationMultigrid final : public Preconditioner<Exec, Scalar> {
public:
  /// Does not fence.
  AggregationMultigrid(const Exec& exec,
                       std::shared_ptr<const AggregationHierarchy<Exec>> hierarchy,
                       const AggregationOptions& options);

  /// Takes the matrix `a` [blocks, 3, 3] in the graph of the hierarchy, and its product, which
  /// stays where it is until the next call: what the smoother of the finest level uses. The numbers
  /// are not kept. Fences.
  void prepare(const Exec& exec, const Operator<Exec, Scalar>& product, Array<double, Exec> a);

  /// Takes another matrix of that graph, of which only the smoother of the finest level is made:
  /// prolongators and coarse matrices stay those of the last `prepare`. The inverse blocks of its
  /// diagonal must be in `inverse_diagonal`. Fences.
  void update(const Exec& exec, const Operator<Exec, Scalar>& product);
  /// [6 num_rows] as invert_hexa_blocks writes them.
  const Array<Scalar, Exec>& inverse_diagonal() const { return fine_.jacobi.blocks; }

  /// Launches kernels alone, on CUDA as one recorded graph while b stays where it is.
  Array<Scalar, Exec> apply(const Exec& exec, const Array<Scalar, Exec>& b) override;

  /// The matrix of a coarse level, from 1. For tests.
  const BlockRows<Exec, Scalar>& coarse_matrix(int level) const {
    return coarse_[std::size_t(level) - 1].matrix;
  }
  const Array<Scalar, Exec>& prolongator(int level) const {
    return prolongator_[std::size_t(level)];
  }

private:
  using Fine = detail::MultigridLevel<Exec, Scalar, OperatorReference<Exec, Scalar>,
                                      BlockJacobi<Exec, Scalar>>;
  using Coarse =
      detail::MultigridLevel<Exec, Scalar, BlockRows<Exec, Scalar>, RowJacobi<Exec, Scalar>>;

  void prepare_finest(const Exec& exec, const Operator<Exec, Scalar>& product);
  template<class Level>
  void prepare_smoother(const Exec& exec, int degree, Level& level,
                        const Array<Scalar, Exec>& scratch);
  /// Forms P of level `number` and the matrix of the next from the matrix `a` of this one; returns
  /// that of the next in double.
  template<class Level>
  Array<double, Exec> coarsen(const Exec& exec, std::size_t number, const Array<double, Exec>& a,
                              const Level& level);
  /// All levels but the finest, from the matrix of the first of them.
  void prepare_coarse(const Exec& exec, Array<double, Exec> matrix);
  Array<Scalar, Exec> cycle_coarse(const Exec& exec, std::size_t number,
                                   const Array<Scalar, Exec>& b);
  Array<Scalar, Exec> cycle(const Exec& exec, const Array<Scalar, Exec>& b);

  std::shared_ptr<const AggregationHierarchy<Exec>> hierarchy_;
  AggregationOptions options_;
  Fine fine_;
  std::vector<Coarse> coarse_;                   ///< of each level of the hierarchy, the next
  std::vector<Array<Scalar, Exec>> prolongator_; ///< of each level of the hierarchy
  bool direct_ = false;                          ///< whether the coarsest is solved
  Array<Scalar, Exec> inverse_;                  ///< of the coarsest, dense
  std::unique_ptr<LaunchGraph<Exec>> graph_;
  const Scalar* recorded_ = nullptr; ///< the right-hand side of the graph
  Array<Scalar, Exec> result_;
};

} // namespace ossatura
