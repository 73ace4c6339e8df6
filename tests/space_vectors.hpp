// SPDX-License-Identifier: Apache-2.0
// Vectors of three numbers, for volumes and normals in host tests.
#pragma once

#include <array>

namespace ossatura_test {

using Vector = std::array<double, 3>;

inline Vector operator-(const Vector& a, const Vector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

} // namespace ossatura_test
