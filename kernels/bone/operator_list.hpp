// SPDX-License-Identifier: Apache-2.0
// The list names all voxel operators, for tests and benchmarks that run on each operator.
#pragma once

#include <ossatura/kernels/bone/brick_operator.hpp>
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/kernels/bone/offset_operator.hpp>
#include <ossatura/kernels/bone/operator.hpp>
#include <ossatura/kernels/bone/published/hash_operator.hpp>

namespace ossatura {

/// An operator, and whether its products are bitwise reproducible on devices too (on cores all
/// are).
template<template<class> class Operator, bool ReproducibleOnDevices>
struct VoxelOperatorFamily {
  template<class Exec>
  using type = Operator<Exec>;
  template<class Exec>
  static constexpr bool reproducible = ReproducibleOnDevices || !BackendTraits<Exec>::is_device;
};

/// Calls visit(VoxelOperatorFamily<...>()) for every operator.
template<class Visit>
void for_each_voxel_operator(const Visit& visit) {
  visit(VoxelOperatorFamily<OffsetOperator, false>());
  visit(VoxelOperatorFamily<HashOperator, false>());
  visit(VoxelOperatorFamily<GatherOperator, true>());
  visit(VoxelOperatorFamily<BrickOperator, true>());
}

} // namespace ossatura
