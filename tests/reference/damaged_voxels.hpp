// SPDX-License-Identifier: Apache-2.0
// Oracle: isotropic damage of voxels in plain loops, with dense element matrices and a secant
// iteration of dense solves. Of the library's law it has the words of kernels/bone/damage/law.hpp
// and nothing else.
#pragma once

#include "tests/reference/plastic_voxels.hpp"

namespace reference {

/// Damage from strains in tension and compression on, and the fracture energy in N/mm.
struct Softening {
  double tension = 0, compression = 0, fracture_energy = 0;
};

/// The load r of a voxel at u, 1 where damage begins.
inline double damage_load(const ElementMatrix& k, const Softening& law, double modulus,
                          double poisson, double h, const ElementVector& u) {
  const double mu = modulus / (2 * (1 + poisson)), bulk = modulus / (3 * (1 - 2 * poisson));
  const double sum = law.compression + law.tension,
               pressure = (law.compression - law.tension) / sum,
               strength = 2 * law.compression * law.tension / sum * modulus;
  const auto gradient = mean_gradient(u, h);
  const double trace = gradient[0][0] + gradient[1][1] + gradient[2][2];
  double square = 0;
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d) {
      const double deviator = 0.5 * (gradient[c][d] + gradient[d][c]) - (c == d ? trace / 3 : 0);
      square += deviator * deviator;
    }
  const ElementVector affine = uniform(gradient, h);
  ElementVector rest;
  for (int i = 0; i < 24; ++i) {
    double mean = 0;
    for (int v = 0; v < 8; ++v)
      mean += u[3 * v + i % 3] / 8;
    rest[i] = u[i] - mean - affine[i];
  }
  const ElementVector of_rest = multiply(k, rest);
  double energy = 0;
  for (int i = 0; i < 24; ++i)
    energy += 0.5 * rest[i] * of_rest[i];
  const double norm = std::sqrt(6 * mu * mu * square + 6 * mu * energy / (h * h * h));
  return (norm + pressure * 3 * bulk * trace) / strength;
}

/// The part of the stiffness that is left, not less than `least`, for the largest load so far.
inline double stiffness_left(const Softening& law, double modulus, double h, double most,
                             double least) {
  const double broken = 2 * law.fracture_energy / (h * modulus * law.tension * law.tension);
  return most <= 1        ? 1
         : most >= broken ? least
                          : std::max(least, (broken - most) / (broken - 1) / most);
}

/// A body of voxels on its lattice, loaded step by step.
class DamagedBody {
public:
  DamagedBody(const Model& model, const Softening& law, double least, std::vector<char> held)
      : model_(model)
      , law_(law)
      , least_(least)
      , held_(std::move(held))
      , u_(std::size_t(model.num_dofs()))
      , most_(model.modulus.size()) {
    for (int node = 0; node < model.num_lattice_nodes(); ++node)
      for (int c = 0; c < 3; ++c)
        if (!model.has_node(node))
          held_[std::size_t(3 * node + c)] = 1;
  }

  /// Moves held components to those of `u`, from the last state in proportion, and keeps damage.
  void load(const std::vector<double>& u, double ratio) {
    for (std::size_t i = 0; i < u_.size(); ++i)
      u_[i] = held_[i] ? u[i] : ratio * u_[i];
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < u_.size(); ++i)
      if (!held_[i])
        free.push_back(i);
    for (int iteration = 0; iteration < 3000; ++iteration) {
      std::vector<double> matrix(u_.size() * u_.size()); // row by row
      const std::vector<double> next = assemble(matrix);
      force_.assign(u_.size(), 0);
      double norm = 0, scale = 0;
      for (std::size_t i = 0; i < u_.size(); ++i) {
        for (std::size_t j = 0; j < u_.size(); ++j)
          force_[i] += matrix[i * u_.size() + j] * u_[j];
        (held_[i] ? scale : norm) += force_[i] * force_[i];
      }
      if (norm <= 1e-22 * scale) {
        most_ = next;
        return;
      }
      std::vector<double> of_free, right;
      for (const std::size_t i : free) {
        for (const std::size_t j : free)
          of_free.push_back(matrix[i * u_.size() + j]);
        right.push_back(-force_[i]);
      }
      const std::vector<double> step = solve_dense(of_free, right);
      for (std::size_t i = 0; i < free.size(); ++i)
        u_[free[i]] += step[i];
    }
    throw std::runtime_error("the oracle's secant iteration does not converge");
  }

  const std::vector<double>& u() const { return u_; }
  const std::vector<double>& force() const { return force_; }
  /// 1 - D of a voxel.
  double left(int voxel) const {
    const auto i = std::size_t(voxel);
    return stiffness_left(law_, model_.modulus[i], model_.edge, most_[i], least_);
  }

private:
  /// Adds the secant matrix at u; returns the largest loads with that of u.
  std::vector<double> assemble(std::vector<double>& matrix) const {
    std::vector<double> next = most_;
    for (int z = 0; z < model_.shape[2]; ++z)
      for (int y = 0; y < model_.shape[1]; ++y)
        for (int x = 0; x < model_.shape[0]; ++x) {
          if (!model_.solid(x, y, z))
            continue;
          const auto voxel = std::size_t(model_.voxel(x, y, z));
          const double modulus = model_.modulus[voxel], poisson = model_.poisson[voxel];
          const ElementMatrix k = element_matrix(modulus, poisson, model_.edge);
          std::array<std::size_t, 24> dof{};
          ElementVector u{};
          for (std::size_t i = 0; i < 24; ++i) {
            const int v = int(i / 3);
            dof[i] =
                3 * std::size_t(model_.node(x + (v & 1), y + (v >> 1 & 1), z + (v >> 2))) + i % 3;
            u[i] = u_[dof[i]];
          }
          next[voxel] =
              std::max(most_[voxel], damage_load(k, law_, modulus, poisson, model_.edge, u));
          const double left = stiffness_left(law_, modulus, model_.edge, next[voxel], least_);
          for (std::size_t i = 0; i < 24; ++i)
            for (std::size_t j = 0; j < 24; ++j)
              matrix[dof[i] * u_.size() + dof[j]] += left * k[i][j];
        }
    return next;
  }

  Model model_;
  Softening law_;
  double least_;
  std::vector<char> held_;
  std::vector<double> u_, force_, most_;
};

} // namespace reference
