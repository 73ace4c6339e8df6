// SPDX-License-Identifier: Apache-2.0
#include "core/io/curved_hexa_file.hpp"

#include "core/io/gmsh.hpp"
#include "core/io/input_file.hpp"
#include "core/require.hpp"

#include <cmath>

namespace ossatura {

CurvedHexaFile read_curved_hexa_file(const std::string& path, const ElementFileOptions& options) {
  OSSATURA_REQUIRE(std::isfinite(options.unit) && options.unit > 0,
                   "a unit of " << options.unit << " m");
  std::string name = path;
  CurvedHexaFile curved;
  HexaFile file = cut_extension(name, ".msh")
                      ? read_gmsh_curved_hexa(path, options.unit, curved.geometry.map)
                      : read_hexa_file(path, options);
  curved.model = std::move(file.model);
  curved.geometry.mesh = curved.model.mesh;
  curved.unused_points = file.unused_points;
  curved.notes = std::move(file.notes);
  return curved;
}

} // namespace ossatura
