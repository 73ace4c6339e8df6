// SPDX-License-Identifier: Apache-2.0
// The generators make bodies that need no file, with supports and loads of their own; docs/pfem.md
// describes them.
#pragma once

#include "apps/pfem/input/document.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

std::vector<std::string> pfem_generator_names();

/// Throws InputError, "WHERE `key` ...", for sizes that the generator does not have and for an
/// inner radius that is not less than the outer one. Keys begin with `dashes`, or are quoted where
/// that is empty.
void check_generator(const PfemSource& source, const std::string& where, const std::string& dashes);

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

PfemBody generate_pfem(const PfemSource& source);

} // namespace ossatura
