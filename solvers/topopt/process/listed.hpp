// SPDX-License-Identifier: Apache-2.0
// A process on a mesh of elements of any shape is by lists.
#pragma once

#include <ossatura/solvers/topopt/problem.hpp>
#include <ossatura/solvers/topopt/process/element_process.hpp>

#include <memory>

namespace ossatura {

/// `volume` [num_elem], m^3, in the order of the mesh. Elements that draw needs to be solid become
/// so in `role`. Throws std::invalid_argument where the mesh does not fit, and for overhang.
/// Fences.
template<class Exec>
std::unique_ptr<ElementProcess<Exec>>
make_listed_process(const Exec& exec, const DesignProblem& problem, const DesignProcess& process,
                    const Array<double, Exec>& volume, const Array<std::uint8_t, Exec>& role);

} // namespace ossatura
