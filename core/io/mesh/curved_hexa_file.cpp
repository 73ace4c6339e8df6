// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/mesh/curved_hexa_file.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/gmsh/read_mesh.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <cmath>

namespace ossatura {

CurvedHexaFile read_curved_hexa_file(const std::string& path, const ElementFileOptions& options) {
  OSSATURA_REQUIRE(std::isfinite(options.unit) && options.unit > 0,
                   "a unit of " << options.unit << " m");
  ElementFileOptions of_hexa = options;
  of_hexa.taken = "hexahedra of eight nodes are read from files of VTK; mesh with these, or with "
                  "hexahedra of 20 or 27 nodes in Gmsh's format (.msh)";
  std::string name = path;
  CurvedHexaFile curved;
  HexaFile file = cut_extension(name, ".msh")
                      ? read_gmsh_curved_hexa(path, options.unit, curved.geometry.map)
                      : read_hexa_file(path, of_hexa);
  if (file.model.solids)
    fail<InputError>(path,
                     ": has other elements than hexahedra of eight nodes; mesh with these, or "
                     "with hexahedra of 20 or 27 nodes in Gmsh's format");
  curved.model = std::move(file.model);
  curved.geometry.mesh = curved.model.mesh;
  curved.unused_points = file.unused_points;
  curved.reference_points = file.reference_points;
  curved.notes = std::move(file.notes);
  return curved;
}

} // namespace ossatura
