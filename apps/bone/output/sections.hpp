// SPDX-License-Identifier: Apache-2.0
// Section forces are what the layers of voxels across the axis of a test carry along it, by the
// labels of the mask: the load share of cortical and trabecular bone.
#pragma once

#include "apps/driver/output/table.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <vector>

namespace ossatura {

/// The mean stress of a voxel along the axis, times its cross-section, is the force through it: the
/// nodal forces at its upper side are the integral of that stress over it, by its height. So the
/// sum over a layer is in equilibrium with the reaction, exactly, where no node of it is held.
struct SectionForces {
  int axis = 2; ///< 0 = x, 1 = y, 2 = z
  std::vector<int> labels;
  std::vector<double>
      position;              ///< [layers] of the layer's middle, mm from the image's lower corner
  std::vector<double> force; ///< [layers] N, positive in tension; caps are in it
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

void add_sections(Table& table, const SectionForces& sections);

nlohmann::ordered_json sections_json(const SectionForces& sections);

/// A line for each layer, with numbers that can be read back exactly. Throws InputError where
/// `path` cannot be written.
void write_sections(const std::string& path, const SectionForces& sections);

} // namespace ossatura
