// SPDX-License-Identifier: Apache-2.0
// write_3mf writes triangle surfaces to .3mf files, as printers' programs read them: with a unit,
// and vertices that triangles share by number.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>

#include <string>

namespace ossatura {

/// Writes one object of the core specification [1], in mm, whole or not at all; coordinates times
/// `millimetres` are mm. Numbers are written so that they read back exactly. `application` names
/// the program, without characters that XML reserves. Throws InputError where the file cannot be
/// written, or would be 4 GB or more, std::invalid_argument for a vertex number that cannot be, a
/// surface without triangles, coordinates that are not finite and a name with reserved characters.
///
/// [1] 3MF Consortium, 3D Manufacturing Format, core specification 1.3 (2021).
void write_3mf(const std::string& path, const TriangleSurface& surface, double millimetres,
               const std::string& application);

} // namespace ossatura
