// SPDX-License-Identifier: Apache-2.0
// Oracle: plasticity of voxels in plain loops, with dense element matrices, returns by bisection,
// tangents by differences of element forces, and Newton's method with a dense solve. Of the
// library's law it has the words of kernels/bone/plasticity/return_mapping.hpp and nothing else: no
// transforms, no closed returns, no derivatives.
#pragma once

#include "tests/reference/dense_cholesky.hpp"
#include "tests/reference/voxel_reference.hpp"

#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace reference {

/// norm + pressure tr(sigma) = strength + hardening gamma, in MPa.
struct Cone {
  double pressure = 0, strength = 1, hardening = 0;
};

using ElementVector = std::array<double, 24>;

/// Of one voxel: plastic displacements of its vertices, and the multiplier.
struct PlasticElement {
  ElementVector u{};
  double multiplier = 0;
};

/// The gradient of a displacement at the centre, by differences of faces.
inline std::array<std::array<double, 3>, 3> mean_gradient(const ElementVector& u, double h) {
  std::array<std::array<double, 3>, 3> gradient{};
  for (int v = 0; v < 8; ++v)
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d)
        gradient[c][d] += (v >> d & 1 ? 0.25 : -0.25) / h * u[3 * v + c];
  return gradient;
}

/// The displacement of the vertices with a uniform symmetric strain tensor, about the centre.
inline ElementVector uniform(const std::array<std::array<double, 3>, 3>& strain, double h) {
  ElementVector u{};
  for (int v = 0; v < 8; ++v)
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d)
        u[3 * v + c] += strain[c][d] * h * ((v >> d & 1) - 0.5);
  return u;
}

inline ElementVector multiply(const ElementMatrix& k, const ElementVector& u) {
  ElementVector f{};
  for (int i = 0; i < 24; ++i)
    for (int j = 0; j < 24; ++j)
      f[i] += k[i][j] * u[j];
  return f;
}

/// Forces of the vertices at u, and what is plastic there; `before` is that of the last load.
inline ElementVector return_element(const ElementMatrix& k, const Cone& cone, double modulus,
                                    double poisson, double h, const ElementVector& u,
                                    const PlasticElement& before, PlasticElement& after) {
  const double mu = modulus / (2 * (1 + poisson)), bulk = modulus / (3 * (1 - 2 * poisson));
  ElementVector elastic;
  for (int i = 0; i < 24; ++i)
    elastic[i] = u[i] - before.u[i];
  // Rigid motions, uniform dilation, uniform distortion, and the rest.
  const auto gradient = mean_gradient(elastic, h);
  std::array<std::array<double, 3>, 3> distortion{};
  const double trace = gradient[0][0] + gradient[1][1] + gradient[2][2];
  double square = 0;
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d) {
      distortion[c][d] = 0.5 * (gradient[c][d] + gradient[d][c]) - (c == d ? trace / 3 : 0);
      square += distortion[c][d] * distortion[c][d];
    }
  const ElementVector affine = uniform(gradient, h), distorted = uniform(distortion, h);
  ElementVector rest;
  for (int i = 0; i < 24; ++i) {
    double mean = 0;
    for (int v = 0; v < 8; ++v)
      mean += elastic[3 * v + i % 3] / 8;
    rest[i] = elastic[i] - mean - affine[i];
  }
  const ElementVector of_rest = multiply(k, rest);
  double energy = 0;
  for (int i = 0; i < 24; ++i)
    energy += 0.5 * rest[i] * of_rest[i];
  const double norm = std::sqrt(6 * mu * mu * square + 6 * mu * energy / (h * h * h));
  const auto excess = [&](double multiplier) {
    return std::max(norm - 3 * mu * multiplier, 0.0) +
           cone.pressure * 3 * bulk * (trace - 3 * cone.pressure * multiplier) - cone.strength -
           cone.hardening * (before.multiplier + multiplier);
  };
  after = before;
  if (excess(0) > 0) {
    double low = 0, high = 1e-6;
    while (excess(high) > 0)
      high *= 2;
    for (int i = 0; i < 200; ++i)
      (excess(0.5 * (low + high)) > 0 ? low : high) = 0.5 * (low + high);
    const double multiplier = high, lost = std::min(1.0, 3 * mu * multiplier / norm);
    std::array<std::array<double, 3>, 3> dilation{};
    for (int d = 0; d < 3; ++d)
      dilation[d][d] = cone.pressure * multiplier;
    const ElementVector dilated = uniform(dilation, h);
    for (int i = 0; i < 24; ++i)
      after.u[i] += lost * (distorted[i] + rest[i]) + dilated[i];
    after.multiplier += multiplier;
  }
  for (int i = 0; i < 24; ++i)
    elastic[i] = u[i] - after.u[i];
  return multiply(k, elastic);
}

