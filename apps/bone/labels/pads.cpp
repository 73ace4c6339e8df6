// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/labels/pads.hpp"

#include "apps/driver/output/table.hpp"

#include <algorithm>

namespace ossatura {

template<class Exec>
void spread_poisson(const Exec& exec, double poisson, const Communicator& comm,
                    BoneModel<Exec>& model) {
  if (comm.any(model.poisson.value.extent(0) > 0) || poisson == model.uniform_poisson)
    return;
  model.poisson = model.modulus;
  model.poisson.value =
      make_uninitialized<float>(exec, model.modulus.num_voxels(), "ossatura::bone::poisson");
  Kokkos::deep_copy(exec, model.poisson.value, float(model.uniform_poisson));
}

template<class Exec>
void add_pads(const Exec& exec, const BoneOptions& options,
              const std::optional<Communicator>& ranks, BoneModel<Exec>& model) {
  const TimedScope scope("ossatura::bone::add_pads");
  const Communicator comm = ranks.value_or(Communicator());
  for (const auto& [label, pad] : options.labels_of_mask.pads) {
    const double poisson = pad.poisson.value_or(options.poisson.value_or(0.3));
    const std::vector<std::uint64_t>& voxels = model.pad_voxels.at(label);
    spread_poisson(exec, poisson, comm, model);
    const auto site = upload(exec, "ossatura::bone::pad", voxels);
    fill_listed(exec, site, float(pad.modulus), model.modulus);
    if (model.poisson.value.extent(0) > 0)
      fill_listed(exec, site, float(poisson), model.poisson);
    log_info("pad with the label ", label, ": ", format_count(std::int64_t(voxels.size())),
             " voxels of ", format_number(pad.modulus), " MPa");
  }
  fence(exec, "ossatura::bone::add_pads");
}

template<class Exec>
void note_foreign(const Exec& exec, BoneModel<Exec>& model) {
  std::vector<std::uint64_t> listed;
  for (const auto& [label, voxels] : model.pad_voxels)
    listed.insert(listed.end(), voxels.begin(), voxels.end());
  if (listed.empty() && !model.foreign)
    return;
  if (!model.foreign)
    model.foreign.emplace();
  std::sort(listed.begin(), listed.end());
  model.foreign->listed = upload(exec, "ossatura::bone::foreign", listed);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void spread_poisson(const Exec&, double, const Communicator&, BoneModel<Exec>&);        \
  template void add_pads(const Exec&, const BoneOptions&, const std::optional<Communicator>&,      \
                         BoneModel<Exec>&);                                                        \
  template void note_foreign(const Exec&, BoneModel<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
