// SPDX-License-Identifier: Apache-2.0
// Oracle of the elements of soft bodies, from the definitions: stiffness as B^T D B at Gauss
// points, frames, R K0 (R^T x - X), the tension of membranes in its principal axes, and energies of
// F. The standard library only; shares nothing with the code under test.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace reference {

/// Row-major matrix.
struct Dense {
  int rows = 0, columns = 0;
  std::vector<double> value;

  Dense() = default;
  Dense(int rows, int columns)
      : rows(rows)
      , columns(columns)
      , value(std::size_t(rows) * columns) {}
  double& operator()(int i, int j) { return value[std::size_t(i) * columns + j]; }
  double operator()(int i, int j) const { return value[std::size_t(i) * columns + j]; }
};

inline Dense product(const Dense& a, const Dense& b) {
  Dense c(a.rows, b.columns);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.columns; ++j)
      for (int k = 0; k < a.columns; ++k)
        c(i, j) += a(i, k) * b(k, j);
  return c;
}

inline Dense transposed(const Dense& a) {
  Dense t(a.columns, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j)
      t(j, i) = a(i, j);
  return t;
}

inline double determinant(const Dense& a) {
  return a(0, 0) * (a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1)) -
         a(0, 1) * (a(1, 0) * a(2, 2) - a(1, 2) * a(2, 0)) +
         a(0, 2) * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0));
}

/// Of a 3 x 3 matrix, by Cramer's rule.
inline Dense inverted(const Dense& a) {
  Dense b(3, 3);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int p = (j + 1) % 3, q = (j + 2) % 3, r = (i + 1) % 3, s = (i + 2) % 3;
      b(i, j) = (a(p, r) * a(q, s) - a(p, s) * a(q, r)) / determinant(a);
    }
  return b;
}

/// F (F^T F)^-1/2 with the square root of Denman and Beavers; det F > 0.
inline Dense polar(const Dense& f) {
  Dense root = product(transposed(f), f), other(3, 3);
  for (int i = 0; i < 3; ++i)
    other(i, i) = 1;
  for (int iteration = 0; iteration < 40; ++iteration) {
    const Dense a = inverted(other), b = inverted(root);
    for (int i = 0; i < 9; ++i) {
      root.value[i] = 0.5 * (root.value[i] + a.value[i]);
      other.value[i] = 0.5 * (other.value[i] + b.value[i]);
    }
  }
  return product(f, inverted(root));
}

/// Columns: along a, across it towards b, normal.
inline Dense frame(const std::vector<double>& a, const std::vector<double>& b) {
  double la = 0, along = 0, ly = 0;
  for (int c = 0; c < 3; ++c)
    la += a[c] * a[c];
  for (int c = 0; c < 3; ++c)
    along += a[c] * b[c] / la;
  Dense q(3, 3);
  for (int c = 0; c < 3; ++c) {
    q(c, 0) = a[c] / std::sqrt(la);
    q(c, 1) = b[c] - along * a[c];
    ly += q(c, 1) * q(c, 1);
  }
  for (int c = 0; c < 3; ++c)
    q(c, 1) /= std::sqrt(ly);
  for (int c = 0; c < 3; ++c)
    q(c, 2) = q((c + 1) % 3, 0) * q((c + 2) % 3, 1) - q((c + 2) % 3, 0) * q((c + 1) % 3, 1);
  return q;
}

/// An element of 3 (triangle), 4 (tetrahedron) or 8 (hexahedron) nodes with linear elasticity.
struct SoftElement {
  int n;
  std::vector<double> rest; ///< [n, 3]
  double young, poisson, thickness;
  double spared_tension = 0; ///< of solids, Pa / m^2: by the squares of gradients and the nodes

  /// Derivatives of the shape functions at (xi, eta, zeta): [n, 3]; of simplices by barycentric
  /// coordinates, of hexahedra on [-1, 1]^3.
  Dense local_gradients(const std::vector<double>& at) const {
    static const int corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                     {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    Dense g(n, 3);
    for (int a = 0; a < n; ++a)
      for (int d = 0; d < 3; ++d) {
        if (n == 8) {
          g(a, d) = 0.125;
          for (int e = 0; e < 3; ++e)
            g(a, d) *= e == d ? corner[a][e] : 1 + at[e] * corner[a][e];
        } else {
          g(a, d) = a == 0 ? -1 : a == d + 1;
        }
      }
    return g;
  }

  /// Sum of y_a grad_xi N_a^T: dy / dxi.
  Dense jacobian(const std::vector<double>& y, const std::vector<double>& at) const {
    const Dense g = local_gradients(at);
    Dense j(3, 3);
    for (int a = 0; a < n; ++a)
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < 3; ++d)
          j(c, d) += y[3 * a + c] * g(a, d);
    return j;
  }

