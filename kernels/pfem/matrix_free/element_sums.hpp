// SPDX-License-Identifier: Apache-2.0
// These sums multiply with hierarchical hexahedra whose matrices are never formed.
// Coefficients become derivatives at the points by sums along one axis after the other [1], on the
// modes that exist (for the trunk space the range of the second index depends on the first, and
// that of the third on both); stresses come from the vertices anew, and the same sums go back. The
// product takes about 36 (order + 1)^4 operations instead of the square of the number of modes, and
// no memory but vectors and vertices.
//
// On devices a team has elements, and does planes of points of constant xi_2 together as far as
// they fit on chip; a thread keeps a part of a line of points along xi_0 in registers, from the
// sums along the line to the stresses and back. On cores a thread has a pack of elements, one in
// each lane.
//
// [1] S. A. Orszag. Spectral methods for problems in complex geometries. J. Comput. Phys. 37 (1980)
//     70-92, doi:10.1016/0021-9991(80)90005-4.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/kernels/pfem/hexa_point_stress.hpp>
#include <ossatura/kernels/pfem/matrix_free/layout.hpp>
#include <ossatura/kernels/pfem/matrix_free/signed_component.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace ossatura {

namespace detail {

inline constexpr int most_host_points = 32; ///< of a line

struct alignas(16) BasisPair {
  double value, derivative;
};

/// Elements, their modes and vectors, as a HexaBatch, ModeRanges and a MatrixFreePlan have them.
struct MatrixFreeArrays {
  int order, points, num_modes, num_pairs, planes, elems;
  MatrixFreeLayout at;
  std::int64_t num_elem, elem_stride, point_stride;
  ArrayPointer<const int> range, signed_mode;
  ArrayPointer<const double> corner, jacobian, elasticity, point, weight, value, derivative, x;
  ArrayPointer<double> y; ///< [num_elem, num_modes, 3]

  /// Of a team's scratch memory, `lanes` elements a pack.
  OSSATURA_FORCEINLINE_FUNCTION int scratch_bytes(int lanes) const {
    return at.bytes(points, order + 3 + num_pairs, elems, lanes);
  }
};

/// `tile`: see MatrixFreePlan. `lanes`: elements of a pack. `Target`: see Lanes.
template<class Target, bool on_device, int tile, int lanes>
struct MatrixFreeSums : MatrixFreeArrays {
  static constexpr int most_points =
      on_device ? tile : most_host_points; ///< of a line that a thread has
  using V = std::conditional_t<lanes == 1, double, Lanes<double, lanes, Target>>;

  /// The team as a thread sees it.
  struct Context {
    int rank, size;
    std::int64_t first; ///< element of the team
    BasisPair* basis;   ///< [rows, stride]
    double *point, *weight;
    int *begin, *first_mode;
    V* memory;             ///< [elems, per_elem]
    int plane, num_planes; ///< the planes that are being done
  };

