// SPDX-License-Identifier: Apache-2.0
// Corotational trilinear hexahedra have one rotation R of the element [1] and 2 x 2 x 2 Gauss
// points. With the gradients D_a at a point, d_a = R D_a, and its weight w,
//
//   K_ab = sum over points of w (lambda d_a d_b^T + mu d_b d_a^T + mu (d_a . d_b) I) = R K0_ab R^T,
//   f_a  = sum over points of w R sigma(sym(R^T F) - I) D_a = (R K0 (R^T x - X))_a:
//
// K0, 324 numbers to read, is not kept but made anew from the 21 numbers of the rest shape. Nodes
// and points have the same modes: x(xi) = x_0 + sum over the 7 products m of xi, eta, zeta of c_m
// m, c_m = 1/8 sum over corners of m(corner) x. R comes from F at the centre, and so does what
// tension adds to K as R turns (turning_stiffness.hpp), with the gradients there.
//
// [1] M. Nesme, Y. Payan, F. Faure. Efficient, physically plausible finite elements. Eurographics
//     short papers (2005).
#pragma once

#include <ossatura/kernels/hexa/shape.hpp>
#include <ossatura/kernels/softbody/elements/corotational_simplex.hpp>

namespace ossatura::detail {

/// An element keeps its modes at rest (c_m one after the other) and the factor of its moduli;
/// input.coefficient is lambda, mu.
template<SoftRotation rotation>
struct CorotationalHexa {
  static constexpr ElementShape shape = ElementShape::hexa;
  static constexpr int nodes = 8, points = 8;

  struct Frame {
    HexaModes rest, now; ///< now: of x, and force_scale v added
    Matrix3 r;
    Matrix3 centre; ///< d x / d xi there, of x alone
    double factor;
    bool inverted;
  };

  /// d_a, and the stress of x and v that makes the forces stress * d_a, weights included.
  struct Point {
    Vector3 d[nodes];
    Matrix3 stress;
    double weight;
  };

  struct State {
    Frame frame;
    ScaledLame lame; ///< times stiffness_scale
    Matrix3 to_d;    ///< from d N / d xi at the centre to d_a there
    Matrix3 turning; ///< G of the centre, times stiffness_scale
    Vector3 moment;  ///< G times the turn of force_scale v
    Point point[points];

    KOKKOS_FORCEINLINE_FUNCTION Vector3 centre_d(int a) const {
      return to_d * (0.125 * Vector3{{hexa_xi(a), hexa_eta(a), hexa_zeta(a)}});
    }
    Vector3 force[nodes];
  };

  static KOKKOS_INLINE_FUNCTION Frame frame_of(const SoftInput& input, int elem) {
    Frame e;
    for (int k = 0; k < 7; ++k)
      for (int c = 0; c < 3; ++c)
        e.rest.c[k][c] = input.rest_value(elem, 3 * k + c);
    e.factor = input.rest_value(elem, 21);
    const int* node = input.nodes_of<shape>(elem);
    e.now = no_modes();
    for (int a = 0; a < nodes; ++a)
      e.now.add_corner(a, load_vector(input.x, node[a]));
    const Matrix3 ds = e.now.centre_jacobian(), dm_inverse = inverse(e.rest.centre_jacobian());
    const Matrix3 f = ds * dm_inverse;
    e.inverted = determinant(f) <= 0;
    e.r = element_rotation<rotation>(ds, dm_inverse, f);
    e.centre = ds;
    if (input.force_scale != 0)
      for (int a = 0; a < nodes; ++a)
        e.now.add_corner(a, input.force_scale * load_vector(input.v, node[a]));
    return e;
  }

  /// sym(R^T F) - I at point g; jacobian_inverse of the rest shape there.
  static KOKKOS_INLINE_FUNCTION Matrix3 strain_at(const Frame& e, int g,
                                                  const Matrix3& jacobian_inverse) {
    Matrix3 strain =
        symmetric_part(transposed_times(e.r, gauss_jacobian(e.now, g) * jacobian_inverse));
    for (int i = 0; i < 3; ++i)
      strain(i, i) -= 1;
    return strain;
  }

  static KOKKOS_INLINE_FUNCTION void evaluate_point(const SoftInput& input, const Frame& e, int g,
                                                    Point& point) {
    const Matrix3 jacobian = gauss_jacobian(e.rest, g), jacobian_inverse = inverse(jacobian);
    const double weight = e.factor * determinant(jacobian);
    const ScaledLame lame{weight * input.coefficient[0], weight * input.coefficient[1]};
    const Matrix3 stress = stress_of(lame, strain_at(e, g, jacobian_inverse));
    point.stress = times_transposed(e.r * stress, e.r);
    const Matrix3 to_d = times_transposed(e.r, jacobian_inverse);
    for (int a = 0; a < nodes; ++a)
      point.d[a] = to_d * hexa_shape_gradient(a, g);
    point.weight = weight;
  }

