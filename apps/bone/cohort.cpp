// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/cohort.hpp"

#include "apps/bone/command.hpp"
#include "apps/bone/output/results.hpp"
#include <ossatura/core/io/dicom/file.hpp>
#include <ossatura/core/io/dicom/series.hpp>

#include <filesystem>

namespace ossatura {

namespace {

/// What a study compares; places are those of the summary.
std::vector<CohortColumn> bone_columns(bool dry_run, const std::vector<int>& labels) {
  std::vector<CohortColumn> columns = {{"spacing", "/problem/spacing", "spacing"},
                                       {"elements", "/problem/elements", "voxels"},
                                       {"dofs", "/problem/dofs", ""},
                                       {"dropped_elements", "/problem/dropped_elements", ""},
                                       {"components", "/problem/components", ""},
                                       {"bone_volume", "/problem/bone_volume", ""},
                                       {"volume_fraction", "/problem/volume_fraction", "BV/TV"},
                                       {"mask_fraction", "/problem/mask_fraction", "in mask"},
                                       {"turned_degrees", "/problem/turn/degrees", ""},
                                       {"modulus_mean", "/problem/modulus/mean", ""},
                                       {"test", "/results/test", ""}};
  if (dry_run) {
    columns.push_back({"predicted_device_bytes", "/results/predicted_device_bytes", "backend"});
    columns.push_back({"predicted_host_bytes", "/results/predicted_host_bytes", "process"});
    return columns;
  }
  columns.push_back({"iterations", "/iterations", "iterations"});
  columns.push_back({"residual", "/residual/true", ""});
  const auto add = [&](const std::string& group, const std::string& key, const std::string& name,
                       const std::string& head = {}) {
    columns.push_back({name, "/results/" + group + "/" + key, head});
  };
  for (const char* key : {"height", "area", "displacement", "force"})
    add("response", key, key);
  add("response", "stiffness", "stiffness", "stiffness");
  add("response", "strain", "strain");
  add("response", "stress", "stress");
  add("response", "apparent_modulus", "apparent_modulus", "apparent modulus");
  add("response", "mask_area", "mask_area");
  add("response", "mask_apparent_modulus", "mask_apparent_modulus");
  add("response", "angle", "angle");
  add("response", "moment", "moment");
  add("response", "rotational_stiffness", "rotational_stiffness", "rotational stiffness");
  columns.push_back({"strain_energy", "/results/strain_energy", ""});
  for (const char* field : {"sed", "von_mises", "effective_strain"})
    for (const char* key : {"mean", "sd", "maximum"})
      add(field, key, std::string(field) + "_" + key);
  for (const int label : labels)
    for (const char* key : {"elements", "modulus_mean", "energy_share", "von_mises_mean",
                            "von_mises_maximum", "effective_strain_mean"})
      add("labels/" + std::to_string(label), key, "label_" + std::to_string(label) + "_" + key);
  for (const int label : labels)
    add("sections/share/middle", std::to_string(label),
        "label_" + std::to_string(label) + "_force_share");
  add("pistoia", "factor", "failure_factor");
  add("pistoia", "force", "failure_force", "failure force");
  add("pistoia", "moment", "failure_moment", "failure moment");
  add("strength", "stiffness", "elastic_stiffness", "elastic stiffness");
  add("strength", "apparent_modulus", "elastic_apparent_modulus");
  add("strength", "rotational_stiffness", "elastic_rotational_stiffness",
      "elastic rotational stiffness");
  for (const char* key : {"strain", "force"})
    add("strength/yield", key, std::string("yield_") + key, key[0] == 'f' ? "yield load" : "");
  add("strength/ultimate", "force", "ultimate_force", "ultimate load");
  add("strength/ultimate", "moment", "ultimate_moment", "ultimate moment");
  add("strength", "still_rises", "still_rises"); // so that the ultimate is that of the last step
  for (int i = 0; i < 3; ++i)
    add("homogenised/engineering/young", std::to_string(i), std::string("young_") + "xyz"[i],
        std::string("E ") + "xyz"[i]);
  for (int i = 0; i < 3; ++i)
    add("homogenised/engineering/shear", std::to_string(i),
        std::string("shear_") + stiffness_names[3 + i], std::string("G ") + stiffness_names[3 + i]);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (i != j)
        add("homogenised/engineering/poisson/" + std::to_string(i), std::to_string(j),
            std::string("poisson_") + "xyz"[i] + "xyz"[j]);
  for (int i = 0; i < 6; ++i)
    for (int j = i; j < 6; ++j)
      add("homogenised/stiffness/" + std::to_string(i), std::to_string(j),
          std::string("stiffness_") + stiffness_names[i] + "_" + stiffness_names[j]);
  return columns;
}

} // namespace

int run_bones(const BoneOptions& options, DriverContext& context) {
  BoneOptions single = options;
  if (!is_cohort(options)) {
    single.input = options.inputs.empty() ? "" : options.inputs.front();
    return run_bone(single, context);
  }
  Cohort cohort;
  cohort.inputs = options.inputs;
  cohort.option = "input";
  cohort.noun = "specimen";
  cohort.divides_inputs = divides_inputs(options);
  cohort.skips_complete = options.skip_complete;
  cohort.files_of = [&](const std::string& input) {
    std::error_code none;
    const bool is_dicom = std::filesystem::is_directory(input, none) ||
                          options.format == ImageFormat::dicom ||
                          (!options.format && is_dicom_file(input));
    return is_dicom ? find_dicom_series(input, options.series, true).files
                    : std::vector<std::string>{input};
  };
  cohort.columns = bone_columns(options.common.dry_run, options.mask_labels);
  cohort.run = [&](const CohortMember& member, DriverContext& run) {
    single.input = member.input;
    single.name = member.name;
    return run_bone(single, run);
  };
  return run_cohort(cohort, context);
}

} // namespace ossatura
