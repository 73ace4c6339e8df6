// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/label_statistics.hpp"

#include "apps/bone/input/load.hpp"
#include "apps/bone/input/mask.hpp"
#include <ossatura/core/comm/together.hpp>

namespace ossatura {

namespace {

/// Whether a plate moves along the axis, so that there is a force through the sections across it.
template<class Exec>
bool has_axial_plates(const BoneOptions& options, const BoneModel<Exec>& model) {
  return (options.test == LoadTest::by_input && !has_listed_load(options, model)) ||
         options.test == LoadTest::axial || options.test == LoadTest::uniaxial ||
         options.test == LoadTest::confined;
}

} // namespace

template<class Exec>
void add_label_statistics(const Exec& exec, const BoneOptions& options,
                          const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                          const BoneLoad<Exec>& load, const BoneSolution<Exec>& whole,
                          const BoneSolution<Exec>& solution, BoneResults& results) {
  const Communicator comm = ranks_of(problem);
  LabelledImage image;
  for (std::size_t d = 0; d < 3; ++d)
    image.shape[d] = model.modulus.shape[d];
  together(comm, [&] {
    if (comm.is_first())
      image.label = read_mask(exec, options, model);
  });
  const auto axis = has_axial_plates(options, model) ? std::optional(options.axis) : std::nullopt;
  LabelResults found =
      evaluate_labels(exec, problem, load, whole, solution, model.foreign.has_value(), image, axis);
  for (LabelStatistics& of : found.statistics)
    if (const auto name = model.label_names.find(of.label); name != model.label_names.end())
      of.name = name->second;
  results.labels = std::move(found.statistics);
  results.sections = std::move(found.sections);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void add_label_statistics(                                                              \
      const Exec&, const BoneOptions&, const BoneModel<Exec>&, const VoxelProblem<Exec>&,          \
      const BoneLoad<Exec>&, const BoneSolution<Exec>&, const BoneSolution<Exec>&, BoneResults&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