  /// Elements league_rank * elems * lanes and after of a team. `memory`: its scratch_bytes(lanes),
  /// less 64, at a multiple of 64 bytes. Calls `barrier()` where the team has to wait for its
  /// threads.
  template<class Barrier>
  OSSATURA_FORCEINLINE_FUNCTION void multiply(std::int64_t league_rank, int rank, int size,
                                              char* memory, const Barrier& barrier) const {
    Context own;
    own.rank = rank;
    own.size = size;
    own.first = league_rank * elems * lanes;
    own.memory = reinterpret_cast<V*>(memory);
    memory += sizeof(V) * std::size_t(elems * at.per_elem);
    memory += (64 - sizeof(V) * std::size_t(elems * at.per_elem) % 64) % 64;
    own.basis = reinterpret_cast<BasisPair*>(memory);
    own.point = reinterpret_cast<double*>(own.basis + at.rows * at.stride);
    own.weight = own.point + points;
    own.begin = reinterpret_cast<int*>(own.weight + points);
    own.first_mode = own.begin + order + 2;
    load(own);
    for (own.plane = 0; own.plane < points; own.plane += planes) {
      own.num_planes = points - own.plane < planes ? points - own.plane : planes;
      load_coefficients(own);
      barrier();
      sum_third_index(own);
      barrier();
      sum_second_index(own);
      barrier();
      if constexpr (on_device) {
        V g[9][tile];
        const int tiles = (points + int(tile) - 1) / int(tile), lines = points * planes;
        const int elem = own.rank / (tiles * lines), part = own.rank / lines % tiles,
                  line = own.rank % lines;
        const bool inside = elem < elems && line % planes < own.num_planes;
        if (inside)
          part_of_line(own, elem, part, line, g);
        for (int turn = 0; turn < tiles; ++turn) {
          barrier();
          if (inside && part == turn)
            part_of_line_back(own, elem, part, line, g);
        }
      } else {
        for (int line = 0; line < points * planes; ++line)
          if (line % planes < own.num_planes)
            whole_line(own, line);
      }
      barrier();
      sum_points_along_second(own);
      barrier();
      sum_points_along_third(own);
      barrier();
    }
  }

private:
  /// f(l) in lane l.
  template<class F>
  OSSATURA_FORCEINLINE_FUNCTION static V make_pack(const F& f) {
    if constexpr (lanes == 1) {
      return f(0);
    } else {
      V pack;
      for (int l = 0; l < lanes; ++l)
        pack.value[l] = f(l);
      return pack;
    }
  }
  OSSATURA_FORCEINLINE_FUNCTION static double lane_of(const V& pack, [[maybe_unused]] int l) {
    if constexpr (lanes == 1)
      return pack;
    else
      return pack.value[l];
  }

  /// Element in lane l; lanes past the end have the last one.
  OSSATURA_FORCEINLINE_FUNCTION std::int64_t element(const Context& own, int elem, int l) const {
    const std::int64_t e = own.first + elem * lanes + l;
    return e < num_elem ? e : num_elem - 1;
  }
  /// Adds to what earlier planes gave.
  OSSATURA_FORCEINLINE_FUNCTION void store(const Context& own, int elem, int mode, int c,
                                           const V& sum) const {
    for (int l = 0; l < lanes; ++l)
      if (const std::int64_t e = own.first + elem * lanes + l; e < num_elem) {
        double& result = y(3 * (e * num_modes + mode) + c);
        result = own.plane == 0 ? lane_of(sum, l) : result + lane_of(sum, l);
      }
  }

  OSSATURA_FORCEINLINE_FUNCTION void load(const Context& own) const {
    for (int k = own.rank; k < at.rows * at.stride; k += own.size) {
      const int i = k / at.stride, q = k % at.stride;
      const bool there = i <= order && q < points;
      own.basis[k] = {there ? value(q * (order + 1) + i) : 0.0,
                      there ? derivative(q * (order + 1) + i) : 0.0};
    }
    for (int q = own.rank; q < points; q += own.size) {
      own.point[q] = point(q);
      own.weight[q] = weight(q);
    }
    for (int k = own.rank; k < order + 3 + num_pairs; k += own.size)
      own.begin[k] = range(k);
    for (int item = own.rank; item < elems * 21; item += own.size) {
      const int elem = item / 21, m = item % 21;
      V* const memory = own.memory + elem * at.per_elem;
      if (!jacobian.data)
        memory[at.geometry + m] = make_pack([&](int l) {
          return trilinear_coefficient(corner.data + 24 * element(own, elem, l), m);
        });
      if (point_stride == 0)
        memory[at.elasticity + m] =
            make_pack([&](int l) { return elasticity(element(own, elem, l) * elem_stride + m); });
    }
  }

  /// As [3 mode + c].
  OSSATURA_FORCEINLINE_FUNCTION void load_coefficients(const Context& own) const {
    for (int item = own.rank; item < elems * 3 * num_modes; item += own.size) {
      const int elem = item / (3 * num_modes), i = item % (3 * num_modes);
      own.memory[elem * at.per_elem + at.lines + i] = make_pack([&](int l) {
        return signed_component(x.data, signed_mode(element(own, elem, l) * num_modes + i / 3),
                                i % 3);
      });
    }
  }

