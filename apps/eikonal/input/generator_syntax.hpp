// SPDX-License-Identifier: Apache-2.0
// This file parses the notation of --generate, which makes a mesh instead of reading one.
#pragma once

#include <ossatura/core/base/names.hpp>

#include <array>
#include <string>

namespace ossatura {

enum class MeshGenerator { ventricles, slab, box };

constexpr Names<MeshGenerator> names_of(MeshGenerator) {
  return {{MeshGenerator::ventricles, "ventricles"},
          {MeshGenerator::slab, "slab"},
          {MeshGenerator::box, "box"}};
}

struct GeneratedMesh {
  MeshGenerator kind;
  double h;                             ///< edge, mm
  std::array<int, 3> cells{20, 20, 20}; ///< box: cubes along x, y and z
  double jitter = 0;                    ///< box: part of an edge by which inner points are moved
  std::string text;                     ///< as written
};

/// KIND[:KEY=VALUE,...]:
///   ventricles:h=0.72          slab:h=0.5          box:n=20,h=1,jitter=0 or box:n=40x20x10
/// Throws std::invalid_argument for other kinds and keys, with a near one, and for values out of
/// range.
GeneratedMesh parse_generated_mesh(const std::string& text);

} // namespace ossatura
