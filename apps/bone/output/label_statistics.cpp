// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/label_statistics.hpp"

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
  blocks.finish();
  double energy = 0;
  for (const double part : sed.sum)
    energy += part;
  for (std::size_t k = 0; k < statistics.size(); ++k) {
    LabelStatistics& of = statistics[k];
    const auto count = double(of.num_elem);
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
  template void add_label_statistics(const Exec&, const BoneOptions&, const BoneModel<Exec>&,      \
                                     const VoxelProblem<Exec>&, const BoneSolution<Exec>&,         \
                                     BoneResults&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
