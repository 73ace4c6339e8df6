// SPDX-License-Identifier: Apache-2.0
// This file turns a problem as users write it into the problem that is solved: mesh read or made,
// sets and boxes turned into nodes and elements.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/driver/problem/loaded_box.hpp"
#include "apps/topopt/input/options.hpp"
#include "apps/topopt/input/problem_document.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// The mesh of a body that is stated by a lattice, made when it is first asked for.
struct MeshOnDemand {
  std::once_flag made;
  ElementMesh mesh;
};

/// The closed surface that a body of cubes fills.
struct FilledBody {
  TriangleSurface surface; ///< m
  std::shared_ptr<const LatticeBody> cubes;
};

struct TopoptModel {
  DesignProblem problem;
  DesignOptions options;
  std::vector<std::string> case_names; ///< of problem.cases
  std::string source;                  ///< file or generator
  double unit = 1;                     ///< m per unit of length of the source
  std::optional<double> mass_density;  ///< kg / m^3
  std::int64_t unused_points = 0, reference_points = 0;
  std::vector<std::int32_t> supported; ///< nodes held otherwise than by mirrors
  std::vector<LoadedBox> loaded_boxes; ///< of tractions
  std::int64_t num_kept = 0;           ///< elements that are solid as they are near these or loads
  bool has_steps = false;              ///< how many is said by the user
  int levels = 0;                      ///< coarser grids before, of a problem from the user
  std::string start_from;              ///< likewise: the design of another mesh, or empty
  double frequencies_below = 0;        ///< Hz, of those that a deck asks for; 0: any
  bool whole = false;                  ///< the surface has its images in the mirrors
  std::shared_ptr<const FilledBody> filled; ///< of a body from a closed surface

  std::int64_t num_nodes() const { return std::int64_t(problem.num_nodes()); }
  std::int64_t num_elem() const { return std::int64_t(problem.num_elem()); }
  /// For files; threads may ask for it at a time. Of a lattice it is 88 bytes an element.
  const ElementMesh& mesh() const;
  std::int64_t num_held() const; ///< components
  std::int64_t count(DesignRole role) const;

private:
  std::shared_ptr<MeshOnDemand> on_demand_ = std::make_shared<MeshOnDemand>();
};

/// The document of a problem file, a mesh file or a generator.
ProblemDocument make_document(const TopoptCommandOptions& options);

/// Reads the problem and its mesh, and records them as inputs. Throws InputError, naming file,
/// place and remedy, for what does not fit the mesh: selections of nothing, supports that let the
/// body move, loads on void or held nodes, nothing left to design.
TopoptModel make_topopt_model(const TopoptCommandOptions& options, DriverContext& context);

/// The same without command line: for a document as it is, but for `changes` of its options.
TopoptModel build_topopt_model(ProblemDocument document,
                               const Changes<DesignOptions>& changes = {});

} // namespace ossatura