/// A body of voxels on its lattice, loaded step by step.
class PlasticBody {
public:
  PlasticBody(const Model& model, const Cone& per_modulus, std::vector<char> held)
      : model_(model)
      , cone_(per_modulus)
      , held_(std::move(held))
      , u_(std::size_t(model.num_dofs()))
      , state_(model.modulus.size()) {
    for (int node = 0; node < model.num_lattice_nodes(); ++node)
      for (int c = 0; c < 3; ++c)
        if (!model.has_node(node))
          held_[std::size_t(3 * node + c)] = 1;
  }

  /// Moves held components to those of `u`, by Newton's method, and keeps the plastic strain.
  void load(const std::vector<double>& u) {
    for (std::size_t i = 0; i < u_.size(); ++i)
      if (held_[i])
        u_[i] = u[i];
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < u_.size(); ++i)
      if (!held_[i])
        free.push_back(i);
    std::vector<double> step;
    double before = -1, part = 1;
    for (int iteration = 0; iteration < 200; ++iteration) {
      std::vector<double> tangent(u_.size() * u_.size()); // row by row
      std::vector<PlasticElement> next;
      force_ = forces(tangent, next);
      double norm = 0, scale = 0;
      for (std::size_t i = 0; i < u_.size(); ++i)
        (held_[i] ? scale : norm) += force_[i] * force_[i];
      if (norm <= 1e-20 * scale) {
        state_ = next;
        return;
      }
      if (before >= 0 && norm > before && part > 1e-3) { // too far
        for (std::size_t i = 0; i < free.size(); ++i)
          u_[free[i]] -= 0.5 * part * step[i];
        part *= 0.5;
        continue;
      }
      before = norm;
      part = 1;
      std::vector<double> matrix, right;
      for (const std::size_t i : free) {
        for (const std::size_t j : free)
          matrix.push_back(0.5 * (tangent[i * u_.size() + j] + tangent[j * u_.size() + i]));
        right.push_back(-force_[i]);
      }
      step = solve_dense(matrix, right);
      for (std::size_t i = 0; i < free.size(); ++i)
        u_[free[i]] += step[i];
    }
    throw std::runtime_error("the oracle's Newton iteration does not converge");
  }

  const std::vector<double>& u() const { return u_; }
  const std::vector<double>& force() const { return force_; }
  const PlasticElement& state(int voxel) const { return state_[std::size_t(voxel)]; }

private:
  /// Of all voxels; adds their tangents.
  std::vector<double> forces(std::vector<double>& tangent,
                             std::vector<PlasticElement>& next) const {
    std::vector<double> sum(u_.size());
    next = state_;
    for (int z = 0; z < model_.shape[2]; ++z)
      for (int y = 0; y < model_.shape[1]; ++y)
        for (int x = 0; x < model_.shape[0]; ++x) {
          if (!model_.solid(x, y, z))
            continue;
          const auto voxel = std::size_t(model_.voxel(x, y, z));
          const double modulus = model_.modulus[voxel], poisson = model_.poisson[voxel];
          const Cone cone{cone_.pressure, cone_.strength * modulus, cone_.hardening * modulus};
          const ElementMatrix k = element_matrix(modulus, poisson, model_.edge);
          std::array<std::size_t, 24> dof{};
          ElementVector u{};
          for (std::size_t i = 0; i < 24; ++i) {
            const int v = int(i / 3);
            dof[i] =
                3 * std::size_t(model_.node(x + (v & 1), y + (v >> 1 & 1), z + (v >> 2))) + i % 3;
            u[i] = u_[dof[i]];
          }
          const auto force_at = [&](const ElementVector& at, PlasticElement& after) {
            return return_element(k, cone, modulus, poisson, model_.edge, at, state_[voxel], after);
          };
          const ElementVector force = force_at(u, next[voxel]);
          for (std::size_t i = 0; i < 24; ++i)
            sum[dof[i]] += force[i];
          for (std::size_t j = 0; j < 24; ++j) {
            PlasticElement unused;
            ElementVector up = u, down = u;
            const double change = 1e-7 * model_.edge;
            up[j] += change;
            down[j] -= change;
            const ElementVector above = force_at(up, unused), below = force_at(down, unused);
            for (std::size_t i = 0; i < 24; ++i)
              tangent[dof[i] * u_.size() + dof[j]] += (above[i] - below[i]) / (2 * change);
          }
        }
    return sum;
  }

  Model model_;
  Cone cone_;
  std::vector<char> held_;
  std::vector<double> u_, force_;
  std::vector<PlasticElement> state_;
};

} // namespace reference
