// SPDX-License-Identifier: Apache-2.0
// A whole cut lets several processes solve a problem that each of them has as a whole: what is made
// of the image before and of the displacement after needs no change, and memory for the vectors and
// levels of the solver is shared.
#pragma once

#include <ossatura/kernels/algebra/share_gather.hpp>
#include <ossatura/kernels/bone/local_material.hpp>
#include <ossatura/solvers/bone/solver.hpp>

#include <memory>

namespace ossatura {

namespace detail {
template<class T, class Exec>
Array<T, Exec> part_of(const Array<T, Exec>& x, std::int64_t begin, std::int64_t count) {
  return Array<T, Exec>(x.data() + begin, std::size_t(count));
}
} // namespace detail

/// The local problem of a process and the way to it and back.
template<class Exec>
class WholeCut {
public:
  /// `whole` is the same on all ranks of `comm`; its material is not read. `bits`: see
  /// choose_cut_bits. Called by all. Fences.
  WholeCut(const Exec& exec, const Communicator& comm, const VoxelProblem<Exec>& whole,
           int bits = 0)
      : num_dofs_(whole.grid.num_dofs()) {
    VoxelRanks<Exec> ranks = cut_among(exec, DeviceComm<Exec>(comm), whole.grid, bits);
    const VoxelGrid<Exec> grid = make_local_grid(
        exec, comm, ranks.table, VisibleVoxels<Exec>{whole.grid, whole.lame, ranks.table});
    ranks.plan = make_halo_plan(exec, comm, ranks.cut, grid);
    halo_ = Halo<Exec, double>(exec, ranks.comm, ranks.plan);
    local_.edge = whole.edge;
    local_.grid = grid;
    local_.lame = restrict_lame(exec, whole.grid, whole.lame, ranks.table, grid);
    const OwnedNodes& owned = grid.owned;
    const auto mask = make_zeros<std::uint8_t>(exec, grid.num_nodes, "ossatura::held_mask");
    Kokkos::deep_copy(
        exec, detail::part_of<std::uint8_t, Exec>(mask, owned.begin, owned.count()),
        detail::part_of<std::uint8_t, Exec>(whole.held.mask, owned.global_begin, owned.count()));
    Halo<Exec, std::uint8_t>(exec, ranks.comm, ranks.plan, 1).exchange(exec, mask);
    local_.held = make_constraints(exec, mask);
    const int begin = int(owned.global_begin);
    gather_ = ShareGather<Exec, double>(
        exec, ranks.comm, {begin, begin + owned.count(), owned.global_begin, owned.global_count});
    local_.ranks = std::make_shared<const VoxelRanks<Exec>>(ranks);
  }

  const VoxelProblem<Exec>& local() const { return local_; }

  /// What this process sees of a whole vector; an empty one of an empty one. By all processes.
  Array<double, Exec> take(const Exec& exec, const Array<double, Exec>& whole) const {
    if (whole.extent(0) == 0)
      return {};
    OSSATURA_REQUIRE(std::int64_t(whole.extent(0)) == num_dofs_,
                     whole.extent(0) << " entries of " << num_dofs_);
    const OwnedNodes& owned = local_.grid.owned;
    const auto part = make_zeros<double>(exec, local_.grid.num_dofs(), "ossatura::whole_cut::part");
    Kokkos::deep_copy(exec,
                      detail::part_of<double, Exec>(part, 3 * std::int64_t(owned.begin),
                                                    3 * std::int64_t(owned.count())),
                      detail::part_of<double, Exec>(whole, 3 * owned.global_begin,
                                                    3 * std::int64_t(owned.count())));
    halo_.exchange(exec, part);
    return part;
  }

  /// The whole vector, on all processes, from what each has at owned nodes. By all processes.
  void join(const Exec& exec, const Array<double, Exec>& part,
            const Array<double, Exec>& whole) const {
    const OwnedNodes& owned = local_.grid.owned;
    Kokkos::deep_copy(exec,
                      detail::part_of<double, Exec>(whole, 3 * owned.global_begin,
                                                    3 * std::int64_t(owned.count())),
                      detail::part_of<double, Exec>(part, 3 * std::int64_t(owned.begin),
                                                    3 * std::int64_t(owned.count())));
    gather_.gather(exec, whole);
  }

private:
  VoxelProblem<Exec> local_;
  std::int64_t num_dofs_;
  Halo<Exec, double> halo_;
  ShareGather<Exec, double> gather_;
};

} // namespace ossatura