  Dense deformation_gradient(const std::vector<double>& x) const {
    return product(jacobian(x, {0, 0, 0}), inverted(jacobian(rest, {0, 0, 0})));
  }

  std::vector<double> edge(const std::vector<double>& x, int a, int b) const {
    return {x[3 * b] - x[3 * a], x[3 * b + 1] - x[3 * a + 1], x[3 * b + 2] - x[3 * a + 2]};
  }

  /// Mean edges of a hexahedron, first edges of a simplex.
  Dense element_frame(const std::vector<double>& x) const {
    if (n != 8)
      return frame(edge(x, 0, 1), edge(x, 0, 2));
    std::vector<double> h(3), v(3);
    for (int c = 0; c < 3; ++c) {
      h[c] = edge(x, 0, 1)[c] + edge(x, 3, 2)[c] + edge(x, 4, 5)[c] + edge(x, 7, 6)[c];
      v[c] = edge(x, 0, 3)[c] + edge(x, 1, 2)[c] + edge(x, 4, 7)[c] + edge(x, 5, 6)[c];
    }
    return frame(h, v);
  }

  /// B^T D B in Voigt's notation for gradients [n, 3] at a point of weight w; plane stress for
  /// triangles.
  void add_stiffness(const Dense& gradient, double w, Dense& k) const {
    Dense b(6, 3 * n), d(6, 6);
    for (int a = 0; a < n; ++a)
      for (int c = 0; c < 3; ++c) {
        b(c, 3 * a + c) = gradient(a, c);
        const int e = (c + 1) % 3; // shear c: between axes c and e
        b(3 + c, 3 * a + c) = gradient(a, e);
        b(3 + c, 3 * a + e) = gradient(a, c);
      }
    const double shear = young / (2 * (1 + poisson));
    if (n == 3) {
      d(0, 0) = d(1, 1) = young / (1 - poisson * poisson);
      d(0, 1) = d(1, 0) = poisson * d(0, 0);
      d(3, 3) = shear;
    } else {
      const double s = young / ((1 + poisson) * (1 - 2 * poisson));
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
          d(i, j) = s * (i == j ? 1 - poisson : poisson);
        d(3 + i, 3 + i) = shear;
      }
    }
    const Dense added = product(transposed(b), product(d, b));
    for (std::size_t i = 0; i < k.value.size(); ++i)
      k.value[i] += w * added.value[i];
  }

  /// K0 [3 n, 3 n] of tetrahedra and hexahedra.
  Dense stiffness() const {
    Dense k(3 * n, 3 * n);
    const double s = 1 / std::sqrt(3.0);
    for (int g = 0; g < (n == 8 ? 8 : 1); ++g) {
      const std::vector<double> at = {g & 1 ? s : -s, g & 2 ? s : -s, g & 4 ? s : -s};
      const Dense j = jacobian(rest, at);
      add_stiffness(product(local_gradients(at), inverted(j)), determinant(j) / (n == 8 ? 1 : 6),
                    k);
    }
    return k;
  }

  struct Response {
    std::vector<double> force;
    Dense stiffness;
    double energy;
  };

  /// f = R K0 (R^T x - X), R K0 R^T and (R^T x - X)^T K0 (R^T x - X) / 2, with what tension adds as
  /// R turns; membranes have the stiffness of their tension across their plane, too. The tension
  /// is that of sym(R^T F) - I with R of the positions `before`.
  Response corotational(const std::vector<double>& x, const std::vector<double>& before,
                        bool by_polar) const {
    if (n == 3)
      return membrane(x, before, by_polar);
    const auto rotation = [&](const std::vector<double>& at) {
      return by_polar ? polar(deformation_gradient(at))
                      : product(element_frame(at), transposed(element_frame(rest)));
    };
    const Dense r = rotation(x);
    Response response = turned(r, rest, x, stiffness());
    const Dense j = jacobian(rest, {0, 0, 0});
    const Dense u = product(transposed(rotation(before)), deformation_gradient(x));
    const double shear = young / (2 * (1 + poisson));
    add_turning(r, product(local_gradients({0, 0, 0}), inverted(j)), u,
                2 * shear * poisson / (1 - 2 * poisson), shear,
                determinant(j) * (n == 8 ? 8. : 1. / 6), response.stiffness);
    return response;
  }

