// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/multigrid/coarse_cycle.hpp>

#include <ossatura/kernels/algebra/dense/operator.hpp>
#include <ossatura/kernels/bone/assemble_dense.hpp>
#include <ossatura/kernels/bone/cells/transfer.hpp>
#include <ossatura/kernels/bone/voxel_blocks.hpp>
#include <ossatura/solvers/bone/multigrid/resident_program.hpp>

namespace ossatura {

namespace {

/// Of the processes of a cut model, whether all could record what they launch.
template<class Exec>
std::function<bool(bool)> agreement(const VoxelHierarchy<Exec>& hierarchy) {
  const Communicator comm = hierarchy.comm.communicator();
  if (comm.size() == 1)
    return {};
  return [comm](bool recorded) { return comm.all(recorded); };
}

} // namespace

template<class Exec, class Scalar>
CoarseCycle<Exec, Scalar>::CoarseCycle(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy,
                                       const MultigridOptions& options)
    : options_(options)
    , hierarchy_(hierarchy) {
  record_anew();
  if (hierarchy.coarse.empty())
    return;
  for (const CoarseLevel<Exec>& level : hierarchy.coarse)
    add_level(exec, level);
  prepare(exec);
}

template<class Exec, class Scalar>
bool CoarseCycle<Exec, Scalar>::can_be_recorded() const {
  return options_.launch_graphs && options_.coarse_solver == CoarseSolver::direct &&
         hierarchy_.comm.can_be_recorded();
}

/// Forgets what was recorded.
template<class Exec, class Scalar>
void CoarseCycle<Exec, Scalar>::record_anew() {
  graph_.emplace(can_be_recorded(), agreement(hierarchy_));
}

/// What depends on the constants of the cells, except the inverse blocks of the levels.
template<class Exec, class Scalar>
void CoarseCycle<Exec, Scalar>::prepare(const Exec& exec) {
  const CoarseLevel<Exec>& last = hierarchy_.coarse.back();
  coarsest_ = {exec,
               options_.coarse_solver,
               int(levels_.size()) + 1,
               last.cells.num_nodes,
               last.held.num_dofs,
               [&] { return assemble_dense(exec, last.cells, last.held, last.edge); }};
  const int degree = options_.coarse_degree > 0 ? options_.coarse_degree : options_.smoother.degree;
  for (Level& level : levels_)
    if (&level != &levels_.back())
      work_ += detail::prepare_smoother(exec, options_, degree, hierarchy_.eigenvalue_bound, level);
  repeated_.resize(levels_.size());
  for (std::size_t l = levels_.size() - 1; l-- > 0;) { // the cycle of a level contains those below
    if (options_.repetition == Repetition::weighted)
      weigh_cycles(exec, l, l == 0 ? options_.fine_cycles : options_.coarse_cycles);
    make_resident(exec, l);
  }
}

template<class Exec, class Scalar>
void CoarseCycle<Exec, Scalar>::renew(const Exec& exec, double bound) {
  if (levels_.empty())
    return;
  hierarchy_.eigenvalue_bound = bound;
  fence(exec, "ossatura::coarse_cycle::renew");
  // These are of the old constants, and launches of arrays that go.
  record_anew();
  former_ = std::move(resident_);
  former_.drop_arrays();
  resident_ = {};
  resident_work_ = 0;
  is_renewed_ = true;
  coarsest_ = {};
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const CoarseLevel<Exec>& level = hierarchy_.coarse[l];
    levels_[l].jacobi.blocks = {}; // before the new ones, for memory
    levels_[l].jacobi.blocks =
        make_inverse_diagonal_blocks<Scalar>(exec, level.cells, level.edge, level.held.mask);
    if (!options_.block_jacobi)
      drop_couplings(exec, levels_[l].jacobi);
  }
  prepare(exec);
}

/// Has the levels from l on run in a resident grid, where these are small enough.
template<class Exec, class Scalar>
void CoarseCycle<Exec, Scalar>::make_resident(const Exec& exec, std::size_t l) {
  const int most =
      options_.resident_nodes != 0 ? options_.resident_nodes : default_resident_nodes<Exec>;
  const auto is_small = [&](std::size_t k) {
    const LevelShare<Exec>& share = hierarchy_.coarse[k].share;
    return share.is_everywhere && share.num_nodes <= most;
  };
  if (!is_small(l) || (l > 0 && is_small(l - 1)) || !coarsest_.is_direct())
    return;
  if (is_renewed_) {
    if (!former_.empty())
      place_resident(exec, std::size_t(first_resident_));
    return;
  }
  while (l + 1 < levels_.size() && !place_resident(exec, l))
    ++l;
}

