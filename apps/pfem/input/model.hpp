// SPDX-License-Identifier: Apache-2.0
// This file turns a problem as users write it into the model that is solved: mesh read or made,
// modes numbered, supports and loads on the modes.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/driver/problem/loaded_box.hpp"
#include "apps/pfem/input/document.hpp"
#include "apps/pfem/input/options.hpp"
#include <ossatura/core/pfem/numbering.hpp>
#include <ossatura/solvers/pfem/generators.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

struct PfemModel {
  CurvedHexaMesh shape;
  HexaEntities entities;
  HierarchicNumbering numbering;
  ElasticityField elasticity;
  /// What `elasticity` is made of, with the number of elements of each.
  std::vector<std::pair<PfemMaterial, std::int64_t>> materials;
  std::vector<std::uint8_t> held;   ///< [num_modes] bit c: component c is prescribed
  std::vector<double> displacement; ///< m, [num_modes, 3]: the prescribed ones, else 0
  std::vector<double> force;        ///< N, [num_modes, 3]

  /// Vertices whose reactions belong together, and which components of them.
  struct Support {
    std::string place;
    std::uint8_t components;
    std::vector<std::int32_t> vertices;
    std::vector<std::int32_t> points; ///< of these, those without an edge to another one
  };
  std::vector<Support> supports;
  std::size_t num_loads = 0;
  std::vector<LoadedBox> loaded_boxes; ///< of tractions and pressures

  PfemOptions options;
  std::optional<PfemExact> exact;
  std::string source; ///< file or generator
  std::int64_t unused_points = 0, reference_points = 0;

  std::int64_t num_vertices() const { return std::int64_t(shape.mesh.num_points()); }
  std::int64_t num_elem() const { return std::int64_t(shape.mesh.num_elem()); }
  std::int64_t num_held() const; ///< components
  int highest_order() const;
  std::map<int, std::int64_t> elements_by_order() const;
  bool is_trilinear() const { return !shape.map; }
};

/// The document of a problem file, a mesh file or a generator, with what the command line says.
PfemDocument make_pfem_document(const PfemCommandOptions& options);

/// Reads the problem and its mesh, and records them as inputs. Throws InputError, naming file,
/// place and remedy, for what does not fit the mesh: selections of nothing, supports that let the
/// body move, elements without material.
PfemModel make_pfem_model(const PfemCommandOptions& options, DriverContext& context);

/// The same without command line: for a document as it is.
PfemModel build_pfem_model(const PfemDocument& document);

} // namespace ossatura