  /// Values and derivatives along xi_2 of each pair of the two first indices.
  OSSATURA_FORCEINLINE_FUNCTION void sum_third_index(const Context& own) const {
    for (int item = own.rank; item < elems * 3 * num_pairs; item += own.size) {
      const int elem = item / (3 * num_pairs), i = item % (3 * num_pairs), pair = i / 3, c = i % 3;
      V* const memory = own.memory + elem * at.per_elem;
      const int first = own.first_mode[pair], count = own.first_mode[pair + 1] - first;
      const V* const input = memory + at.lines + 3 * first + c;
      V* const sums = memory + i * at.plane_stride;
      for (int s = 0; s < own.num_planes; s += int(tile)) {
        V v[tile], d[tile];
        for (int t = 0; t < tile; ++t)
          v[t] = d[t] = V(0.0);
        for (int k = 0; k < count; ++k) {
          const BasisPair* const basis = own.basis + k * at.stride + own.plane + s;
          const V u = input[3 * k];
          for (int t = 0; t < tile; ++t) {
            v[t] += V(basis[t].value) * u;
            d[t] += V(basis[t].derivative) * u;
          }
        }
        for (int t = 0; t < tile; ++t)
          if (s + t < own.num_planes) {
            sums[s + t] = v[t];
            sums[at.kind_stride + s + t] = d[t];
          }
      }
    }
  }

  /// For each first index: values, derivatives along xi_1, along xi_2, of three components each.
  OSSATURA_FORCEINLINE_FUNCTION void sum_second_index(const Context& own) const {
    const int items = 3 * (order + 1) * planes;
    for (int item = own.rank; item < elems * items; item += own.size) {
      const int elem = item / items, i = item % items, s = i % planes, c = i / planes % 3,
                i0 = i / (3 * planes);
      if (s >= own.num_planes)
        continue;
      V* const memory = own.memory + elem * at.per_elem;
      const int first = own.begin[i0], count = own.begin[i0 + 1] - first;
      const V* const sums = memory + (3 * first + c) * at.plane_stride + s;
      V* const lines = memory + at.lines + (c * (order + 1) + i0) * at.line_stride + s;
      const int kind = 3 * (order + 1) * at.line_stride;
      for (int q = 0; q < points; q += int(tile)) {
        V v[tile], d1[tile], d2[tile];
        for (int t = 0; t < tile; ++t)
          v[t] = d1[t] = d2[t] = V(0.0);
        for (int k = 0; k < count; ++k) {
          const BasisPair* const basis = own.basis + k * at.stride + q;
          const V u = sums[3 * k * at.plane_stride],
                  du = sums[at.kind_stride + 3 * k * at.plane_stride];
          for (int t = 0; t < tile; ++t) {
            v[t] += V(basis[t].value) * u;
            d1[t] += V(basis[t].derivative) * u;
            d2[t] += V(basis[t].value) * du;
          }
        }
        for (int t = 0; t < tile; ++t)
          if (q + t < points) {
            lines[(q + t) * planes] = v[t];
            lines[kind + (q + t) * planes] = d1[t];
            lines[2 * kind + (q + t) * planes] = d2[t];
          }
      }
    }
  }

  /// D of an element, at a point.
  struct Elasticity {
    const MatrixFreeSums& self;
    const Context& own;
    const V* uniform;
    int elem, q;
    OSSATURA_FORCEINLINE_FUNCTION V operator()(int m) const {
      if (self.point_stride == 0)
        return uniform[m];
      return make_pack([&](int l) {
        return self.elasticity(self.element(own, elem, l) * self.elem_stride +
                               q * self.point_stride + m);
      });
    }
  };

  /// Stresses at point q0 of a line, or nothing past its end.
  OSSATURA_FORCEINLINE_FUNCTION void stress(const Context& own, int elem, int line,
                                            const LineGeometry<V>& geometry, int q0,
                                            V (&g)[9]) const {
    if (q0 >= points) {
      for (int k = 0; k < 9; ++k)
        g[k] = V(0.0);
      return;
    }
    const int q1 = line / planes, q2 = own.plane + line % planes,
              q = (q0 * points + q1) * points + q2;
    V column[3][3];
    if (jacobian.data) {
      const std::int64_t num_points = std::int64_t(points) * points * points;
      for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i)
          column[k][i] = make_pack([&](int l) {
            return jacobian(9 * (element(own, elem, l) * num_points + q) + 3 * i + k);
          });
    } else {
      geometry.at(own.point[q0], column);
    }
    point_stress(column, own.weight[q0] * own.weight[q1] * own.weight[q2],
                 Elasticity{*this, own, own.memory + elem * at.per_elem + at.elasticity, elem, q},
                 g);
  }

