// SPDX-License-Identifier: Apache-2.0
// read_vtu reads unstructured grids from VTK's XML format, .vtu: numbers as text, base64 or
// appended bytes, also compressed by zlib.
#pragma once

#include <ossatura/core/io/vtk/grid.hpp>

namespace ossatura {

VtkGrid read_vtu_grid(const std::string& path);
TetraMesh read_vtu(const std::string& path, const VtkFieldNames& names, double unit);

} // namespace ossatura
