// SPDX-License-Identifier: Apache-2.0
// A MeshSelector finds the nodes and elements of a mesh that a problem means.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/hexa/model.hpp>
#include <ossatura/core/mesh/lattice_body.hpp>
#include <ossatura/core/mesh/mesh_selection.hpp>
#include <ossatura/core/mesh/solids/mesh.hpp>

#include <map>

namespace ossatura {

using MeshSets = std::map<std::string, std::vector<std::int32_t>>; ///< numbers by name

using MeshFaceSets = std::map<std::string, std::vector<FaceCorners>>; ///< HexaModel::face_sets
using MeshEdgeSets = std::map<std::string, std::vector<EdgeEnds>>;    ///< HexaModel::edge_sets

/// All faces (edges) that may be taken where a file says which ones a set of nodes has, else null.
const std::vector<FaceCorners>* faces_of_set(const MeshFaceSets& sets,
                                             const MeshSelection& selection);
const std::vector<EdgeEnds>* edges_of_set(const MeshEdgeSets& sets, const MeshSelection& selection);

/// Refuses a set of curves or points, where `faces` are those of a set and are none, for what acts
/// on faces; `remedy` ends the message.
void require_faces(const MeshSelection& selection, const std::vector<FaceCorners>* faces,
                   const std::string& place, const std::string& remedy);

/// Refuses a set of surfaces of whose `faces` fewer (`on_boundary`) are on the boundary: a load on
/// the others would be left out.
void require_on_boundary(const MeshSelection& selection, const std::vector<FaceCorners>* faces,
                         std::size_t on_boundary, const std::string& place);

/// The words for a mesh in messages, and the mesh's precision.
struct MeshTraits {
  const char* node = "node";
  std::string body = "the body";
  /// Why numbers mean nothing, and what to choose by; empty where they are those that users know.
  std::string no_numbers;
};

class MeshSelector {
public:
  /// Mesh and sets must outlive this.
  MeshSelector(const ElementMesh& mesh, const MeshSets& node_sets, const MeshSets& elem_sets,
               MeshTraits traits);
  MeshSelector(const SolidMesh& mesh, const MeshSets& node_sets, const MeshSets& elem_sets,
               MeshTraits traits);
  /// The same of the elements and nodes of a lattice.
  MeshSelector(const LatticeBody& lattice, const MeshSets& node_sets, const MeshSets& elem_sets,
               MeshTraits traits);

  /// Numbers, ascending and each once; throw InputError where there are none, with the names of the
  /// sets or the extent of the body.
  std::vector<std::int32_t> nodes(const MeshSelection& selection) const;
  std::vector<std::int32_t> elements(const MeshSelection& selection) const;

  const Box& bounds() const { return bounds_; }
  /// Lengths below this are rounding.
  double slack() const { return slack_; }

private:
  struct Kind;
  std::vector<std::int32_t> select(const MeshSelection& selection, const Kind& kind) const;
  std::vector<std::int32_t> in_place(const MeshSelection& selection, const Kind& kind) const;
  std::vector<std::int32_t> find_in_mesh(const MeshSelection& selection, bool is_elem) const;
  std::vector<std::int32_t> find_in_lattice(const MeshSelection& selection, bool is_elem) const;
  std::array<double, 3> centre_of(std::size_t elem) const;
  double slack_of(const MeshSelection& selection) const;
  bool has(const MeshSelection& selection, const double* x, double slack) const;
  std::size_t num_nodes() const;
  std::size_t num_elem() const;

  const ElementMesh* mesh_ = nullptr; ///< or one of the next
  const SolidMesh* solids_ = nullptr;
  const LatticeBody* lattice_ = nullptr;
  const MeshSets& node_sets_;
  const MeshSets& elem_sets_;
  MeshTraits traits_;
  Box bounds_;
  double slack_;
};

} // namespace ossatura