/// Has the levels from l on run in a resident grid, with the tables of the one before where that is
/// renewed: the host takes longer to cut small levels into parts than all else of a renewal takes.
/// Returns whether they fit.
template<class Exec, class Scalar>
bool CoarseCycle<Exec, Scalar>::place_resident(const Exec& exec, std::size_t l) {
  std::vector<ResidentCycleLevel<Exec, Scalar>> levels;
  std::vector<detail::ResidentWeights> weights;
  for (std::size_t k = l; k < levels_.size(); ++k) {
    const CoarseLevel<Exec>& grid = hierarchy_.coarse[k];
    const LevelVectors<Exec, Scalar>& v = levels_[k].vectors;
    levels.push_back({grid.cells,
                      grid.held.mask,
                      grid.edge,
                      k > l ? &grid.transfer : nullptr,
                      {v.x, v.next},
                      v.b,
                      levels_[k].jacobi.blocks});
    weights.push_back({levels_[k].weights, repeated_[k].weights});
  }
  const int visits = options_.repetition == Repetition::smoothed ? options_.coarse_cycles : 1;
  const detail::ResidentProgram program(weights, visits);
  if (former_.renew(exec, levels, program.steps(), coarsest_.inverse()))
    resident_ = std::move(former_);
  else
    resident_ = ResidentCycle<Exec, Scalar>(exec, levels, program.steps(), coarsest_.inverse());
  former_ = {};
  if (resident_.empty())
    return false;
  first_resident_ = int(l);
  resident_result_ = levels.front().iterate[program.result()];
  for (const CycleStep& step : program.steps())
    if (step.op == CycleOp::smooth || step.op == CycleOp::residual || step.op == CycleOp::correct)
      resident_work_ += levels_[l + std::size_t(step.level)].cost;
  return true;
}

/// Prepares `count` cycles on level l, above the coarsest.
template<class Exec, class Scalar>
void CoarseCycle<Exec, Scalar>::weigh_cycles(const Exec& exec, std::size_t l, int count) {
  repeated_[l].weights.clear(); // of the constants before
  if (count < 2)
    return;
  const Level& level = levels_[l];
  const LevelVectors<Exec, Scalar>& v = level.vectors;
  Array<Scalar, Exec>& sum = repeated_[l].sum;
  if (sum.extent(0) == 0)
    sum = make_zeros<Scalar>(exec, v.b.extent(0), "ossatura::multigrid::sum");
  const OwnedNodes& owned = hierarchy_.coarse[l].cells.owned;
  const LevelShare<Exec>& share = hierarchy_.coarse[l].share;
  VectorSums<Exec> sums;
  if (hierarchy_.is_cut)
    sums = VectorSums<Exec>(GroupSums<Exec>(
        exec, share.is_everywhere ? DeviceComm<Exec>() : hierarchy_.comm, share.group_begin));
  // About random for the symmetric form of the scaled matrix, as in estimate_largest_eigenvalue.
  fill_random(exec, 1,
              Array<Scalar, Exec>(v.b.data() + 3 * std::int64_t(owned.begin),
                                  3 * std::size_t(owned.count())),
              3 * owned.global_begin);
  apply_root_diagonal(exec, level.jacobi, v.b);
  clear(exec, level.held, v.b);
  if (hierarchy_.is_periodic()) { // without its part in the null space
    level.multiply(exec, v.b, v.x);
    Kokkos::deep_copy(exec, v.b, v.x);
    work_ += level.cost;
  }
  LaunchGraph<Exec> graph(can_be_recorded(), agreement(hierarchy_));
  Array<Scalar, Exec> step;
  double cost = 0;
  Spectrum spectrum = estimate_spectrum(
      exec, options_.cycle_steps,
      [&](const auto&) {
        const double before = work_;
        if (graph.run(exec, [&] { step = cycle_level(exec, l); }))
          cost = work_ - before;
        else
          work_ += cost;
        return step;
      },
      [&](const auto& p, const auto& q) {
        level.multiply(exec, p, q);
        work_ += level.cost;
      },
      v.b, sum, v.x, sums);
  // Processors that round otherwise must not part.
  hierarchy_.comm.communicator().broadcast(spectrum);
  if (!(spectrum.smallest > 0))
    return; // nothing acts here
  // The estimate is from below (by up to 20 % on real bone). The polynomial grows fast beyond the
  // interval, and the cycle must stay positive; near zero it is less than 1 wherever the interval
  // begins.
  const double high = 1.25 * spectrum.largest;
  repeated_[l].weights = chebyshev_weights(count, spectrum.smallest, high);
}

