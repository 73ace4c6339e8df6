// SPDX-License-Identifier: Apache-2.0
// read_curved_hexa_file reads models of hexahedra whose shape may be of second order, for elements
// of high order.
#pragma once

#include <ossatura/core/io/mesh/hexa_file.hpp>
#include <ossatura/core/pfem/hexa_map.hpp>

namespace ossatura {

struct CurvedHexaFile {
  HexaModel model;         ///< its nodes are the vertices, whatever other nodes the file has
  CurvedHexaMesh geometry; ///< the same mesh; with a map where its elements are of second order
  std::int64_t unused_points = 0;    ///< points of the file that no element has; they are left out
  std::int64_t reference_points = 0; ///< of these, reference nodes of couplings
  std::vector<std::string> notes;    ///< what the user should know, a sentence each
};

/// Reads what read_hexa_file() reads, and meshes of Gmsh with hexahedra of 20 or 27 nodes: these
/// become triquadratic maps; of 20 nodes, that of the serendipity functions. All elements of a file
/// are of one type. Throws InputError as read_hexa_file() does, and for elements of two types and
/// second-order elements that are inside out anywhere at 3 x 3 x 3 Gauss points.
CurvedHexaFile read_curved_hexa_file(const std::string& path,
                                     const ElementFileOptions& options = {});

} // namespace ossatura
