// SPDX-License-Identifier: Apache-2.0
// The sized product is the matrix-free product (multiply.hpp) on devices where order + 1 points
// along an axis are known when it is compiled. The values of the functions are then constants of
// the launch, operands of multiply-adds that neither registers nor loads have to give, and loops
// have no ends to look at.
//
// A thread has lines: it reads a line of an array, multiplies it with the tables in registers, and
// writes the result in its place, first lines along xi_2, then along xi_1, then along xi_0. There
// it keeps the derivatives at all points of the line, or of a part of it, turns them into stresses,
// and the same goes back. Functions that the trunk space leaves out count as zeros.
#pragma once

#include <ossatura/core/parallel/wide_teams.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/hexa_point_stress.hpp>
#include <ossatura/kernels/pfem/matrix_free/signed_component.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace ossatura {

/// What the sized product needs besides a batch.
template<class Exec>
struct SizedTables {
  std::vector<double> value, derivative; ///< [points, order + 1], as those of the batch
  std::vector<double> point, weight;     ///< [points]
  Array<int, Exec> line;  ///< [(order + 1)^2, 2] first mode of a pair of first indices, and number
  Array<int, Exec> place; ///< [num_modes] (i0 (order + 1) + i1) (order + 1) + i2
};

namespace detail {

/// How the sized product of an order is cut. Entry (i0, i1, i2) of an array is at i0 plane + i1
/// pitch + i2, and the next element begins `pad` numbers after the arrays of this one: so that
/// what threads read together is in few banks twice, line by line in each direction.
struct SizedShape {
  int parts; ///< of a line
  int elems; ///< of a team
  int teams; ///< on a multiprocessor at least, which bounds registers
  int pitch, plane, pad;
};

/// By order, the fastest of those that were measured on an H100.
inline constexpr SizedShape sized_shapes[max_hexa_order] = {
    {1, 16, 8, 2, 6, 6},   {1, 7, 8, 3, 9, 14},  {1, 4, 6, 5, 20, 0}, {1, 5, 3, 5, 25, 10},
    {1, 3, 3, 7, 42, 0},   {1, 2, 3, 7, 55, 14}, {1, 2, 2, 9, 72, 0}, {3, 1, 2, 9, 89, 0},
    {2, 1, 2, 10, 106, 0}, {2, 1, 2, 11, 123, 0}};

template<int order>
struct SizedMultiply {
  static constexpr SizedShape shape = sized_shapes[order - 1];
  static constexpr int N = order + 1;
  static constexpr int parts = shape.parts, elems = shape.elems;
  static constexpr int tile = (N + parts - 1) / parts; ///< points of a part of a line
  static constexpr int lines = N * N;
  static constexpr int pitch = shape.pitch, plane = shape.plane;
  static constexpr int field = N * plane;
  static constexpr int map_entries = 21; ///< of LineGeometry
  static constexpr int per_elem = 9 * field + map_entries + elasticity_entries + shape.pad;
  static constexpr int max_threads = (elems * parts * lines + 31) / 32 * 32,
                       min_teams = shape.teams;

  static constexpr std::size_t bytes = 8 * std::size_t(elems * per_elem);

  double value[N][N], derivative[N][N], point[N], weight[N];
  int num_modes;
  std::int64_t num_elem, elem_stride, point_stride;
  ArrayPointer<const int> line_of_pair, place, signed_mode;
  ArrayPointer<const double> corner, jacobian, elasticity, x;
  ArrayPointer<double> y; ///< [num_elem, num_modes, 3]

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
  };