private:
  /// V sum over principal axes p of U of c / 2 (p x D_a) (p x D_b), turned by R, where the stresses
  /// of the two other axes, with stretches s, pull: c = (stress + stress) / (s + s), less what is
  /// spared.
  void add_turning(const Dense& r, const Dense& gradient, const Dense& u, double lambda,
                   double shear, double volume, Dense& k) const {
    double squares = 0;
    for (const double d : gradient.value)
      squares += d * d;
    Dense stretch(3, 3), axis(3, 3);
    for (int i = 0; i < 3; ++i) {
      axis(i, i) = 1;
      for (int j = 0; j < 3; ++j)
        stretch(i, j) = 0.5 * (u(i, j) + u(j, i));
    }
    for (int turn = 0; turn < 60; ++turn) { // of Jacobi, one pair of axes after the other
      const int p = turn % 3, q = (turn + 1) % 3;
      const double apart = stretch(q, q) - stretch(p, p); // at most 45 degrees
      const double angle =
          0.5 * std::atan2(std::copysign(2., apart) * stretch(p, q), std::abs(apart));
      Dense plane(3, 3);
      plane(p, p) = plane(q, q) = std::cos(angle), plane(3 - p - q, 3 - p - q) = 1;
      plane(p, q) = std::sin(angle), plane(q, p) = -plane(p, q);
      stretch = product(product(transposed(plane), stretch), plane);
      axis = product(axis, plane);
    }
    const double sum = stretch(0, 0) + stretch(1, 1) + stretch(2, 2);
    for (int p = 0; p < 3; ++p) {
      const double others = sum - stretch(p, p);
      const double c = (2 * lambda * (sum - 3) + 2 * shear * (others - 2)) / others -
                       spared_tension / (squares * n);
      if (c > 0)
        add_turns(r, gradient, {axis(0, p), axis(1, p), axis(2, p)}, volume * c / 2, k);
    }
  }

  /// scale (axis x D_a) (axis x D_b), turned by R.
  static void add_turns(const Dense& r, const Dense& gradient, const std::vector<double>& axis,
                        double scale, Dense& k) {
    Dense turn(gradient.rows, 3);
    for (int a = 0; a < gradient.rows; ++a)
      for (int i = 0; i < 3; ++i)
        for (int c = 0; c < 3; ++c)
          turn(a, i) += r(i, c) * (axis[(c + 1) % 3] * gradient(a, (c + 2) % 3) -
                                   axis[(c + 2) % 3] * gradient(a, (c + 1) % 3));
    for (int i = 0; i < k.rows; ++i)
      for (int j = 0; j < k.rows; ++j)
        k(i, j) += scale * turn(i / 3, i % 3) * turn(j / 3, j % 3);
  }

  /// Axes of a triangle at x: those of its first edge, or those that its rotation takes there.
  Dense membrane_frame(const std::vector<double>& x, const Dense& gradient, bool by_polar) const {
    const Dense t = element_frame(x);
    if (!by_polar)
      return t;
    double f[2][2] = {{0, 0}, {0, 0}};
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 2; ++c)
        for (int d = 0; d < 2; ++d)
          for (int e = 0; e < 3; ++e)
            f[c][d] += t(e, c) * (x[3 * a + e] - x[e]) * gradient(a, d);
    const double angle = std::atan2(f[1][0] - f[0][1], f[0][0] + f[1][1]);
    Dense turn(3, 3);
    turn(0, 0) = turn(1, 1) = std::cos(angle);
    turn(1, 0) = std::sin(angle), turn(0, 1) = -turn(1, 0), turn(2, 2) = 1;
    return product(t, turn);
  }

  /// The same in the frames of the triangle, where the third coordinate is 0.
  Response membrane(const std::vector<double>& x, const std::vector<double>& before,
                    bool by_polar) const {
    const Dense t0 = element_frame(rest);
    std::vector<double> flat_rest(9);
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 2; ++c)
        for (int e = 0; e < 3; ++e)
          flat_rest[3 * a + c] += t0(e, c) * (rest[3 * a + e] - rest[e]);
    const double x1 = flat_rest[3], x2 = flat_rest[6], y2 = flat_rest[7];
    Dense gradient(3, 3);
    gradient(1, 0) = 1 / x1, gradient(1, 1) = -x2 / (x1 * y2), gradient(2, 1) = 1 / y2;
    for (int c = 0; c < 2; ++c)
      gradient(0, c) = -gradient(1, c) - gradient(2, c);
    const Dense t = membrane_frame(x, gradient, by_polar),
                t_before = membrane_frame(before, gradient, by_polar);
    Dense k(9, 9);
    add_stiffness(gradient, 0.5 * x1 * y2 * thickness, k);
    std::vector<double> from_first(9);
    for (int i = 0; i < 9; ++i)
      from_first[i] = x[i] - x[i % 3];
    Response response = turned(t, flat_rest, from_first, k);
    const double volume = 0.5 * x1 * y2 * thickness;
    add_tension(t, t_before, gradient, x, volume, response.stiffness);
    double stretches = 0;
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 2; ++c)
        for (int i = 0; i < 3; ++i)
          stretches += t_before(i, c) * x[3 * a + i] * gradient(a, c);
    const double stresses = young / (1 - poisson) * (stretches - 2);
    if (stresses > 0)
      add_turns(t, gradient, {0, 0, 1}, volume * stresses / stretches / 2, response.stiffness);
    return response;
  }

  /// V sum over principal axes that pull of stress / stretch (axis . D_a) (axis . D_b) n n^T.
  void add_tension(const Dense& t, const Dense& t_before, const Dense& gradient,
                   const std::vector<double>& x, double volume, Dense& k) const {
    double f[2][2] = {{0, 0}, {0, 0}}; // t_before^T F
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 2; ++c)
        for (int d = 0; d < 2; ++d)
          for (int i = 0; i < 3; ++i)
            f[c][d] += t_before(i, c) * x[3 * a + i] * gradient(a, d);
    const double angle = 0.5 * std::atan2(f[0][1] + f[1][0], f[0][0] - f[1][1]);
    const double axis[2][2] = {{std::cos(angle), std::sin(angle)},
                               {-std::sin(angle), std::cos(angle)}};
    double stretch[2] = {0, 0};
    for (int p = 0; p < 2; ++p)
      for (int c = 0; c < 2; ++c)
        for (int d = 0; d < 2; ++d)
          stretch[p] += axis[p][c] * f[c][d] * axis[p][d];
    for (int p = 0; p < 2; ++p) {
      const double stress =
          young / (1 - poisson * poisson) * (stretch[p] - 1 + poisson * (stretch[1 - p] - 1));
      if (stress <= 0)
        continue;
      double slope[3];
      for (int a = 0; a < 3; ++a)
        slope[a] = axis[p][0] * gradient(a, 0) + axis[p][1] * gradient(a, 1);
      for (int i = 0; i < 9; ++i)
        for (int j = 0; j < 9; ++j)
          k(i, j) += volume * stress / stretch[p] * slope[i / 3] * slope[j / 3] * t(i % 3, 2) *
                     t(j % 3, 2);
    }
  }

  Response turned(const Dense& r, const std::vector<double>& from, const std::vector<double>& x,
                  const Dense& k0) const {
    Dense turn(3 * n, 3 * n), u(3 * n, 1);
    for (int a = 0; a < n; ++a)
      for (int i = 0; i < 3; ++i) {
        u(3 * a + i, 0) = -from[3 * a + i];
        for (int j = 0; j < 3; ++j) {
          turn(3 * a + i, 3 * a + j) = r(i, j);
          u(3 * a + i, 0) += r(j, i) * x[3 * a + j];
        }
      }
    const Dense force = product(k0, u);
    return {product(turn, force).value, product(product(turn, k0), transposed(turn)),
            0.5 * product(transposed(u), force)(0, 0)};
  }
};

