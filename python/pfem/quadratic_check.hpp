// SPDX-License-Identifier: Apache-2.0
// describe_quadratic_fault finds curved elements that do not fit their vertices or their
// neighbours.
#pragma once

#include <ossatura/core/mesh/hexa/entities.hpp>

#include <string>
#include <vector>

namespace ossatura::python {

/// Of `quadratic` [num_elem, 27, 3], as make_quadratic_map() takes it: the first point that is not
/// finite, that of a vertex elsewhere than the mesh has it, or that of an edge or a face elsewhere
/// than another element has it, and the remedy; else an empty string.
std::string describe_quadratic_fault(const ElementMesh& mesh, const HexaEntities& entities,
                                     const std::vector<double>& quadratic);

} // namespace ossatura::python
