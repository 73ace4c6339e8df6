// SPDX-License-Identifier: Apache-2.0
// These functions compute with vectors of 3 and matrices of 3 x 3, on host and device.
#pragma once

#include <Kokkos_Core.hpp>

namespace ossatura {

struct Vector3 {
  double v[3];

  KOKKOS_FORCEINLINE_FUNCTION double& operator[](int i) { return v[i]; }
  KOKKOS_FORCEINLINE_FUNCTION double operator[](int i) const { return v[i]; }
};

KOKKOS_FORCEINLINE_FUNCTION Vector3 operator+(const Vector3& a, const Vector3& b) {
  return {{a[0] + b[0], a[1] + b[1], a[2] + b[2]}};
}

KOKKOS_FORCEINLINE_FUNCTION Vector3 operator-(const Vector3& a, const Vector3& b) {
  return {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}};
}

KOKKOS_FORCEINLINE_FUNCTION Vector3 operator*(double s, const Vector3& a) {
  return {{s * a[0], s * a[1], s * a[2]}};
}

KOKKOS_FORCEINLINE_FUNCTION double dot(const Vector3& a, const Vector3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

KOKKOS_INLINE_FUNCTION double dot3(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

KOKKOS_FORCEINLINE_FUNCTION Vector3 cross(const Vector3& a, const Vector3& b) {
  return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}

struct Matrix3 {
  Vector3 row[3];

  KOKKOS_FORCEINLINE_FUNCTION double& operator()(int i, int j) { return row[i].v[j]; }
  KOKKOS_FORCEINLINE_FUNCTION double operator()(int i, int j) const { return row[i].v[j]; }
  KOKKOS_FORCEINLINE_FUNCTION Vector3 column(int j) const {
    return {{row[0].v[j], row[1].v[j], row[2].v[j]}};
  }
};

KOKKOS_FORCEINLINE_FUNCTION Matrix3 zero_matrix() {
  return {{{{0, 0, 0}}, {{0, 0, 0}}, {{0, 0, 0}}}};
}

/// The matrix with these columns.
KOKKOS_FORCEINLINE_FUNCTION Matrix3 from_columns(const Vector3& a, const Vector3& b,
                                                 const Vector3& c) {
  return {{{{a[0], b[0], c[0]}}, {{a[1], b[1], c[1]}}, {{a[2], b[2], c[2]}}}};
}

KOKKOS_FORCEINLINE_FUNCTION Matrix3 transpose(const Matrix3& a) {
  return {{a.column(0), a.column(1), a.column(2)}};
}

KOKKOS_FORCEINLINE_FUNCTION Matrix3 operator+(const Matrix3& a, const Matrix3& b) {
  return {{a.row[0] + b.row[0], a.row[1] + b.row[1], a.row[2] + b.row[2]}};
}

KOKKOS_FORCEINLINE_FUNCTION Matrix3 operator*(double s, const Matrix3& a) {
  return {{s * a.row[0], s * a.row[1], s * a.row[2]}};
}

KOKKOS_FORCEINLINE_FUNCTION Vector3 operator*(const Matrix3& a, const Vector3& x) {
  return {{dot(a.row[0], x), dot(a.row[1], x), dot(a.row[2], x)}};
}

KOKKOS_FORCEINLINE_FUNCTION Matrix3 operator*(const Matrix3& a, const Matrix3& b) {
  Matrix3 c;
  for (int i = 0; i < 3; ++i)
    c.row[i] = a(i, 0) * b.row[0] + a(i, 1) * b.row[1] + a(i, 2) * b.row[2];
  return c;
}

/// a b^T
KOKKOS_FORCEINLINE_FUNCTION Matrix3 times_transposed(const Matrix3& a, const Matrix3& b) {
  return {{b * a.row[0], b * a.row[1], b * a.row[2]}};
}

/// a^T b
KOKKOS_FORCEINLINE_FUNCTION Matrix3 transposed_times(const Matrix3& a, const Matrix3& b) {
  return transpose(a) * b;
}

/// Sum of a_ij b_ij.
KOKKOS_FORCEINLINE_FUNCTION double inner(const Matrix3& a, const Matrix3& b) {
  return dot(a.row[0], b.row[0]) + dot(a.row[1], b.row[1]) + dot(a.row[2], b.row[2]);
}

KOKKOS_FORCEINLINE_FUNCTION double trace(const Matrix3& a) {
  return a(0, 0) + a(1, 1) + a(2, 2);
}

KOKKOS_FORCEINLINE_FUNCTION Matrix3 symmetric_part(const Matrix3& a) {
  return 0.5 * (a + transpose(a));
}

/// det(a) a^-T, the derivative of det(a): exists for singular matrices, too.
KOKKOS_FORCEINLINE_FUNCTION Matrix3 cofactor(const Matrix3& a) {
  return {{cross(a.row[1], a.row[2]), cross(a.row[2], a.row[0]), cross(a.row[0], a.row[1])}};
}

/// The derivative of cofactor(a) in direction d.
KOKKOS_FORCEINLINE_FUNCTION Matrix3 cofactor_change(const Matrix3& a, const Matrix3& d) {
  return {{cross(d.row[1], a.row[2]) + cross(a.row[1], d.row[2]),
           cross(d.row[2], a.row[0]) + cross(a.row[2], d.row[0]),
           cross(d.row[0], a.row[1]) + cross(a.row[0], d.row[1])}};
}

KOKKOS_FORCEINLINE_FUNCTION double determinant(const Matrix3& a) {
  return dot(a.row[0], cross(a.row[1], a.row[2]));
}

/// The inverse of a matrix that is not singular.
KOKKOS_FORCEINLINE_FUNCTION Matrix3 inverse(const Matrix3& a) {
  const Matrix3 c = cofactor(a);
  return (1 / dot(a.row[0], c.row[0])) * transpose(c);
}

} // namespace ossatura