/// Energies per volume of F.
struct HyperelasticEnergy {
  double lambda = 0, mu = 0; ///< of the first and the last
  double c1 = 0, c2 = 0, bulk = 0;

  double st_venant_kirchhoff(const Dense& f) const {
    double strain_squared = 0, trace = 0;
    const Dense c = product(transposed(f), f);
    for (int i = 0; i < 3; ++i) {
      trace += 0.5 * (c(i, i) - 1);
      for (int j = 0; j < 3; ++j)
        strain_squared += std::pow(0.5 * (c(i, j) - (i == j)), 2);
    }
    return 0.5 * lambda * trace * trace + mu * strain_squared;
  }

  /// I1 and I2 of C / J^(2/3).
  double mooney_rivlin(const Dense& f) const {
    const double j = determinant(f);
    Dense c = product(transposed(f), f);
    for (double& value : c.value)
      value *= std::pow(j, -2.0 / 3);
    const double i1 = c(0, 0) + c(1, 1) + c(2, 2);
    const double i2 = c(0, 0) * c(1, 1) - c(0, 1) * c(1, 0) + c(1, 1) * c(2, 2) -
                      c(1, 2) * c(2, 1) + c(2, 2) * c(0, 0) - c(2, 0) * c(0, 2);
    return c1 * (i1 - 3) + c2 * (i2 - 3) + 0.5 * bulk * std::pow(std::log(j), 2);
  }

  double neo_hookean(const Dense& f) const {
    const double j = determinant(f), alpha = 1 + mu / (lambda + mu);
    double i1 = 0;
    for (double value : f.value)
      i1 += value * value;
    return 0.5 * mu * (i1 - 3) +
           0.5 * (lambda + mu) * (std::pow(j - alpha, 2) - std::pow(1 - alpha, 2));
  }
};

} // namespace reference
