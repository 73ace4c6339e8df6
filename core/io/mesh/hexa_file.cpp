// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/mesh/hexa_file.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/abaqus/model.hpp>
#include <ossatura/core/io/ansys/model.hpp>
#include <ossatura/core/io/gmsh/read_mesh.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <cmath>

namespace ossatura {

HexaFile read_hexa_file(const std::string& path, const ElementFileOptions& options) {
  OSSATURA_REQUIRE(std::isfinite(options.unit) && options.unit > 0,
                   "a unit of " << options.unit << " m");
  std::string name = path;
  if (cut_extension(name, ".inp") || cut_extension(name, ".INP"))
    return read_abaqus(path, options.unit);
  if (cut_extension(name, ".cdb") || cut_extension(name, ".CDB"))
    return read_ansys(path, options.unit);
  if (cut_extension(name, ".msh"))
    return read_gmsh_hexa(path, options.unit);
  if (cut_extension(name, ".vtk") || cut_extension(name, ".vtu") || cut_extension(name, ".hdf") ||
      cut_extension(name, ".vtkhdf")) {
    ElementFileOptions of_hexa = options;
    if (of_hexa.taken == nullptr)
      of_hexa.taken = "hexahedra of eight nodes are read from files of VTK; other shapes and those "
                      "of second order from decks of Abaqus and CalculiX (.inp)";
    ElementFile mesh = read_element_mesh(path, of_hexa);
    if (mesh.mesh.shape != ElementShape::hexa)
      fail<InputError>(path, ": its elements are of shape ", name_of(mesh.mesh.shape), ": ",
                       of_hexa.taken);
    HexaFile file;
    file.model.mesh = std::move(mesh.mesh);
    file.unused_points = mesh.unused_points;
    return file;
  }
  require_input_file(path);
  fail<InputError>(path, ": is no model of hexahedra by its name; .inp (Abaqus, CalculiX), .cdb "
                         "(Ansys), .msh (Gmsh), .vtk, .vtu, .hdf and .vtkhdf (VTK) are read");
}

} // namespace ossatura
