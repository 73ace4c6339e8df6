// SPDX-License-Identifier: Apache-2.0
// HexaParts collects the parts of a model of hexahedra or other solids that a reader finds in a
// file, each with its line, and then becomes the model.
#pragma once

#include <ossatura/core/io/mesh/hexa_file.hpp>
#include <ossatura/core/io/text/number_map.hpp>
#include <ossatura/core/mesh/hexa/faces.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// A pressure into the element on one of its faces, in units of the file.
struct HexaPressure {
  std::int32_t elem;
  int face; ///< row of hexa_face or SolidShape::face, by the nodes as the file has them
  double pressure;
};

struct HexaCase {
  std::string name;
  std::vector<NodeForce> forces; ///< by place
  std::vector<HexaPressure> pressures;
  std::vector<NodeDisplacement> displacements{}; ///< by place, of held components, each once
  std::vector<BodyLoad> body{};                  ///< in units of the file
  std::vector<double> warming{};                 ///< NodeLoads::warming by place, or empty
};

/// What rows of a file hold together, by place, in any order: by the name of their set and 0, or
/// by no name and a number. A row that names a set again takes no more room.
using HeldParts = std::map<std::pair<std::string, std::int64_t>, HeldPart>;
void add_held_set(const std::string& name, std::uint8_t components,
                  const std::vector<std::int32_t>& nodes, HeldParts& parts);
/// A node of a row of its own, which belongs to the others of such rows of one keyword that hold
/// the same component; keywords are numbered from 0.
void add_held_node(std::int64_t keyword, std::uint8_t components, std::int32_t node,
                   HeldParts& parts);

struct HexaParts {
  std::string path;
  double unit = 1; ///< m per unit of length of the file
  /// Names of places as messages have them ("element 12").
  std::function<std::string(std::size_t place)> elem_name, node_name;

  std::vector<double> point;      ///< [num_points, 3], in units of the file
  std::vector<std::int32_t> node; ///< places of points; of each element as many as its kind has
  std::vector<SolidKind> kind;    ///< [num_elem], or empty: all are hexa8
  std::map<std::string, std::vector<std::int32_t>> node_sets, elem_sets; ///< in any order
  std::map<std::string, std::vector<FaceCorners>>
      face_sets{};                                          ///< HexaModel's, by place, in any order
  std::map<std::string, std::vector<EdgeEnds>> edge_sets{}; ///< likewise
  std::vector<std::uint8_t> held; ///< components by place of the point; may end early
  HeldParts held_parts{};         ///< of these
  std::vector<std::vector<std::int32_t>> rigid{}; ///< places of points of free rigid bodies
  std::vector<HexaCase> cases;
  std::optional<FrequencyRequest> frequencies{};
  double young = 0, poisson = 0;         ///< in units of the file
  std::vector<HexaMaterial> materials{}; ///< in units of the file, as HexaModel has them
  std::vector<std::uint8_t> material{};  ///< likewise
  std::vector<std::string> notes;
};

/// Empty parts, with places named by the numbers of the file; refers to the maps.
HexaParts make_numbered_parts(std::string path, double unit, const NumberMap& nodes,
                              const NumberMap& elems);

/// The model: elements turned where they are inside out, points left out that no element has,
/// pressures as consistent forces (2 x 2 Gauss points a face), all loads of a node added up;
/// lengths in m. Where elements are of other kinds than hexa8 it has HexaModel::solids, of which
/// those that are inside out are refused (describe_bad_element). Throws InputError for bad
/// elements, and for loads on points that no element has. `turned`, where given, becomes which
/// elements were turned.
HexaFile make_hexa_file(HexaParts&& parts, std::vector<bool>* turned = nullptr);

} // namespace ossatura
