// SPDX-License-Identifier: Apache-2.0
// A STEP file is read by scripts/mesh_step.py, which asks the OpenCASCADE kernel of gmsh for the
// triangles of its surface: a kernel of CAD is not linked.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

struct StepSurface {
  TriangleSurface surface;        ///< closed, in mm
  std::vector<std::int32_t> face; ///< [triangles] numbers that `mesh_step.py --list` shows

  /// The triangles of a face; none: there is no such face.
  TriangleSurface of_face(std::int32_t number) const;
  std::vector<std::int32_t> faces() const; ///< numbers, ascending
};

/// By the ending: .step, .stp, .iges, .igs or .brep, large letters too.
bool is_step(const std::string& path);

/// Runs the script, installed as share/ossatura/mesh_step.py, by python3, or by what
/// OSSATURA_PYTHON names. Nothing is written to disk. Throws InputError, with what the script says,
/// for a file that is missing or no solid, and where Python, gmsh or the script are missing.
StepSurface read_step(const std::string& path);

} // namespace ossatura
