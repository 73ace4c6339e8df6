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
///     static constexpr const char* description;  // for the help
///     static constexpr bool published;  // the method of a paper, which no default chooses
///     static constexpr bool fuses_updates;  // has apply_then: fused_updates/fused.hpp
///     static constexpr bool sums_updates;   // optional: takes updates that sum up, see there, and
///     std::int64_t num_sums() const;        // has so many parts with a sum each
///     static constexpr bool is_reproducible;  // on Exec, to the bit, for any number of threads
///     static constexpr int flops_per_voxel;  // of a product; forming matrices is not counted
///     // Stored beside grid and moduli, about.
///     static double bytes_kept(double num_nodes, double num_elem);
///     // What a product reads to find nodes and voxels.
///     double index_bytes() const;
///     // y = A x, unconstrained; [3 num_nodes], not aliased; no fence. Where the grid is a part of
///     // one that is cut among processes, y at owned nodes (VoxelGrid::owned); x is known at all.
///     void apply(exec, x, y) const;
///
/// gather_operator.hpp is the shortest example. A further operator needs a line in
/// operator_list.hpp and a source in solvers/bone/pcg: docs/extending.md.
template<class Operator, class Exec, class Scalar>
constexpr bool is_voxel_operator = detail::IsVoxelOperator<Operator, Exec, Scalar>::value;

} // namespace ossatura
