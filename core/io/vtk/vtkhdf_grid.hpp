// SPDX-License-Identifier: Apache-2.0
// read_vtkhdf_grid reads unstructured grids of VTKHDF: files of fields of this project, and those
// that VTK and ParaView save.
//
// [1] VTK file formats, "VTKHDF", docs.vtk.org.
#pragma once

#include <ossatura/core/io/vtk/grid.hpp>

namespace ossatura {

/// One piece, no steps of time. By all threads where io/hdf5/parallel_read.hpp says so. Throws
/// InputError for other files.
VtkGrid read_vtkhdf_grid(const std::string& path);

} // namespace ossatura
