// SPDX-License-Identifier: BSD-3-Clause
// All voxel operators, for tests of what every one of them promises.
#pragma once

#include "kernels/brick_operator.hpp"
#include "kernels/gather_operator.hpp"
#include "kernels/hash_operator.hpp"
#include "kernels/offset_operator.hpp"

namespace femura::test {

/// An operator, and whether its products are bitwise reproducible on devices too (on cores all
/// are).
template<template<class> class Operator, bool ReproducibleOnDevices>
struct OperatorKind {
  template<class Exec>
  using type = Operator<Exec>;
  template<class Exec>
  static constexpr bool reproducible = ReproducibleOnDevices || !BackendTraits<Exec>::is_device;
};

/// Calls visit(OperatorKind<...>()) for every operator.
template<class Visit>
void for_each_operator(const Visit& visit) {
  visit(OperatorKind<OffsetOperator, false>());
  visit(OperatorKind<HashOperator, false>());
  visit(OperatorKind<GatherOperator, true>());
  visit(OperatorKind<BrickOperator, true>());
}

} // namespace femura::test
