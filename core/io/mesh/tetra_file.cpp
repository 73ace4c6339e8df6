// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/mesh/tetra_file.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/gmsh/read_mesh.hpp>
#include <ossatura/core/io/opencarp/text_mesh.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/io/vtk/legacy.hpp>
#include <ossatura/core/io/vtk/vtkhdf_grid.hpp>
#include <ossatura/core/io/vtk/vtu.hpp>

#include <cmath>

#include <sys/stat.h>

namespace ossatura {
namespace {

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

bool cut_any(std::string& path, std::initializer_list<const char*> extensions) {
  for (const char* extension : extensions)
    if (cut_extension(path, extension))
      return true;
  return false;
}

void read_directions(const std::string& path, TetraMesh& mesh) {
  std::string name = path;
  if (cut_extension(name, ".blon"))
    read_binary_directions(path, mesh);
  else
    read_text_directions(path, mesh);
}

TetraMesh read_opencarp(const std::string& name, bool binary, const TetraFileOptions& options) {
  const double unit = options.unit.value_or(0.001);
  TetraMesh mesh = binary ? read_opencarp_binary(name + ".bpts", name + ".belem", unit)
                          : read_opencarp_text(name + ".pts", name + ".elem", unit);
  const std::string directions = name + (binary ? ".blon" : ".lon");
  if (options.fibre_file.empty() && exists(directions))
    read_directions(directions, mesh);
  return mesh;
}

TetraMesh read_by_name(const std::string& path, const TetraFileOptions& options) {
  const double unit = options.unit.value_or(1);
  std::string name = path;
  if (cut_extension(name, ".msh"))
    return read_gmsh(path, unit);
  const VtkFieldNames fields{options.tag_field, options.fibre_field, options.sheet_field,
                             options.value_fields};
  if (cut_extension(name, ".vtk"))
    return read_vtk_legacy(path, fields, unit);
  if (cut_extension(name, ".vtu"))
    return read_vtu(path, fields, unit);
  if (cut_any(name, {".hdf", ".vtkhdf"})) {
    VtkGrid grid = read_vtkhdf_grid(path);
    return make_tetra_mesh(grid, fields, unit);
  }
  if (cut_any(name, {".bpts", ".belem", ".blon"}))
    return read_opencarp(name, true, options);
  if (cut_any(name, {".pts", ".elem", ".lon"}) || exists(path + ".pts"))
    return read_opencarp(name, false, options);
  if (exists(path + ".bpts"))
    return read_opencarp(name, true, options);
  if (exists(path))
    fail<InputError>(path,
                     ": is no mesh by its name; .pts/.elem (openCARP), .bpts/.belem (its "
                     "binary form), .msh (Gmsh), .vtk, .vtu, .hdf and .vtkhdf (VTK) are read");
  fail<InputError>(path, ": there is no such mesh: neither this file nor ", path, ".pts or ", path,
                   ".bpts");
}

} // namespace

TetraMesh read_tetra_mesh(const std::string& path, const TetraFileOptions& options) {
  OSSATURA_REQUIRE(!options.unit || (std::isfinite(*options.unit) && *options.unit > 0),
                   "a unit of " << *options.unit << " mm");
  TetraMesh mesh = read_by_name(path, options);
  if (!options.fibre_file.empty()) {
    mesh.sheet.clear();
    read_directions(options.fibre_file, mesh);
  }
  return mesh;
}

} // namespace ossatura
