// SPDX-License-Identifier: Apache-2.0
// Sized points are what both forms of the sized product (sized_lines.hpp, sized_planes.hpp) do at
// the points of an element, and how an order is cut into teams.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/core/parallel/async_copy.hpp>
#include <ossatura/core/parallel/wide_teams.hpp>
#include <ossatura/kernels/pfem/hexa_batch.hpp>
#include <ossatura/kernels/pfem/hexa_point_stress.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ossatura::detail {

/// How the sized product of an order is cut. Entry (i0, i1, i2) of an array is at i0 first + i1
/// second + i2, and arrays are `field` numbers apart; the next element begins `pad` numbers after
/// those of this one: so that what threads read together is in few banks twice.
struct SizedShape {
  bool planes;  ///< a thread has a plane of modes, else lines
  bool targets; ///< results beside those of their modes are faster, else by slots
  int parts;    ///< of a line
  int elems;    ///< of a team
  int teams;    ///< on a multiprocessor at least, which bounds registers
  int second, first, field, pad;
};

/// By order, the fastest of those that were measured on an H100.
inline constexpr SizedShape sized_shapes[max_hexa_order] = {
    {false, false, 1, 16, 8, 2, 6, 12, 6},     {true, true, 1, 7, 8, 3, 10, 30, 1},
    {true, true, 1, 8, 3, 4, 17, 67, 5},       {false, true, 1, 5, 3, 5, 25, 125, 10},
    {false, true, 1, 3, 3, 7, 42, 252, 0},     {false, true, 1, 2, 3, 7, 55, 385, 14},
    {false, true, 1, 2, 2, 9, 72, 576, 0},     {false, true, 3, 1, 2, 9, 89, 801, 0},
    {false, false, 2, 1, 2, 10, 106, 1060, 0}, {false, false, 2, 1, 2, 11, 123, 1353, 0}};

/// Tables, the batch, and where results go: by targets, or by slots.
template<int order, bool by_targets>
struct SizedPoints {
  static constexpr SizedShape shape = sized_shapes[order - 1];
  static constexpr int N = order + 1;
  static constexpr int parts = shape.parts, elems = shape.elems;
  static constexpr int tile = (N + parts - 1) / parts; ///< points of a part of a line
  static constexpr int lines = N * N;
  static constexpr int first = shape.first, second = shape.second, field = shape.field;
  static constexpr int map_entries = 21; ///< of LineGeometry
  /// Numbers that hold the targets of an element, which do not move its neighbours to other banks.
  static constexpr int target_room = by_targets && shape.targets ? (N * N * N + 31) / 32 * 16 : 0;
  static constexpr int per_elem =
      9 * field + map_entries + elasticity_entries + target_room + shape.pad;
  static constexpr int min_teams = shape.teams;
  static constexpr std::size_t bytes = 8 * std::size_t(elems * per_elem);

  double value[N][N], derivative[N][N], point[N], weight[N];
  int num_modes;
  std::int64_t num_elem, elem_stride, point_stride;
  ArrayPointer<const int> line_of_pair, place, signed_mode;
  ArrayPointer<const std::uint32_t> target; ///< [num_elem, num_modes] SlotTargets, or none
  ArrayPointer<const double> corner, jacobian, elasticity, x;
  ArrayPointer<double> y; ///< by targets, or without them [num_elem, num_modes, 3]

  /// A thread's element, and its line in it.
  struct Place {
    std::int64_t elem;
    int part, line;
    double* memory;
    bool inside;

    /// The first entry of array `kind` of component c.
    KOKKOS_FORCEINLINE_FUNCTION double* array(int kind, int c) const {
      return memory + (3 * kind + c) * int(field);
    }
    KOKKOS_FORCEINLINE_FUNCTION double* geometry() const { return memory + 9 * int(field); }
    KOKKOS_FORCEINLINE_FUNCTION double* material() const { return geometry() + int(map_entries); }
    KOKKOS_FORCEINLINE_FUNCTION std::uint32_t* targets() const {
      return reinterpret_cast<std::uint32_t*>(material() + int(elasticity_entries));
    }
  };

  /// The coefficients of the map, D and the targets of an element, by `threads` threads of which
  /// this is one. D and targets are on their way until wait_for_copies.
  KOKKOS_FORCEINLINE_FUNCTION void load(const Place& at, int thread, int threads) const {
    if (point_stride == 0)
      for (int m = thread; m < int(elasticity_entries); m += threads)
        start_copy(at.material() + m, elasticity.data + at.elem * elem_stride + m, true);
    if (target_room > 0)
      for (int m = thread; m < num_modes; m += threads)
        start_copy(at.targets() + m, target.data + at.elem * num_modes + m, true);
    commit_copies();
    if (!jacobian.data && thread < 3) {
      double x_of[8];
      for (int a = 0; a < 8; ++a)
        x_of[a] = 0.125 * corner(24 * at.elem + 3 * a + thread);
      for (int m = 0; m < 7; ++m) {
        double sum = 0;
        for (int a = 0; a < 8; ++a)
          sum += hexa_mode_sign(m, a) * x_of[a];
        at.geometry()[3 * m + thread] = sum;
      }
    }
  }

