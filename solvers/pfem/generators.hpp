// SPDX-License-Identifier: Apache-2.0
// The generators make bodies that need no file, with supports and loads of their own; docs/pfem.md
// describes them.
#pragma once

#include <ossatura/core/mesh/mesh_selection.hpp>
#include <ossatura/core/pfem/hexa_map.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

std::vector<std::string> pfem_generator_names();

/// What is asked of a generator; each has defaults of its own.
struct PfemGenerator {
  std::string generator;                            ///< one of pfem_generator_names()
  std::optional<std::array<int, 3>> cells;          ///< of a box
  std::optional<std::array<double, 3>> size, shear; ///< m; m / m
  std::optional<double> distort;                    ///< part of an edge
  std::optional<int> along, across, up;             ///< elements of a sphere or a cylinder
  std::optional<double> inner, outer, height;       ///< m
  std::uint64_t seed = 0;                           ///< of the distortion
};

/// A generator takes these where its source says nothing.
struct PfemGeneratorDefaults {
  std::array<int, 3> cells{3, 3, 3};
  std::array<double, 3> size{1, 1, 1}, shear{0.3, 0.2, 0.1}; ///< the latter of sheared
  double distort = 0.2;                                      ///< of distorted
  int along = 1, across = 1, up = 1;
  double inner = 1, outer = 2, height = 1;
  double young = 1; ///< Pa, of a body without a material
};

struct PfemSupport {
  MeshSelection where;
  std::uint8_t components = 7;          ///< bit c: component c is held
  std::array<double, 3> displacement{}; ///< m, of held components
};

struct PfemLoad {
  enum class Kind {
    pressure,  ///< N / m^2, value[0], against the outward normal
    traction,  ///< N / m^2
    force,     ///< N on every vertex
    body_force ///< N / m^3, everywhere
  } kind = Kind::pressure;
  MeshSelection where;
  std::array<double, 3> value{};
  std::string place;
};

/// What is known of a solution in closed form.
struct PfemExact {
  std::string source; ///< in words
  double energy = 0;  ///< J, of strains
  std::function<void(const double (&x)[3], double (&u)[3])> displacement;
};

struct PfemBody {
  CurvedHexaMesh shape;
  std::string source; ///< in words
  std::vector<PfemSupport> supports;
  std::vector<PfemLoad> loads;
  bool is_exact = false; ///< its map is that of a body with a curved surface
  /// The solution for these supports and loads and an isotropic material; empty: not known.
  std::function<PfemExact(double young, double poisson)> exact;
};

PfemBody generate_pfem(const PfemGenerator& source);

} // namespace ossatura