  KOKKOS_FUNCTION void operator()(const WideTeam& team) const {
    const std::int64_t first = team.league_rank * int(elems);
    const int own = team.rank / (parts * lines);
    const Place at{first + own, team.rank / lines % parts, team.rank % lines,
                   team.scratch + Kokkos::min(own, elems - 1) * int(per_elem),
                   own < int(elems) && first + own < num_elem};
    const int thread = team.rank % (parts * lines);
    if (at.inside) {
      load(at, thread);
      each_component(at, [&](int c) { sum_third_index(at, c); });
    }
    team.barrier();
    if (at.inside)
      each_component(at, [&](int c) { sum_second_index(at, c); });
    team.barrier();
    multiply_lines(team, at, std::make_integer_sequence<int, parts>());
    team.barrier();
    if (at.inside)
      each_component(at, [&](int c) { sum_points_along_second(at, c); });
    team.barrier();
    if (at.inside)
      each_component(at, [&](int c) { sum_points_along_third(at, c); });
    team.barrier();
    if (at.inside)
      store(at, thread);
  }

private:
  template<class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void each_component(const Place& at, const Body& body) {
    for (int c = at.part; c < 3; c += int(parts))
      body(c);
  }

  /// The coefficients of the map and D of the thread's element.
  KOKKOS_FORCEINLINE_FUNCTION void load(const Place& at, int thread) const {
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
    if (point_stride == 0)
      for (int m = thread; m < int(elasticity_entries); m += int(parts * lines))
        at.material()[m] = elasticity(at.elem * elem_stride + m);
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(const Place& at, int thread) const {
    for (int i = thread; i < 3 * num_modes; i += int(parts * lines)) {
      const int from = place(i / 3);
      y(at.elem * (3 * num_modes) + i) = at.array(0, i % 3)[first_of_third(from / N) + from % N];
    }
  }

  /// The first entry of the line of a pair of indices: along xi_2, along xi_1 and along xi_0.
  KOKKOS_FORCEINLINE_FUNCTION static int first_of_third(int line) {
    return line / N * plane + line % N * pitch;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int first_of_second(int line) {
    return line / N * plane + line % N;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int first_of_first(int line) {
    return line / N * pitch + line % N;
  }

  /// Values and derivatives along xi_2, from the modes.
  KOKKOS_FORCEINLINE_FUNCTION void sum_third_index(const Place& at, int c) const {
    const int mode = line_of_pair(2 * at.line), count = line_of_pair(2 * at.line + 1);
    double u[N], v[N], d[N];
    for (int k = 0; k < int(N); ++k)
      u[k] = k < count ? signed_component(x.data, signed_mode(at.elem * num_modes + mode + k), c)
                       : 0.0;
    for (int q = 0; q < int(N); ++q) {
      v[q] = value[q][0] * u[0];
      d[q] = derivative[q][0] * u[0];
      for (int k = 1; k < int(N); ++k) {
        v[q] += value[q][k] * u[k];
        d[q] += derivative[q][k] * u[k];
      }
    }
    double* const values = at.array(0, c) + first_of_third(at.line);
    double* const derivatives = at.array(1, c) + first_of_third(at.line);
    for (int q = 0; q < int(N); ++q) {
      values[q] = v[q];
      derivatives[q] = d[q];
    }
  }

  /// Of values: values and derivatives along xi_1; of derivatives along xi_2: their values.
  KOKKOS_FORCEINLINE_FUNCTION void sum_second_index(const Place& at, int c) const {
    const int first = first_of_second(at.line);
    double *const values = at.array(0, c) + first, *const along_second = at.array(1, c) + first,
                  *const along_third = at.array(2, c) + first;
    double u[N], d[N], v[N], d1[N], d2[N];
    for (int k = 0; k < int(N); ++k) {
      u[k] = values[k * int(pitch)];
      d[k] = along_second[k * int(pitch)];
    }
    for (int q = 0; q < int(N); ++q) {
      v[q] = value[q][0] * u[0];
      d1[q] = derivative[q][0] * u[0];
      d2[q] = value[q][0] * d[0];
      for (int k = 1; k < int(N); ++k) {
        v[q] += value[q][k] * u[k];
        d1[q] += derivative[q][k] * u[k];
        d2[q] += value[q][k] * d[k];
      }
    }
    for (int q = 0; q < int(N); ++q) {
      values[q * int(pitch)] = v[q];
      along_second[q * int(pitch)] = d1[q];
      along_third[q * int(pitch)] = d2[q];
    }
  }

  /// D of an element, at a point.
  struct Elasticity {
    const double* entry;

    KOKKOS_FORCEINLINE_FUNCTION double operator()(int m) const { return entry[m]; }
  };

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
    const double* const lines_along_first = at.memory + first_of_first(at.line);
    for (int t = 0; t < count; ++t)
      for (int k = 0; k < 9; ++k)
        g[t][k] = 0;
    for (int i0 = 0; i0 < int(N); ++i0)
      for (int k = 0; k < 9; ++k) {
        const double u = lines_along_first[k * int(field) + i0 * int(plane)];
        for (int t = 0; t < count; ++t)
          g[t][k] += (k < 3 ? derivative[part * tile + t][i0] : value[part * tile + t][i0]) * u;
      }
    stresses<part>(at, g, std::make_integer_sequence<int, count>());
  }

  template<int part>
  KOKKOS_FORCEINLINE_FUNCTION void add_part(const Place& at, const double (&g)[tile][9]) const {
    constexpr int count = points_of(part);
    double* const lines_along_first = at.memory + first_of_first(at.line);
    for (int i0 = 0; i0 < int(N); ++i0)
      for (int k = 0; k < 9; ++k) {
        double& to = lines_along_first[k * int(field) + i0 * int(plane)];
        double sum = part == 0 ? 0.0 : to;
        for (int t = 0; t < count; ++t)
          sum += (k < 3 ? derivative[part * tile + t][i0] : value[part * tile + t][i0]) * g[t][k];
        to = sum;
      }
  }

  /// Along xi_0 to the points, and back; a part after the other adds to a line.
  template<int... part>
  KOKKOS_FORCEINLINE_FUNCTION void multiply_lines(const WideTeam& team, const Place& at,
                                                  std::integer_sequence<int, part...>) const {
    double g[tile][9];
    ((at.inside && at.part == part ? stresses_of_part<part>(at, g) : void()), ...);
    ((parts > 1 ? team.barrier() : void(),
      at.inside && at.part == part ? add_part<part>(at, g) : void()),
     ...);
  }

  /// sum_second_index, transposed.
  KOKKOS_FORCEINLINE_FUNCTION void sum_points_along_second(const Place& at, int c) const {
    const int first = first_of_second(at.line);
    double *const values = at.array(0, c) + first, *const along_second = at.array(1, c) + first;
    const double* const along_third = at.array(2, c) + first;
    double u[N], u1[N], u2[N], v[N], d[N];
    for (int q = 0; q < int(N); ++q) {
      u[q] = values[q * int(pitch)];
      u1[q] = along_second[q * int(pitch)];
      u2[q] = along_third[q * int(pitch)];
    }
    for (int k = 0; k < int(N); ++k) {
      v[k] = d[k] = 0;
      for (int q = 0; q < int(N); ++q) {
        v[k] += value[q][k] * u[q] + derivative[q][k] * u1[q];
        d[k] += value[q][k] * u2[q];
      }
    }
    for (int k = 0; k < int(N); ++k) {
      values[k * int(pitch)] = v[k];
      along_second[k * int(pitch)] = d[k];
    }
  }

  /// sum_third_index, transposed.
  KOKKOS_FORCEINLINE_FUNCTION void sum_points_along_third(const Place& at, int c) const {
    double* const values = at.array(0, c) + first_of_third(at.line);
    const double* const derivatives = at.array(1, c) + first_of_third(at.line);
    double u[N], du[N], v[N];
    for (int q = 0; q < int(N); ++q) {
      u[q] = values[q];
      du[q] = derivatives[q];
    }
    for (int k = 0; k < int(N); ++k) {
      v[k] = 0;
      for (int q = 0; q < int(N); ++q)
        v[k] += value[q][k] * u[q] + derivative[q][k] * du[q];
    }
    for (int k = 0; k < int(N); ++k)
      values[k] = v[k];
  }
};

template<int order, class Exec>
void launch_sized(const Exec& exec, const HexaBatch<Exec>& batch, const SizedTables<Exec>& tables,
                  const Array<double, Exec>& x, const Array<double, Exec>& y,
                  std::int64_t first_y) {
  using Kernel = SizedMultiply<order>;
  Kernel kernel{};
  std::copy(tables.value.begin(), tables.value.end(), &kernel.value[0][0]);
  std::copy(tables.derivative.begin(), tables.derivative.end(), &kernel.derivative[0][0]);
  std::copy(tables.point.begin(), tables.point.end(), kernel.point);
  std::copy(tables.weight.begin(), tables.weight.end(), kernel.weight);
  kernel.num_modes = batch.num_modes;
  kernel.num_elem = batch.num_elem;
  kernel.elem_stride = batch.elem_stride;
  kernel.point_stride = batch.point_stride;
  kernel.line_of_pair = tables.line;
  kernel.place = tables.place;
  kernel.signed_mode = batch.signed_mode;
  kernel.corner = batch.corner;
  kernel.jacobian = batch.jacobian;
  kernel.elasticity = batch.elasticity;
  kernel.x = x;
  kernel.y = y;
  kernel.y.data += first_y;
  launch_wide_teams("ossatura::multiply_sized", exec,
                    (batch.num_elem + Kernel::elems - 1) / Kernel::elems, Kernel::max_threads,
                    Kernel::bytes, kernel);
}

/// The instance of the batch's order, which is one of i + 1.
template<class Exec, int... i>
void launch_sized_order(const Exec& exec, const HexaBatch<Exec>& batch,
                        const SizedTables<Exec>& tables, const Array<double, Exec>& x,
                        const Array<double, Exec>& y, std::int64_t first_y,
                        std::integer_sequence<int, i...>) {
  ((batch.order == i + 1 ? launch_sized<i + 1>(exec, batch, tables, x, y, first_y) : void()), ...);
}

} // namespace detail

/// Throws std::invalid_argument unless the modes are lexicographic, each index with all values from
/// 0 to one that depends on those before it, and the batch has order + 1 points. Fences.
template<class Exec>
SizedTables<Exec> make_sized_tables(const Exec& exec, const HexaBatch<Exec>& batch) {
  OSSATURA_REQUIRE(batch.points == batch.order + 1,
                   batch.points << " points for order " << batch.order);
  const int n = batch.points;
  const std::vector<int> mode = download(exec, batch.mode);
  std::vector<int> line(std::size_t(2 * n * n), 0), place;
  for (int m = 0; m < batch.num_modes; ++m) {
    const int* const own = &mode[std::size_t(3 * m)];
    const std::size_t pair = std::size_t(own[0] * n + own[1]);
    if (own[2] == 0)
      line[2 * pair] = m;
    OSSATURA_REQUIRE(line[2 * pair] + own[2] == m && line[2 * pair + 1] == own[2],
                     "mode " << m << " is out of order");
    ++line[2 * pair + 1];
    place.push_back(int(pair) * n + own[2]);
  }
  SizedTables<Exec> tables;
  tables.value = download(exec, batch.value);
  tables.derivative = download(exec, batch.derivative);
  tables.point = download(exec, batch.point);
  tables.weight = download(exec, batch.weight);
  tables.line = upload(exec, "ossatura::sized_tables::line", line);
  tables.place = upload(exec, "ossatura::sized_tables::place", place);
  return tables;
}

/// Whether the sized product is there for a batch.
template<class Exec>
bool has_sized_product(const HexaBatch<Exec>& batch) {
  return BackendTraits<Exec>::is_device && batch.points == batch.order + 1;
}

/// As multiply_matrix_free (multiply.hpp), on devices. Does not fence.
template<class Exec>
void multiply_sized(const Exec& exec, const HexaBatch<Exec>& batch, const SizedTables<Exec>& tables,
                    const Array<double, Exec>& x, const Array<double, Exec>& y,
                    std::int64_t first_y = 0) {
  static_assert(BackendTraits<Exec>::is_device);
  detail::launch_sized_order(exec, batch, tables, x, y, first_y,
                             std::make_integer_sequence<int, max_hexa_order>());
}

} // namespace ossatura
