// SPDX-License-Identifier: Apache-2.0
// read_vtk_legacy reads unstructured grids from VTK's legacy format, .vtk, text and binary,
// versions 1.0 to 5.1.
#pragma once

#include <ossatura/core/io/vtk/grid.hpp>

namespace ossatura {

VtkGrid read_vtk_legacy_grid(const std::string& path);
TetraMesh read_vtk_legacy(const std::string& path, const VtkFieldNames& names, double unit);

} // namespace ossatura
