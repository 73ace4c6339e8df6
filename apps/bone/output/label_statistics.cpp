// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/label_statistics.hpp"

#include "apps/bone/input/load.hpp"
#include "apps/bone/input/mask.hpp"
#include "apps/bone/output/images.hpp"
#include <ossatura/core/comm/together.hpp>
#include <ossatura/kernels/algebra/ranks/blocks.hpp>

#include <algorithm>
#include <map>

namespace ossatura {

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

/// The layer across `axis` of each voxel of the fields, of all ranks on the first.
template<class Exec>
std::vector<int> list_layers(const Exec& exec, const BoneModel<Exec>& model,
                             const BoneSolution<Exec>& solution, int axis,
                             RankBlocks<Exec>& blocks) {
  const auto& shape = model.modulus.shape;
  const std::int64_t below = axis == 0   ? 1
                             : axis == 1 ? shape[0]
                                         : std::int64_t(shape[0]) * shape[1];
  std::vector<int> layer;
  blocks.for_each(place_voxels(exec, model, solution), 1,
                  [&](const std::int64_t* voxel, std::size_t, std::size_t rows) {
                    for (std::size_t i = 0; i < rows; ++i)
                      layer.push_back(int(voxel[i] / below % shape[axis]));
                  });
  return layer;
}

/// Whether a plate moves along the axis, so that there is a force through the sections across it.
template<class Exec>
bool has_axial_plates(const BoneOptions& options, const BoneModel<Exec>& model) {
  return (options.test == LoadTest::by_input && !has_listed_load(options, model)) ||
         options.test == LoadTest::axial || options.test == LoadTest::uniaxial ||
         options.test == LoadTest::confined;
}

/// The forces through the layers across the axis, of the bone and of the whole with its caps and
/// pads. `label` of the bone's voxels are numbers of `labels`.
template<class Exec>
SectionForces sum_sections(const Exec& exec, const BoneOptions& options,
                           const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                           const BoneLoad<Exec>& load, const BoneSolution<Exec>& whole,
                           const BoneSolution<Exec>& bone, const std::vector<int>& label,
                           const std::vector<LabelStatistics>& labels, RankBlocks<Exec>& blocks) {
  SectionForces sections;
  const int axis = options.axis;
  const auto num_layers = std::size_t(model.modulus.shape[axis]);
  const double area = model.edge * model.edge;
  sections.axis = axis;
  for (const LabelStatistics& of : labels)
    sections.labels.push_back(of.label);
  sections.force.resize(num_layers);
  sections.of_label.resize(num_layers * labels.size());
  for (std::size_t k = 0; k < num_layers; ++k)
    sections.position.push_back(model.edge *
                                (double(k) + 0.5 - model.planes_below[std::size_t(axis)]));
  const auto sum = [&](const BoneSolution<Exec>& solution, const auto& add) {
    const std::vector<int> layer = list_layers(exec, model, solution, axis, blocks);
    blocks.for_each(solution.fields.stress, 6,
                    [&](const float* stress, std::size_t first, std::size_t rows) {
                      for (std::size_t i = 0; i < rows; ++i)
                        add(std::size_t(layer[first + i]), first + i,
                            area * double(stress[6 * i + std::size_t(axis)]));
                    });
  };
  sum(bone, [&](std::size_t layer, std::size_t voxel, double force) {
    sections.of_label[layer * labels.size() + std::size_t(label[voxel])] += force;
    if (!model.foreign)
      sections.force[layer] += force;
  });
  if (model.foreign)
    sum(whole,
        [&](std::size_t layer, std::size_t, double force) { sections.force[layer] += force; });

  // Layers none of whose nodes a plate holds: one rests, the other moves.
  sections.end = int(num_layers);
  for (const HeldNode& node :
       list_held_nodes(exec, problem.grid, problem.held, load.u, Array<double, Exec>(),
                       problem.lame.mu_value, ranks_of(problem), load.node_sets)) {
    const int at[] = {node.site.x, node.site.y, node.site.z};
    if ((node.components >> axis & 1) == 0)
      continue;
    if (node.displacement[axis] == 0)
      sections.begin = std::max(sections.begin, at[axis]);
    else
      sections.end = std::min(sections.end, at[axis]);
  }
  sections.end = std::max(sections.begin, sections.end);
  return sections;
}

/// The labels of the voxels of the fields, of all ranks on the first, as numbers of `statistics`,
/// where they are counted.
template<class Exec>
std::vector<int> count_labels(const Exec& exec, const BoneModel<Exec>& model,
                              const BoneSolution<Exec>& solution, const std::vector<float>& mask,
                              RankBlocks<Exec>& blocks, std::vector<LabelStatistics>& statistics) {
  std::vector<int> label;
  std::map<int, std::int64_t> count;
  blocks.for_each(place_voxels(exec, model, solution), 1,
                  [&](const std::int64_t* voxel, std::size_t, std::size_t rows) {
                    for (std::size_t i = 0; i < rows; ++i) {
                      label.push_back(int(mask.at(std::size_t(voxel[i]))));
                      ++count[label.back()];
                    }
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
void add_label_statistics(const Exec& exec, const BoneOptions& options,
                          const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                          const BoneLoad<Exec>& load, const BoneSolution<Exec>& whole,
                          const BoneSolution<Exec>& solution, BoneResults& results) {
  const Communicator comm = ranks_of(problem);
  std::vector<float> mask;
  together(comm, [&] {
    if (comm.is_first())
      mask = read_mask(exec, options, model);
  });
  RankBlocks<Exec> blocks(exec, comm);
  std::vector<LabelStatistics> statistics;
  const std::vector<int> label = count_labels(exec, model, solution, mask, blocks, statistics);
  const auto sum = [&](const auto& field) {
    PartSums sums(statistics.size());
    blocks.for_each(field, 1, [&](const auto* values, std::size_t first, std::size_t rows) {
      for (std::size_t i = 0; i < rows; ++i)
        sums.add(std::size_t(label[first + i]), double(values[i]));
    });
    return sums;
  };
  const PartSums modulus = sum(list_moduli(exec, solution)),
                 sed = sum(solution.fields.energy_density),
                 von_mises = sum(solution.fields.von_mises),
                 effective = sum(solution.fields.effective_strain);
  if (has_axial_plates(options, model) && results.response && results.response->force) {
    results.sections = sum_sections(exec, options, model, problem, load, whole, solution, label,
                                    statistics, blocks);
    results.sections->reaction = *results.response->force;
  }
  blocks.finish();
  double energy = 0;
  for (const double part : sed.sum)
    energy += part;
  for (std::size_t k = 0; k < statistics.size(); ++k) {
    LabelStatistics& of = statistics[k];
    const auto count = double(of.num_elem);
    if (const auto name = model.label_names.find(of.label); name != model.label_names.end())
      of.name = name->second;
    of.modulus_mean = modulus.sum[k] / count;
    of.sed_mean = sed.sum[k] / count;
    of.von_mises_mean = von_mises.sum[k] / count;
    of.von_mises_max = von_mises.most[k];
    of.effective_strain_mean = effective.sum[k] / count;
    of.effective_strain_max = effective.most[k];
    of.energy_share = energy > 0 ? sed.sum[k] / energy : 0;
  }
  results.labels = std::move(statistics);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void add_label_statistics(                                                              \
      const Exec&, const BoneOptions&, const BoneModel<Exec>&, const VoxelProblem<Exec>&,          \
      const BoneLoad<Exec>&, const BoneSolution<Exec>&, const BoneSolution<Exec>&, BoneResults&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
