// SPDX-License-Identifier: Apache-2.0
// Benchmarks of soft bodies run on these bodies, with the matrix of their first step and its
// factor.
#pragma once

#include "bench/harness/options.hpp"
#include <ossatura/core/base/names.hpp>
#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/kernels/factor/pattern.hpp>
#include <ossatura/kernels/softbody/elements/material.hpp>
#include <ossatura/solvers/factor/on_host.hpp>
#include <ossatura/solvers/softbody/options.hpp>
#include <ossatura/solvers/softbody/scene.hpp>

#include <cstdint>
#include <vector>

namespace ossatura::bench {

/// Meshes of [1]. Those of the raptor are read from $OSSATURA_SHARED_DATA/softbody.
///
/// [1] Z. Zeng, H. Courtecuisse. Efficient parallelization strategy for real-time FE simulations.
///     arXiv:2306.05893 (2023).
enum class SoftModel {
  raptor1,  ///< 8418 tetrahedra
  raptor2,  ///< 12580
  raptor3,  ///< 19409
  cloth,    ///< 70^2 nodes, triangles, held at two corners
  cube,     ///< 20^3 nodes, hexahedra, held at the bottom
  box,      ///< 5 x 4 x 4 hexahedra, for checks that the benchmark runs
  tetra_box ///< the same cut into tetrahedra
};
constexpr Names<SoftModel> names_of(SoftModel) {
  return {{SoftModel::raptor1, "raptor1"},    {SoftModel::raptor2, "raptor2"},
          {SoftModel::raptor3, "raptor3"},    {SoftModel::cloth, "cloth"},
          {SoftModel::cube, "cube"},          {SoftModel::box, "box"},
          {SoftModel::tetra_box, "tetra_box"}};
}

/// Those that can be run here: with --quick the box alone, and raptors where their files are.
std::vector<SoftModel> soft_models(const Options& options);

/// Host memory. Nodes are numbered as the factor is.
struct SoftProblem {
  ElementMesh mesh;
  SoftMaterial material;           ///< corotational
  std::vector<double> factor;      ///< [num_elem] of the moduli, or empty
  std::vector<std::uint8_t> fixed; ///< [num_points]
  double time_step = 0.04;         ///< s; these are the values of the scene in [1]
  double rayleigh_mass = 0.1;      ///< 1/s
  double rayleigh_stiffness = 0.1; ///< s
  double node_mass = 0.01;         ///< kg

  /// A = (1 + h alpha) M + h (h + beta) K at rest, fixed nodes as rows and columns of I.
  std::vector<int> row_begin, column; ///< 3 x 3 blocks
  std::vector<double> value;          ///< [num_blocks, 9]
  FactorPattern pattern;
  HostFactor ldlt;

  int num_nodes() const { return int(mesh.num_points()); }
};

/// Throws InputError where a mesh file cannot be used.
SoftProblem make_soft_problem(SoftModel model);

/// The same body before it moves, of another law with the same moduli at rest, with the loads that
/// set it in motion; and the problem's step and damping.
SoftScene soft_scene(SoftModel model, SoftLaw law);
SoftOptions soft_options(SoftModel model);

/// The problem asked for last; the next one takes its place.
const SoftProblem& cached_soft_problem(SoftModel model);

} // namespace ossatura::bench
