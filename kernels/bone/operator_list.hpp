// SPDX-License-Identifier: Apache-2.0
// The list names all voxel operators: names, help, the solver, predictions of memory, tests and
// benchmarks follow it.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/kernels/bone/brick/operator.hpp>
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/kernels/bone/offset_operator.hpp>
#include <ossatura/kernels/bone/operator.hpp>
#include <ossatura/kernels/bone/published/hash_operator.hpp>

namespace ossatura {

/// The entries of VoxelOperators, whose classes describe them.
enum class VoxelOperatorKind { offset, hash, gather, brick };

template<VoxelOperatorKind Kind, class Operator>
struct VoxelOperatorEntry {
  static constexpr VoxelOperatorKind kind = Kind;
  using type = Operator;
};

template<class... Entries>
struct VoxelOperatorList {
  static constexpr Names<VoxelOperatorKind> names() {
    return {{Entries::kind, Entries::type::name, Entries::type::published}...};
  }
  /// Calls visit(VoxelOperatorEntry<...>()) for every operator.
  template<class Visit>
  static void for_each(const Visit& visit) {
    (visit(Entries()), ...);
  }
  /// The same for that of one kind.
  template<class Visit>
  static void find(VoxelOperatorKind kind, const Visit& visit) {
    if (!((Entries::kind == kind && (visit(Entries()), true)) || ...))
      fail<UsageError>("there is no voxel operator ", int(kind));
  }
};

template<class Exec>
using VoxelOperators =
    VoxelOperatorList<VoxelOperatorEntry<VoxelOperatorKind::offset, OffsetOperator<Exec>>,
                      VoxelOperatorEntry<VoxelOperatorKind::hash, HashOperator<Exec>>,
                      VoxelOperatorEntry<VoxelOperatorKind::gather, GatherOperator<Exec>>,
                      VoxelOperatorEntry<VoxelOperatorKind::brick, BrickOperator<Exec>>>;

/// For what is the same on every backend.
using AnyVoxelOperators = VoxelOperators<Kokkos::DefaultHostExecutionSpace>;

constexpr Names<VoxelOperatorKind> names_of(VoxelOperatorKind) {
  return AnyVoxelOperators::names();
}

} // namespace ossatura
