// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/mesh/element_file.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/gmsh/read_mesh.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/io/vtk/legacy.hpp>
#include <ossatura/core/io/vtk/vtkhdf_grid.hpp>
#include <ossatura/core/io/vtk/vtu.hpp>

#include <cmath>

namespace ossatura {

ElementFile read_element_mesh(const std::string& path, const ElementFileOptions& options) {
  OSSATURA_REQUIRE(std::isfinite(options.unit) && options.unit > 0,
                   "a unit of " << options.unit << " m");
  std::string name = path;
  if (cut_extension(name, ".msh"))
    return read_gmsh_elements(path, options);
  if (cut_extension(name, ".vtk")) {
    VtkGrid grid = read_vtk_legacy_grid(path);
    return make_element_file(grid, options);
  }
  if (cut_extension(name, ".vtu")) {
    VtkGrid grid = read_vtu_grid(path);
    return make_element_file(grid, options);
  }
  if (cut_extension(name, ".hdf") || cut_extension(name, ".vtkhdf")) {
    VtkGrid grid = read_vtkhdf_grid(path);
    return make_element_file(grid, options);
  }
  require_input_file(path);
  fail<InputError>(path,
                   ": is no mesh of a soft body by its name; .msh (Gmsh), .vtk, .vtu, .hdf and "
                   ".vtkhdf (VTK) are read");
}

} // namespace ossatura
