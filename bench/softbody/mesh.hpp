// SPDX-License-Identifier: Apache-2.0
// The rows of soft bodies run on these meshes.
#pragma once

#include "bench/harness/options.hpp"
#include <ossatura/core/mesh/element_mesh.hpp>

#include <string>
#include <vector>

namespace ossatura::bench {

/// A mesh by the name and number at the end of a row: "raptor" by its tetrahedra, a file of
/// OSSATURA_SHARED_DATA/softbody; "beam" by its cells along the axis, with 3 x 3 across.
struct SoftMeshName {
  std::string name;
  int n = 0;
};

/// The file of a raptor by its tetrahedra; empty where OSSATURA_SHARED_DATA is not set.
std::string raptor_file(int num_tetra);

/// The beams of --sizes; else the three raptors of Zeng and Courtecuisse (arXiv 2306.05893) or,
/// where OSSATURA_SHARED_DATA is not set, beams of as many tetrahedra and nearly as many nodes.
std::vector<SoftMeshName> soft_mesh_names(const Options& options);

/// The mesh asked for last is kept; the next one takes its place.
const ElementMesh& cached_soft_mesh(const SoftMeshName& name);

} // namespace ossatura::bench