  static KOKKOS_INLINE_FUNCTION void prepare(const SoftInput& input, int elem, State& state,
                                             bool& inverted) {
    const Frame e = frame_of(input, elem);
    inverted = e.inverted;
    state.frame = e;
    state.lame = {input.stiffness_scale * input.coefficient[0],
                  input.stiffness_scale * input.coefficient[1]};
    set_turning(input, elem, state);
  }

  /// sym(R^T F) - I at the centre.
  static KOKKOS_INLINE_FUNCTION Matrix3 centre_strain(const Matrix3& r, const Matrix3& f) {
    Matrix3 strain = symmetric_part(transposed_times(r, f));
    for (int i = 0; i < 3; ++i)
      strain(i, i) -= 1;
    return strain;
  }

  /// R where the last step began, see turning_stiffness.hpp.
  static KOKKOS_INLINE_FUNCTION Matrix3 last_rotation(const SoftInput& input, int elem,
                                                      const Frame& e, const Matrix3& rest_inverse) {
    if (input.last_step == 0)
      return e.r;
    const int* node = input.nodes_of<shape>(elem);
    HexaModes v = no_modes();
    for (int a = 0; a < nodes; ++a)
      v.add_corner(a, load_vector(input.v, node[a]));
    const Matrix3 ds = e.centre + -input.last_step * v.centre_jacobian();
    return element_rotation<rotation>(ds, rest_inverse, ds * rest_inverse);
  }

  static KOKKOS_INLINE_FUNCTION void set_turning(const SoftInput& input, int elem, State& state) {
    const Frame& e = state.frame;
    const Matrix3 rest = e.rest.centre_jacobian(), rest_inverse = inverse(rest);
    const Matrix3 f = e.centre * rest_inverse;
    const double volume = 8 * e.factor * determinant(rest);
    const ScaledLame lame{volume * input.coefficient[0], volume * input.coefficient[1]};
    // Gradients at the centre are rows (+-1, +-1, +-1) / 8 of the inverse, whose squares sum up to
    // an eighth of its own.
    const double spared = input.spared_tension * 8 * determinant(rest) /
                          (0.125 * inner(rest_inverse, rest_inverse) * nodes);
    Matrix3 turning = zero_matrix();
    if (may_pull(lame, centre_strain(e.r, f), spared)) {
      const Matrix3 strain = centre_strain(last_rotation(input, elem, e, rest_inverse), f);
      turning = times_transposed(e.r * turning_stiffness(lame, strain, spared), e.r);
    }
    state.to_d = times_transposed(e.r, rest_inverse);
    const Matrix3 motion = (e.now.centre_jacobian() + -1.0 * e.centre) * transpose(state.to_d);
    state.moment = turning * turn_of(motion);
    state.turning = input.stiffness_scale * turning;
  }

  static KOKKOS_INLINE_FUNCTION void prepare_point(const SoftInput& input, int g, State& state) {
    evaluate_point(input, state.frame, g, state.point[g]);
  }

  static KOKKOS_INLINE_FUNCTION void sum_force(State& state, int a) {
    Vector3 f{{0, 0, 0}};
    for (int g = 0; g < points; ++g)
      f = f + state.point[g].stress * state.point[g].d[a];
    state.force[a] = f + cross(state.moment, state.centre_d(a));
  }

  static KOKKOS_INLINE_FUNCTION Matrix3 block(const State& state, int a, int b) {
    Matrix3 sum = zero_matrix(); // of w d_a d_b^T
    for (int g = 0; g < points; ++g) {
      const Point& point = state.point[g];
      const Vector3 da = point.weight * point.d[a], db = point.d[b];
      for (int i = 0; i < 3; ++i)
        sum.row[i] = sum.row[i] + da[i] * db;
    }
    Matrix3 k = state.lame.lambda * sum + state.lame.mu * transpose(sum);
    const double diagonal = state.lame.mu * trace(sum);
    for (int i = 0; i < 3; ++i)
      k(i, i) += diagonal;
    return k + turning_block(state.turning, state.centre_d(a), state.centre_d(b));
  }

  static KOKKOS_INLINE_FUNCTION double energy(const SoftInput& input, int elem) {
    const Frame e = frame_of(input, elem);
    double sum = 0;
    for (int g = 0; g < points; ++g) {
      const Matrix3 jacobian = gauss_jacobian(e.rest, g);
      const double weight = e.factor * determinant(jacobian);
      const Matrix3 strain = strain_at(e, g, inverse(jacobian));
      sum += 0.5 * inner(stress_of({weight * input.coefficient[0], weight * input.coefficient[1]},
                                   strain),
                         strain);
    }
    return sum;
  }
};

} // namespace ossatura::detail