  OSSATURA_FORCEINLINE_FUNCTION LineGeometry<V> geometry_of(const Context& own, int elem,
                                                            int line) const {
    return LineGeometry<V>(own.memory + elem * at.per_elem + at.geometry, own.point[line / planes],
                           own.point[own.plane + line % planes]);
  }

  template<int t>
  OSSATURA_FORCEINLINE_FUNCTION void stress_of_part(const Context& own, int elem, int part,
                                                    int line, const LineGeometry<V>& geometry,
                                                    V (&g)[9][tile]) const {
    V here[9];
    for (int k = 0; k < 9; ++k)
      here[k] = g[k][t];
    stress(own, elem, line, geometry, part * int(tile) + t, here);
    for (int k = 0; k < 9; ++k)
      g[k][t] = here[k];
  }
  template<int... t>
  OSSATURA_FORCEINLINE_FUNCTION void stresses_of_part(const Context& own, int elem, int part,
                                                      int line, V (&g)[9][tile],
                                                      std::integer_sequence<int, t...>) const {
    const LineGeometry<V> geometry = geometry_of(own, elem, line);
    (stress_of_part<t>(own, elem, part, line, geometry, g), ...);
  }

  /// Sums along a line, then stresses, in registers.
  OSSATURA_FORCEINLINE_FUNCTION void part_of_line(const Context& own, int elem, int part, int line,
                                                  V (&g)[9][tile]) const {
    for (int k = 0; k < 9; ++k)
      for (int t = 0; t < tile; ++t)
        g[k][t] = V(0.0);
    const V* const lines = own.memory + elem * at.per_elem + at.lines + line;
    const int kind = (order + 1) * at.line_stride;
    for (int i0 = 0; i0 <= order; ++i0) {
      const BasisPair* const basis = own.basis + i0 * at.stride + part * int(tile);
      V u[9];
      for (int k = 0; k < 9; ++k)
        u[k] = lines[k * kind + i0 * at.line_stride];
      for (int t = 0; t < tile; ++t) {
        const BasisPair b = basis[t];
        for (int k = 0; k < 9; ++k)
          g[k][t] += V(k < 3 ? b.derivative : b.value) * u[k];
      }
    }
    stresses_of_part(own, elem, part, line, g, std::make_integer_sequence<int, tile>());
  }
  OSSATURA_FORCEINLINE_FUNCTION void part_of_line_back(const Context& own, int elem, int part,
                                                       int line, const V (&g)[9][tile]) const {
    V* const lines = own.memory + elem * at.per_elem + at.lines + line;
    const int kind = (order + 1) * at.line_stride;
    for (int i0 = 0; i0 <= order; ++i0) {
      const BasisPair* const basis = own.basis + i0 * at.stride + part * int(tile);
      V sum[9];
      for (int k = 0; k < 9; ++k)
        sum[k] = part == 0 ? V(0.0) : lines[k * kind + i0 * at.line_stride];
      for (int t = 0; t < tile; ++t) {
        const BasisPair b = basis[t];
        for (int k = 0; k < 9; ++k)
          sum[k] += V(k < 3 ? b.derivative : b.value) * g[k][t];
      }
      for (int k = 0; k < 9; ++k)
        lines[k * kind + i0 * at.line_stride] = sum[k];
    }
  }

