// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/images.hpp"

#include <ossatura/core/io/image/image_output.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/kernels/algebra/ranks/blocks.hpp>

#include <algorithm>

namespace ossatura {

namespace {

/// Whether a file says nothing of the place of its image, so that readers have the centre of its
/// first voxel at 0.
bool is_at_zero(const VoxelImage& source) {
  const std::array<double, 3> edges = source.edges();
  bool is_centred = source.world.empty() && source.direction == identity_direction;
  for (std::size_t d = 0; d < 3; ++d)
    is_centred = is_centred && edges[d] > 0 && source.origin[d] == -edges[d] / 2;
  return is_centred;
}

/// The image without values. What lies elsewhere than a source that says no place, as a part of it
/// does, lies in LPS, where ITK has such sources: a file with a place is to say a world.
template<class Exec>
VoxelImage empty_image(const BoneModel<Exec>& model) {
  VoxelImage image;
  for (std::size_t d = 0; d < 3; ++d)
    image.shape[d] = model.modulus.shape[d];
  image.spacing = model.edge;
  image.origin = model.origin;
  image.direction = model.direction;
  image.world = model.world;
  bool is_moved = image.direction != identity_direction;
  for (const double lower : image.origin)
    is_moved = is_moved || lower != -image.spacing / 2;
  if (is_moved && is_at_zero(model.source))
    image.world = "LPS";
  return image;
}

const std::pair<const char*, const char*> units[] = {
    {"modulus", "Young's modulus, MPa"},    {"sed", "strain energy density, MPa"},
    {"von_mises", "von Mises stress, MPa"}, {"effective_strain", "effective strain"},
    {"plastic_strain", "plastic strain"},   {"damage", "damage, lost part of the stiffness"},
    {"density", "apparent density, g/cm3"}};

} // namespace

std::vector<std::pair<std::string, std::string>> field_images(const BoneOptions& options,
                                                              const std::string& stem) {
  std::vector<std::pair<std::string, std::string>> images;
  if (options.field_images == FieldImages::none)
    return images;
  const std::string beyond_yield =
      options.strength.criterion == YieldCriterion::damage ? "damage" : "plastic_strain";
  for (const auto& [field, text] : units)
    if (std::count(options.fields.begin(), options.fields.end(), field) > 0 ||
        (options.strength.criterion && field == beyond_yield) ||
        (options.remodelling.steps > 0 && field == std::string("density")))
      images.emplace_back(field, stem + "." + field + "." + name_of(options.field_images));
  return images;
}

template<class Exec>
void write_field_image(const Exec& exec, const std::string& field, const std::string& path,
                       const BoneOptions& options, const BoneModel<Exec>& model,
                       const VoxelProblem<Exec>& problem, const BoneSolution<Exec>& solution) {
  const TimedScope scope("ossatura::bone::write_image");
  RankBlocks<Exec> blocks(exec, ranks_of(problem));
  VoxelImage image = empty_image(model);
  std::vector<std::int64_t> voxel; // of all ranks, on the first
  blocks.for_each(
      place_voxels(exec, solution.grid, solution.fields.element, image.shape[0], image.shape[1]), 1,
      [&](const std::int64_t* places, std::size_t, std::size_t count) {
        voxel.insert(voxel.end(), places, places + count);
      });
  if (blocks.is_first())
    image.value.resize(image.num_voxels());
  const auto fill = [&](const auto& values) {
    blocks.for_each(values, 1, [&](const auto* from, std::size_t first, std::size_t count) {
      for_parts(count, std::size_t(1) << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          image.value[std::size_t(voxel[first + i])] = float(from[i]);
      });
    });
  };
  const VoxelFields<Exec>& fields = solution.fields;
  if (field == "modulus")
    fill(list_moduli(exec, solution.lame, solution.fields.element));
  else if (field == "density")
    fill(list_bone_densities(exec, options, model, solution));
  else
    fill(field == "sed"              ? fields.energy_density
         : field == "von_mises"      ? fields.von_mises
         : field == "plastic_strain" ? fields.plastic_strain
         : field == "damage"         ? fields.damage
                                     : fields.effective_strain);
  blocks.finish();
  if (!blocks.is_first())
    return;
  const auto unit = std::find_if(std::begin(units), std::end(units),
                                 [&](const auto& known) { return field == known.first; });
  const int level = deflate_level(options.common.compress);
  if (options.field_images == FieldImages::mha)
    write_metaimage(path, image, unit->second, level);
  else
    write_nifti(path, image, unit->second, level);
  log_info("wrote ", path);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void write_field_image(const Exec&, const std::string&, const std::string&,             \
                                  const BoneOptions&, const BoneModel<Exec>&,                      \
                                  const VoxelProblem<Exec>&, const BoneSolution<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