  /// Component c of the result of an element's mode.
  KOKKOS_FORCEINLINE_FUNCTION void store(const Place& at, int mode, int c, double result) const {
    const std::int64_t slot = at.elem * num_modes + mode;
    if constexpr (by_targets) {
      const std::uint32_t own = target_room > 0 ? at.targets()[mode] : target(slot);
      y(3 * std::int64_t(own >> 1) + c) = own & 1u ? -result : result;
    } else {
      y(3 * slot + c) = result;
    }
  }

  /// Along xi_0 to the points, and back; a part after the other adds to a line.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_lines(const WideTeam& team, const Place& at) const {
    multiply_parts(team, at, std::make_integer_sequence<int, parts>());
  }

private:
  /// D of an element, at a point.
  struct Elasticity {
    const double* entry;

    KOKKOS_FORCEINLINE_FUNCTION double operator()(int m) const { return entry[m]; }
  };

  /// The first entry of a line along xi_0.
  KOKKOS_FORCEINLINE_FUNCTION static int first_of_line(int line) {
    return line / N * second + line % N;
  }

  /// Stresses at point q0 of the thread's line.
  KOKKOS_FORCEINLINE_FUNCTION void stress(const Place& at, const LineGeometry<double>& geometry,
                                          int q0, double (&g)[9]) const {
    const int q1 = at.line / N, q2 = at.line % N, q = (q0 * N + q1) * N + q2;
    double column[3][3];
    if (jacobian.data) {
      const double* const here = jacobian.data + 9 * (at.elem * (N * N * N) + q);
      for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i)
          column[k][i] = here[3 * i + k];
    } else {
      geometry.at(point[q0], column);
    }
    const double* const d = point_stride == 0
                                ? at.material()
                                : elasticity.data + at.elem * elem_stride + q * point_stride;
    point_stress(column, weight[q0] * weight[q1] * weight[q2], Elasticity{d}, g);
  }

  /// Points of part `part`.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int points_of(int part) {
    return part + 1 < parts ? tile : N - (parts - 1) * tile;
  }

  template<int part, int... t>
  KOKKOS_FORCEINLINE_FUNCTION void stresses(const Place& at, double (&g)[tile][9],
                                            std::integer_sequence<int, t...>) const {
    const LineGeometry<double> geometry(at.geometry(), point[at.line / N], point[at.line % N]);
    (stress(at, geometry, part * tile + t, g[t]), ...);
  }

  template<int part>
  KOKKOS_FORCEINLINE_FUNCTION void stresses_of_part(const Place& at, double (&g)[tile][9]) const {
    constexpr int count = points_of(part);
    const double* const lines_along_first = at.memory + first_of_line(at.line);
    for (int t = 0; t < count; ++t)
      for (int k = 0; k < 9; ++k)
        g[t][k] = 0;
    for (int i0 = 0; i0 < int(N); ++i0)
      for (int k = 0; k < 9; ++k) {
        const double u = lines_along_first[k * int(field) + i0 * int(first)];
        for (int t = 0; t < count; ++t)
          g[t][k] += (k < 3 ? derivative[part * tile + t][i0] : value[part * tile + t][i0]) * u;
      }
    stresses<part>(at, g, std::make_integer_sequence<int, count>());
  }

  template<int part>
  KOKKOS_FORCEINLINE_FUNCTION void add_part(const Place& at, const double (&g)[tile][9]) const {
    constexpr int count = points_of(part);
    double* const lines_along_first = at.memory + first_of_line(at.line);
    for (int i0 = 0; i0 < int(N); ++i0)
      for (int k = 0; k < 9; ++k) {
        double& to = lines_along_first[k * int(field) + i0 * int(first)];
        double sum = part == 0 ? 0.0 : to;
        for (int t = 0; t < count; ++t)
          sum += (k < 3 ? derivative[part * tile + t][i0] : value[part * tile + t][i0]) * g[t][k];
        to = sum;
      }
  }

  template<int... part>
  KOKKOS_FORCEINLINE_FUNCTION void multiply_parts(const WideTeam& team, const Place& at,
                                                  std::integer_sequence<int, part...>) const {
    double g[tile][9];
    ((at.inside && at.part == part ? stresses_of_part<part>(at, g) : void()), ...);
    ((parts > 1 ? team.barrier() : void(),
      at.inside && at.part == part ? add_part<part>(at, g) : void()),
     ...);
  }
};

} // namespace ossatura::detail
