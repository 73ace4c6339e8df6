// SPDX-License-Identifier: Apache-2.0
// Which vertices, faces and elements of a mesh a problem means.
#pragma once

#include "apps/pfem/pfem_document.hpp"
#include "core/hexa_entities.hpp"
#include "solvers/hierarchic_loads.hpp"

#include <map>
#include <string>
#include <vector>

namespace femura {

using MeshSets = std::map<std::string, std::vector<std::int32_t>>;

/// Vertices and faces of a part of the boundary.
struct PfemPart {
  std::vector<std::int32_t> vertices; ///< ascending
  std::vector<ElementFace> faces;     ///< those of the boundary whose vertices are all chosen
};

class PfemSelector {
public:
  /// Mesh, entities and sets must outlive this. `no_numbers` says why numbers are not those that
  /// users know; empty where they are.
  PfemSelector(const ElementMesh& mesh, const HexaEntities& entities, const MeshSets& node_sets,
               const MeshSets& elem_sets, std::string no_numbers);

  /// Throw InputError where nothing is chosen, with the names of the sets or the extent of the
  /// body.
  PfemPart part(const PfemSelection& selection) const;
  std::vector<std::int32_t> elements(const PfemSelection& selection) const; ///< ascending

  /// The part whose vertices are these.
  PfemPart part_of(std::vector<std::int32_t> vertices) const;

private:
  std::vector<std::int32_t> select(const PfemSelection& selection, const MeshSets& sets,
                                   std::size_t count, const char* what, bool by_centres) const;
  bool has(const PfemSelection& selection, const double* x) const;

  const ElementMesh& mesh_;
  const MeshSets& node_sets_;
  const MeshSets& elem_sets_;
  std::string no_numbers_;
  std::vector<ElementFace> boundary_;
  std::array<double, 6> bounds_; ///< of the vertices
  double slack_;                 ///< lengths below this are rounding, that of files included
};

} // namespace femura
