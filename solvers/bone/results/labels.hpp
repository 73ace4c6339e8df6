// SPDX-License-Identifier: Apache-2.0
// What the parts of a segmentation of the image bear: cortical and trabecular bone, one body or the
// other. By label: statistics, and of a test along an axis the share of the force in each section.
#pragma once

#include <ossatura/solvers/bone/results/solution.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// What the bone with one label bears. Means and maxima are over voxels, at their centres.
struct LabelStatistics {
  int label = 0;
  std::string name; ///< of the segment, where the caller has one
  std::int64_t num_elem = 0;
  double modulus_mean = 0;                      ///< MPa
  double sed_mean = 0;                          ///< MPa
  double von_mises_mean = 0, von_mises_max = 0; ///< MPa
  double effective_strain_mean = 0, effective_strain_max = 0;
  double energy_share = 0; ///< part of the sum of energy densities at centres
};

/// What the layers of voxels across the axis of a test carry along it, by label. The mean stress of
/// a voxel along the axis, times its cross-section, is the force through it: the nodal forces at
/// its upper side are the integral of that stress over it, by its height. So the sum over a layer
/// is in equilibrium with the reaction, exactly, where no node of it is held.
struct SectionForces {
  int axis = 2; ///< 0 = x, 1 = y, 2 = z
  std::vector<int> labels;
  std::vector<double>
      position;              ///< [layers] of the layer's middle, mm from the image's lower corner
  std::vector<double> force; ///< [layers] N, positive in tension; what is no bone is in it
  std::vector<double> of_label; ///< [layers, labels] N
  int begin = 0, end = 0;       ///< layers between the plates, all of whose nodes are free
  double reaction = 0;          ///< of the upper plate, N

  double label_force(int layer, std::size_t label) const {
    return of_label[std::size_t(layer) * labels.size() + label];
  }
  /// The largest difference between a layer's force and the reaction, by that; 0 where no layer is
  /// between the plates.
  double imbalance() const;
  /// Lowest, middle and highest layer between the plates.
  std::array<int, 3> shown() const { return {begin, (begin + end) / 2, end - 1}; }
};

struct LabelResults {
  std::vector<LabelStatistics> statistics; ///< of the labels that the bone has, ascending
  std::optional<SectionForces> sections;
};

/// The image that labels are of.
struct LabelledImage {
  std::array<int, 3> shape{0, 0, 0};
  std::vector<float> label; ///< [nx ny nz] whole numbers, x fastest; of the first rank
};

/// Statistics of the labels of `bone`, whose fields are those of the bone alone; `whole` has those
/// of all that is solid, the same where `has_foreign` is false. Sections are across `axis`, where
/// that is given: that of a plate which moves along it. By all ranks of the problem; the first has
/// the results. Sums are in the order of voxels: their bits do not depend on the ranks. Fences.
template<class Exec>
LabelResults evaluate_labels(const Exec& exec, const VoxelProblem<Exec>& problem,
                             const BoneLoad<Exec>& load, const BoneSolution<Exec>& whole,
                             const BoneSolution<Exec>& bone, bool has_foreign,
                             const LabelledImage& image, std::optional<int> axis);

} // namespace ossatura
