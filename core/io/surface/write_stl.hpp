// SPDX-License-Identifier: Apache-2.0
// write_stl writes triangle surfaces to .stl files.
#pragma once

#include <ossatura/core/io/surface/reader.hpp>

#include <string>

namespace ossatura {

/// Writes binary STL (single precision), whole or not at all. Readers take corners at the same
/// position for one vertex, so vertices that rounding puts on one another, and those that are there
/// already, are set apart by as few units in the last place of the largest coordinate as it takes:
/// a surface that is closed by its numbers is closed in the file. `header`: the first bytes of the
/// file, at most 80, not beginning with "solid", by which text files are known. Throws InputError
/// where the file cannot be written or a coordinate is outside single precision,
/// std::invalid_argument for a header or a vertex number that cannot be.
void write_stl(const std::string& path, const TriangleSurface& surface, const std::string& header);

} // namespace ossatura
