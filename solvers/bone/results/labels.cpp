// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/results/labels.hpp>

#include <ossatura/kernels/algebra/ranks/blocks.hpp>
#include <ossatura/kernels/bone/loads/reactions.hpp>
#include <ossatura/kernels/bone/voxel_lists.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace ossatura {

double SectionForces::imbalance() const {
  double most = 0;
  for (int layer = begin; layer < end; ++layer)
    most = std::max(most, std::abs(force[std::size_t(layer)] - reaction));
  return reaction != 0 ? most / std::abs(reaction) : most;
}

namespace {

/// Sum and maximum of a field over each part.
struct PartSums {
  std::vector<double> sum, most;
  explicit PartSums(std::size_t num_parts)
      : sum(num_parts)
      , most(num_parts) {}
  void add(std::size_t part, double value) {
    sum[part] += value;
    most[part] = std::max(most[part], value);
  }
};

/// What evaluate_labels() is about.
template<class Exec>
struct LabelledSolution {
  const Exec& exec;
  const VoxelProblem<Exec>& problem;
  const BoneLoad<Exec>& load;
  const BoneSolution<Exec>&whole, &bone;
  bool has_foreign;
  const LabelledImage& image;
  RankBlocks<Exec>& blocks;

  /// take(number) with the number in the image of each voxel of fields, of all ranks on the first.
  template<class Take>
  void for_each_voxel(const BoneSolution<Exec>& solution, const Take& take) {
    blocks.for_each(
        place_voxels(exec, solution.grid, solution.fields.element, image.shape[0], image.shape[1]),
        1, [&](const std::int64_t* voxel, std::size_t, std::size_t rows) {
          for (std::size_t i = 0; i < rows; ++i)
            take(voxel[i]);
        });
  }
};

/// The layer across `axis` of each voxel of the fields.
template<class Exec>
std::vector<int> list_layers(LabelledSolution<Exec>& of, const BoneSolution<Exec>& solution,
                             int axis) {
  const auto& shape = of.image.shape;
  const std::int64_t below = axis == 0   ? 1
                             : axis == 1 ? shape[0]
                                         : std::int64_t(shape[0]) * shape[1];
  std::vector<int> layer;
  of.for_each_voxel(solution, [&](std::int64_t voxel) {
    layer.push_back(int(voxel / below % shape[std::size_t(axis)]));
  });
  return layer;
}

/// Finds the layers none of whose nodes a plate holds: one plate rests, the other moves.
template<class Exec>
void find_free_layers(const LabelledSolution<Exec>& of, SectionForces& sections) {
  const VoxelProblem<Exec>& problem = of.problem;
  const int axis = sections.axis;
  sections.end = int(sections.force.size());
  for (const HeldNode& node :
       list_held_nodes(of.exec, problem.grid, problem.held, of.load.u, Array<double, Exec>(),
                       problem.lame.mu_value, ranks_of(problem), of.load.node_sets)) {
    const int at[] = {node.site.x, node.site.y, node.site.z};
    if ((node.components >> axis & 1) == 0)
      continue;
    if (node.displacement[axis] == 0)
      sections.begin = std::max(sections.begin, at[axis]);
    else
      sections.end = std::min(sections.end, at[axis]);
  }
  sections.end = std::max(sections.begin, sections.end);
}

/// The forces through the layers across the axis, of the bone and of all. `label` of the bone's
/// voxels are numbers of `labels`.
template<class Exec>
SectionForces sum_sections(LabelledSolution<Exec>& of, int axis, const std::vector<int>& label,
                           const std::vector<LabelStatistics>& labels) {
  SectionForces sections;
  const auto num_layers = std::size_t(of.image.shape[std::size_t(axis)]);
  const double edge = of.problem.edge, area = edge * edge;
  sections.axis = axis;
  for (const LabelStatistics& one : labels)
    sections.labels.push_back(one.label);
  sections.force.resize(num_layers);
  sections.of_label.resize(num_layers * labels.size());
  for (std::size_t k = 0; k < num_layers; ++k)
    sections.position.push_back(edge * (double(k) + 0.5));
  const auto sum = [&](const BoneSolution<Exec>& solution, const auto& add) {
    const std::vector<int> layer = list_layers(of, solution, axis);
    of.blocks.for_each(solution.fields.stress, 6,
                       [&](const float* stress, std::size_t first, std::size_t rows) {
                         for (std::size_t i = 0; i < rows; ++i)
                           add(std::size_t(layer[first + i]), first + i,
                               area * double(stress[6 * i + std::size_t(axis)]));
                       });
  };
  sum(of.bone, [&](std::size_t layer, std::size_t voxel, double force) {
    sections.of_label[layer * labels.size() + std::size_t(label[voxel])] += force;
    if (!of.has_foreign)
      sections.force[layer] += force;
  });
  if (of.has_foreign)
    sum(of.whole,
        [&](std::size_t layer, std::size_t, double force) { sections.force[layer] += force; });
  find_free_layers(of, sections);
  return sections;
}

/// The labels of the bone's voxels, as numbers of `statistics`, where they are counted.
template<class Exec>
std::vector<int> count_labels(LabelledSolution<Exec>& of,
                              std::vector<LabelStatistics>& statistics) {
  std::vector<int> label;
  std::map<int, std::int64_t> count;
  of.for_each_voxel(of.bone, [&](std::int64_t voxel) {
    label.push_back(int(of.image.label.at(std::size_t(voxel))));
    ++count[label.back()];
  });
  std::map<int, int> number;
  for (const auto& [name, voxels] : count) {
    number[name] = int(statistics.size());
    statistics.emplace_back();
    statistics.back().label = name;
    statistics.back().num_elem = voxels;
  }
  for (int& entry : label)
    entry = number[entry];
  return label;
}

} // namespace

