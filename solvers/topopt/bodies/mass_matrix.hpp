// SPDX-License-Identifier: Apache-2.0
// A MassMatrix is the consistent mass matrix of the elements of a body, in the order of its
// vectors.
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

template<class Exec>
class MassMatrix {
public:
  using Vector = Array<double, Exec>;

  virtual ~MassMatrix() = default;

  /// y = M x for elements of `mass` [num_elem] kg / m^3; x, y [count, num_nodes, 3], all
  /// components. The same for any number of threads. Does not fence.
  virtual void apply(const Exec& exec, const Vector& mass, int count, const Vector& x,
                     const Vector& y) const = 0;
  /// energy(e) += weight u . M_e u for 1 kg / m^3. Does not fence.
  virtual void add_energies(const Exec& exec, double weight, const Vector& u,
                            const Vector& energy) const = 0;
};

} // namespace ossatura