template<class Exec, class Scalar>
void CoarseCycle<Exec, Scalar>::add_level(const Exec& exec, const CoarseLevel<Exec>& level) {
  const std::int64_t n = level.cells.num_dofs();
  const bool is_finer_everywhere =
      !levels_.empty() && hierarchy_.coarse[levels_.size() - 1].share.is_everywhere;
  const auto vector = [&](const char* label) { return make_zeros<Scalar>(exec, n, label); };
  levels_.push_back(
      {CellOperator<Exec>(exec, level.cells, level.edge),
       {make_inverse_diagonal_blocks<Scalar>(exec, level.cells, level.edge, level.held.mask)},
       level.held,
       double(level.share.num_elem) / double(hierarchy_.share.num_elem),
       {vector("ossatura::multigrid::x"), vector("ossatura::multigrid::next"),
        vector("ossatura::multigrid::b")},
       {},
       0,
       {},
       {}});
  restricted_.push_back(level.cells);
  restricted_.back().owned = level.share.nodes;
  gathers_.emplace_back();
  if (!level.share.is_everywhere)
    levels_.back().halo = {exec, hierarchy_.comm, level.share.plan};
  else if (hierarchy_.is_cut && !is_finer_everywhere)
    gathers_.back() = {exec, hierarchy_.comm, level.share.nodes};
  if (!options_.block_jacobi)
    drop_couplings(exec, levels_.back().jacobi);
}

template<class Exec, class Scalar>
void CoarseCycle<Exec, Scalar>::add_correction(const Exec& exec,
                                               const Array<Scalar, Exec>& residual,
                                               const Array<Scalar, Exec>& x) {
  const CoarseLevel<Exec>& first = hierarchy_.coarse[0];
  if (hierarchy_.is_periodic()) // whose fine nodes are not those that lie around a cell, but listed
    restrict_to(exec, 0, first.cells, residual);
  else
    restrict_to(exec, 0, hierarchy_.grid, residual);
  const double before = work_;
  if (graph_->run(exec, [&] { correction_ = solve_level(exec, 0); }))
    visit_work_ = work_ - before;
  else
    work_ += visit_work_;
  levels_[0].halo.exchange(exec, correction_);
  prolong_add(exec, first.transfer, first.cells, correction_, hierarchy_.held.mask, x);
}

/// The right-hand side of level l from a residual of the next finer one.
template<class Exec, class Scalar>
template<class FineGrid>
void CoarseCycle<Exec, Scalar>::restrict_to(const Exec& exec, std::size_t l, const FineGrid& fine,
                                            const Array<Scalar, Exec>& residual) {
  const CoarseLevel<Exec>& level = hierarchy_.coarse[l];
  const Array<Scalar, Exec>& b = levels_[l].vectors.b;
  restrict_residual(exec, level.transfer, fine, restricted_[l], residual, level.held.mask, b);
  gathers_[l].gather(exec, b);
}

/// Solves coarse level l for its right-hand side, which is lost: cycles, or the coarsest solve.
template<class Exec, class Scalar>
Array<Scalar, Exec> CoarseCycle<Exec, Scalar>::solve_level(const Exec& exec, std::size_t l) {
  const Level& level = levels_[l];
  const Array<Scalar, Exec>& b = level.vectors.b;
  if (!resident_.empty() && int(l) == first_resident_) {
    resident_.run(exec);
    work_ += resident_work_;
    return resident_result_;
  }
  if (l + 1 == levels_.size())
    return coarsest_.solve(exec, level, b, work_);
  const auto& [weights, sum] = repeated_[l];
  Array<Scalar, Exec> step = cycle_level(exec, l);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (k > 0) {
      level.residual(exec, step, b, b);
      work_ += level.cost;
      axpby(exec, Scalar(1), step, Scalar(k > 1), sum);
      step = cycle_level(exec, l);
    }
    axpby(exec, Scalar(weights[k]), step, Scalar(0), step);
  }
  if (weights.size() > 1)
    axpby(exec, Scalar(1), sum, Scalar(1), step);
  return step;
}

/// One cycle on coarse level l, above the coarsest, for its right-hand side.
template<class Exec, class Scalar>
Array<Scalar, Exec> CoarseCycle<Exec, Scalar>::cycle_level(const Exec& exec, std::size_t l) {
  const Level& level = levels_[l];
  const int visits = options_.repetition == Repetition::smoothed ? options_.coarse_cycles : 1;
  return detail::cycle(
      exec, level, level.vectors.b, visits, work_, [&](const auto& residual, const auto& x) {
        const CoarseLevel<Exec>& next = hierarchy_.coarse[l + 1];
        restrict_to(exec, l + 1, hierarchy_.coarse[l].cells, residual);
        const Array<Scalar, Exec> correction = solve_level(exec, l + 1);
        levels_[l + 1].halo.exchange(exec, correction);
        prolong_add(exec, next.transfer, next.cells, correction, level.held.mask, x);
      });
}

template<class Exec, class Scalar>
std::vector<MultigridLevelInfo> CoarseCycle<Exec, Scalar>::level_info() const {
  std::vector<MultigridLevelInfo> info;
  for (std::size_t l = 0; l < levels_.size(); ++l)
    info.push_back({hierarchy_.coarse[l].share.num_elem, hierarchy_.coarse[l].share.num_nodes,
                    hierarchy_.coarse[l].share.num_held_dofs, levels_[l].largest_eigenvalue,
                    !resident_.empty() && int(l) >= first_resident_});
  return info;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template class CoarseCycle<Exec, double>;                                                        \
  template class CoarseCycle<Exec, float>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
