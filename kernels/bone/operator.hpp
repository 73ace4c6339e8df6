// SPDX-License-Identifier: Apache-2.0
// A voxel operator is a matrix-free stiffness matrix of voxels; this file states the functions that
// solvers call.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>

#include <type_traits>
#include <utility>

namespace ossatura {

namespace detail {
template<class Operator, class Exec, class Scalar, class = void>
struct IsVoxelOperator : std::false_type {};

template<class Operator, class Exec, class Scalar>
struct IsVoxelOperator<Operator, Exec, Scalar,
                       std::void_t<decltype(std::declval<const Operator&>().apply(
                           std::declval<const Exec&>(), std::declval<const Array<Scalar, Exec>&>(),
                           std::declval<const Array<Scalar, Exec>&>()))>>
    : std::is_constructible<Operator, const Exec&, const VoxelGrid<Exec>&, const LameField<Exec>&,
                            double> {};
} // namespace detail

/// A voxel operator is made from (exec, grid, lame, edge of a voxel in mm), is cheap to copy, and
/// has
///
///     static constexpr const char* name;
///     static constexpr bool fuses_updates;  // has apply_then: kernels/algebra/fused_updates.hpp
///     // y = A x, unconstrained; [3 num_nodes], not aliased; no fence
///     void apply(exec, x, y) const;
///
/// See offset_operator.hpp, published/hash_operator.hpp, gather_operator.hpp and
/// brick_operator.hpp. A further one needs a line in operator_list.hpp, a kind in
/// solvers/bone/solver.hpp and a solvers/voxel_pcg_OPERATOR.cpp.
template<class Operator, class Exec, class Scalar>
constexpr bool is_voxel_operator = detail::IsVoxelOperator<Operator, Exec, Scalar>::value;

} // namespace ossatura
