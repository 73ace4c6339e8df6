// SPDX-License-Identifier: Apache-2.0
// Prescribed displacements: what they have in common is a settlement, which strains nothing, and
// what remains decides what is small beside the solution. Not for users.
#pragma once

#include <ossatura/core/base/vector.hpp>

#include <array>
#include <limits>

namespace ossatura::detail {

/// A translation of the held components at vertices by their mean, along axes where any are held.
/// It strains nothing, but where it is large beside what does, the rounding of matrices strains.
template<class Exec>
class Settlement {
public:
  /// Vertices are the first modes. Fences.
  Settlement(const Exec& exec, std::int32_t num_vertices, const Array<std::uint8_t, Exec>& held,
             const Array<double, Exec>& u);

  bool is_none() const { return by_ == std::array<double, 3>{}; }

  /// Takes it from vertices: where nothing but held components has moved, from these alone, as the
  /// start of an iteration. Fences.
  void take(const Exec& exec, const Array<double, Exec>& u);
  /// Takes it from all vertices. Does not fence.
  void take_all(const Exec& exec, const Array<double, Exec>& u) const;
  /// Gives it to all vertices, held components the very values from before take(). Does not fence.
  void give(const Exec& exec, const Array<double, Exec>& u) const;

private:
  std::int32_t num_vertices_;
  Array<std::uint8_t, Exec> held_;
  std::array<double, 3> by_{};
  Array<double, Exec> before_;
};

/// Whether any held component, or any free one, is not 0. Fences.
template<class Exec>
bool has_moved(const Exec& exec, const Array<std::uint8_t, Exec>& held, bool held_ones,
               const Array<double, Exec>& u);

/// What residuals and errors are relative to where displacements are prescribed. The first residual
/// is that of a body whose held part moves alone, which for thin bodies is larger than all forces
/// of the solution by orders of magnitude.
struct SolutionSize {
  double forces = std::numeric_limits<double>::infinity(); ///< loads, and those that move; or: none
  double energy = std::numeric_limits<double>::infinity(); ///< its energy norm; likewise
};

/// `y` = K u, all components. Fences.
template<class Exec>
SolutionSize size_of(const Exec& exec, const Array<std::uint8_t, Exec>& held,
                     const Array<double, Exec>& f, const Array<double, Exec>& u,
                     const Array<double, Exec>& y);

} // namespace ossatura::detail
