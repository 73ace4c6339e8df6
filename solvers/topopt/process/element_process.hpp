// SPDX-License-Identifier: Apache-2.0
// An ElementProcess makes variables and densities of elements suit a process. The mesh of a body
// decides how: by lists of elements, or on a lattice by places.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/solvers/topopt/process/options.hpp>

namespace ossatura {

/// Vectors are [num_elem] in the order of the body.
template<class Exec>
class ElementProcess {
public:
  using Vector = Array<double, Exec>;
  using Roles = Array<std::uint8_t, Exec>;

  virtual ~ElementProcess() = default;

  /// x = L x: free elements that are linked have the mean of theirs by volume. Nothing where none
  /// are linked. Does not fence.
  virtual void link(const Exec& exec, const Roles& role, const Vector& x) const = 0;
  /// gradient = L^T gradient. Does not fence.
  virtual void link_back(const Exec& exec, const Roles& role, const Vector& gradient) const = 0;
  /// Densities of free elements that the process makes of `blueprint`; no aliases. `sharpness` is
  /// of heights that are drawn. Does not fence.
  virtual void shape(const Exec& exec, double sharpness, const Roles& role, const Vector& blueprint,
                     const Vector& density) const = 0;
  /// Makes a gradient by those densities, 0 where elements are not free, one by the blueprint, in
  /// place. Does not fence.
  virtual void shape_back(const Exec& exec, double sharpness, const Roles& role,
                          const Vector& blueprint, const Vector& density,
                          const Vector& gradient) const = 0;
  /// Fences.
  virtual ProcessFaults find_faults(const Exec& exec, const Roles& role,
                                    const Vector& density) const = 0;
};

} // namespace ossatura