template<class Exec>
LabelResults evaluate_labels(const Exec& exec, const VoxelProblem<Exec>& problem,
                             const BoneLoad<Exec>& load, const BoneSolution<Exec>& whole,
                             const BoneSolution<Exec>& bone, bool has_foreign,
                             const LabelledImage& image, std::optional<int> axis) {
  RankBlocks<Exec> blocks(exec, ranks_of(problem));
  LabelledSolution<Exec> of{exec, problem, load, whole, bone, has_foreign, image, blocks};
  LabelResults results;
  std::vector<LabelStatistics>& statistics = results.statistics;
  const std::vector<int> label = count_labels(of, statistics);
  const auto sum = [&](const auto& field) {
    PartSums sums(statistics.size());
    blocks.for_each(field, 1, [&](const auto* values, std::size_t first, std::size_t rows) {
      for (std::size_t i = 0; i < rows; ++i)
        sums.add(std::size_t(label[first + i]), double(values[i]));
    });
    return sums;
  };
  const PartSums modulus = sum(list_moduli(exec, bone.lame, bone.fields.element)),
                 sed = sum(bone.fields.energy_density), von_mises = sum(bone.fields.von_mises),
                 effective = sum(bone.fields.effective_strain);
  if (axis && whole.response && whole.response->force) {
    results.sections = sum_sections(of, *axis, label, statistics);
    results.sections->reaction = *whole.response->force;
  }
  blocks.finish();
  double energy = 0;
  for (const double part : sed.sum)
    energy += part;
  for (std::size_t k = 0; k < statistics.size(); ++k) {
    LabelStatistics& one = statistics[k];
    const auto count = double(one.num_elem);
    one.modulus_mean = modulus.sum[k] / count;
    one.sed_mean = sed.sum[k] / count;
    one.von_mises_mean = von_mises.sum[k] / count;
    one.von_mises_max = von_mises.most[k];
    one.effective_strain_mean = effective.sum[k] / count;
    one.effective_strain_max = effective.most[k];
    one.energy_share = energy > 0 ? sed.sum[k] / energy : 0;
  }
  return results;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template LabelResults evaluate_labels(                                                           \
      const Exec&, const VoxelProblem<Exec>&, const BoneLoad<Exec>&, const BoneSolution<Exec>&,    \
      const BoneSolution<Exec>&, bool, const LabelledImage&, std::optional<int>);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