  /// On cores: the same for all of a line, sums of few points at a time.
  OSSATURA_FORCEINLINE_FUNCTION void whole_line(const Context& own, int line) const {
    V g[most_points][9];
    V* const lines = own.memory + at.lines + line;
    const int kind = (order + 1) * at.line_stride;
    for (int k = 0; k < 9; ++k)
      for (int q = 0; q < points; q += int(tile)) {
        V sum[tile];
        for (int t = 0; t < tile; ++t)
          sum[t] = V(0.0);
        for (int i0 = 0; i0 <= order; ++i0) {
          const BasisPair* const basis = own.basis + i0 * at.stride + q;
          const V u = lines[k * kind + i0 * at.line_stride];
          for (int t = 0; t < tile; ++t)
            sum[t] += V(k < 3 ? basis[t].derivative : basis[t].value) * u;
        }
        for (int t = 0; t < tile; ++t)
          g[q + t][k] = sum[t];
      }
    const LineGeometry<V> geometry = geometry_of(own, 0, line);
    for (int q = 0; q < points; ++q)
      stress(own, 0, line, geometry, q, g[q]);
    for (int i0 = 0; i0 <= order; ++i0)
      for (int three = 0; three < 9; three += 3) {
        V sum[3] = {V(0.0), V(0.0), V(0.0)};
        for (int q = 0; q < points; ++q) {
          const BasisPair b = own.basis[i0 * at.stride + q];
          for (int c = 0; c < 3; ++c)
            sum[c] += V(three == 0 ? b.derivative : b.value) * g[q][three + c];
        }
        for (int c = 0; c < 3; ++c)
          lines[(three + c) * kind + i0 * at.line_stride] = sum[c];
      }
  }

  /// sum_second_index, transposed.
  OSSATURA_FORCEINLINE_FUNCTION void sum_points_along_second(const Context& own) const {
    const int items = 3 * (order + 1) * planes;
    for (int item = own.rank; item < elems * items; item += own.size) {
      const int elem = item / items, i = item % items, s = i % planes, c = i / planes % 3,
                i0 = i / (3 * planes);
      if (s >= own.num_planes)
        continue;
      V* const memory = own.memory + elem * at.per_elem;
      const int first = own.begin[i0], count = own.begin[i0 + 1] - first;
      V* const sums = memory + (3 * first + c) * at.plane_stride + s;
      const V* const lines = memory + at.lines + (c * (order + 1) + i0) * at.line_stride + s;
      const int kind = 3 * (order + 1) * at.line_stride;
      for (int k = 0; k < count; k += int(tile)) {
        V v[tile], d[tile];
        for (int t = 0; t < tile; ++t)
          v[t] = d[t] = V(0.0);
        for (int q = 0; q < points; ++q) {
          const V u = lines[q * planes], u1 = lines[kind + q * planes],
                  u2 = lines[2 * kind + q * planes];
          const BasisPair* const basis = own.basis + k * at.stride + q;
          for (int t = 0; t < tile; ++t) {
            const BasisPair b = basis[t * at.stride];
            v[t] += V(b.value) * u + V(b.derivative) * u1;
            d[t] += V(b.value) * u2;
          }
        }
        for (int t = 0; t < tile; ++t)
          if (k + t < count) {
            sums[3 * (k + t) * at.plane_stride] = v[t];
            sums[at.kind_stride + 3 * (k + t) * at.plane_stride] = d[t];
          }
      }
    }
  }

  /// sum_third_index, transposed.
  OSSATURA_FORCEINLINE_FUNCTION void sum_points_along_third(const Context& own) const {
    for (int item = own.rank; item < elems * 3 * num_pairs; item += own.size) {
      const int elem = item / (3 * num_pairs), i = item % (3 * num_pairs), pair = i / 3, c = i % 3;
      V* const memory = own.memory + elem * at.per_elem;
      const int first = own.first_mode[pair], count = own.first_mode[pair + 1] - first;
      const V* const sums = memory + i * at.plane_stride;
      for (int k = 0; k < count; k += int(tile)) {
        V v[tile];
        for (int t = 0; t < tile; ++t)
          v[t] = V(0.0);
        for (int s = 0; s < own.num_planes; ++s) {
          const V u = sums[s], du = sums[at.kind_stride + s];
          const BasisPair* const basis = own.basis + k * at.stride + own.plane + s;
          for (int t = 0; t < tile; ++t) {
            const BasisPair b = basis[t * at.stride];
            v[t] += V(b.value) * u + V(b.derivative) * du;
          }
        }
        for (int t = 0; t < tile; ++t)
          if (k + t < count)
            store(own, elem, first + k + t, c, v[t]);
      }
    }
  }
};

} // namespace detail

} // namespace ossatura
