// SPDX-License-Identifier: Apache-2.0
// The generators make problems of topology optimisation that need no file; docs/topopt.md describes
// them.
#pragma once

#include <ossatura/solvers/topopt/problem.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

struct GeneratorInfo {
  const char* name;
  std::array<int, 3> cells, least; ///< if none are given, and at least
  const char* summary;
};

const std::vector<GeneratorInfo>& generator_infos();
std::vector<std::string> generator_names();

/// A vector for a set of nodes of the mesh.
struct NodeSetVector {
  std::string set;
  std::array<double, 3> value;
};

/// A mesh with sets, supports and load cases, and what refers to these sets.
struct GeneratedDesign {
  std::shared_ptr<const LatticeBody> lattice; ///< in the place of the model's mesh, or null
  HexaModel model; ///< of Young's modulus 1 Pa, Poisson's ratio 0.3 and loads of 1 N in all
  std::vector<std::pair<std::string, DesignRole>> passive; ///< sets of elements
  std::vector<MirrorPlane> mirrors;
  bool is_mechanism = false;
  std::vector<NodeSetVector> outputs; ///< direction in which the mean of the nodes is to move
  std::vector<NodeSetVector> springs; ///< N / m, shared by the nodes
};

/// The box of `cells` has the given `size` (m). Throws InputError for fewer cells than the problem
/// needs.
GeneratedDesign generate_design(const std::string& name, const std::array<int, 3>& cells,
                                const std::array<double, 3>& size);

/// The same with the body as cells of a lattice, whose numbers are those of the mesh.
GeneratedDesign generate_lattice_design(const std::string& name, const std::array<int, 3>& cells,
                                        const std::array<double, 3>& size);

} // namespace ossatura
