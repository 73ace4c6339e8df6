// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/preview.hpp"

#include "apps/bone/labels/pads.hpp"
#include "apps/driver/output/names.hpp"
#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/bone/loads/loaded_nodes.hpp>
#include <ossatura/kernels/bone/loads/reactions.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

constexpr Rgb ground{255, 255, 255}, void_colour{0, 0, 0}, rest_colour{70, 150, 255},
    moved_colour{255, 60, 50}, force_colour{255, 220, 0};
constexpr int most_pixels = 1500, usual_pixels = 480; ///< along an axis of a section
constexpr int margin = 12;                            ///< pixels around sections

/// The voxels of a plane of the model: 0 void, greater than 0 the modulus, less the negative one of
/// a cap or a pad. A pixel is every `step`-th voxel.
template<class Exec>
struct TakeSection {
  VoxelArray<Exec> modulus;
  ForeignVoxels<Exec> foreign;
  int normal, plane, step, columns;
  int across, up; ///< axes of a section
  Array<float, Exec> section;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int voxel[3] = {plane, plane, plane};
    voxel[across] = step * int(i % columns);
    voxel[up] = step * int(i / columns);
    const float value = modulus.value_or_void(voxel[0], voxel[1], voxel[2]);
    const bool is_foreign = foreign.at(voxel[0], voxel[1], voxel[2]) != 0;
    section(i) = is_foreign ? -value : value;
  }
};

/// A plane of voxels as it is drawn.
struct Section {
  int normal, across, up, plane;
  int step = 1;      ///< voxels of a pixel
  int scale = 1;     ///< or pixels of a voxel
  int columns, rows; ///< voxels that are drawn
  int left = 0, top; ///< in the picture
  std::vector<float> value;

  int width() const { return columns * scale; }
  int height() const { return rows * scale; }
};

template<class Exec>
Section take_section(const Exec& exec, const BoneModel<Exec>& model, int normal, int plane,
                     const Communicator& comm) {
  Section section{};
  section.normal = normal;
  section.across = normal == 0 ? 1 : 0;
  section.up = normal == 2 ? 1 : 2;
  section.plane = plane;
  const int most =
      std::max({model.modulus.shape[0], model.modulus.shape[1], model.modulus.shape[2]});
  section.step = (most + most_pixels - 1) / most_pixels;
  section.scale = std::clamp(usual_pixels / most, 1, 16);
  section.columns = (model.modulus.shape[section.across] + section.step - 1) / section.step;
  section.rows = (model.modulus.shape[section.up] + section.step - 1) / section.step;
  const std::int64_t size = std::int64_t(section.columns) * section.rows;
  const auto values = make_uninitialized<float>(exec, size, "ossatura::bone::section");
  Kokkos::parallel_for(
      "ossatura::bone::take_section", range(exec, size),
      TakeSection<Exec>{model.modulus, model.foreign.value_or(ForeignVoxels<Exec>()), normal, plane,
                        section.step, section.columns, section.across, section.up, values});
  const std::vector<float> here = download(exec, values), of_all = comm.gather(here);
  section.value.assign(here.size(), 0);
  for (std::size_t i = 0; i < of_all.size(); ++i) // one rank has it, the others 0
    section.value[i % here.size()] += of_all[i];
  return section;
}

/// A node that is marked, and how.
struct MarkedNode {
  std::array<int, 3> site;
  Rgb colour;
};

/// Held nodes rest or move; others are pushed. On every rank those of all.
template<class Exec>
std::vector<MarkedNode> marked_nodes(const Exec& exec, const VoxelProblem<Exec>& problem,
                                     const BoneLoad<Exec>& load) {
  const Communicator comm = ranks_of(problem);
  std::vector<MarkedNode> nodes;
  if (comm.any(load.force.extent(0) > 0)) {
    Constraints<Exec> pushed = find_loaded_nodes(exec, problem.held, load.force);
    for (const HeldNode& node :
         list_held_nodes(exec, problem.grid, pushed, load.u, Array<double, Exec>(), {}, comm))
      nodes.push_back({{node.site.x, node.site.y, node.site.z}, force_colour});
  }
  const auto u = load.u.extent(0) > 0
                     ? load.u
                     : make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::bone::no_load");
  for (const HeldNode& node : list_held_nodes(exec, problem.grid, problem.held, u,
                                              Array<double, Exec>(), {}, comm, load.node_sets)) {
    bool moves =
        node.displacement[0] != 0 || node.displacement[1] != 0 || node.displacement[2] != 0;
    for (const NamedRegion& named : load.regions) // some nodes of a plate that turns do not move
      if (named.is_plate && named.region.contains(node.site, node.sets))
        moves = named.name != "lower plate";
    nodes.push_back({{node.site.x, node.site.y, node.site.z}, moves ? moved_colour : rest_colour});
  }
  return nodes;
}

/// Grey by the logarithm of the modulus over two decades below the largest, caps and pads brown.
Rgb colour_of(float value, double largest) {
  if (value == 0)
    return void_colour;
  const double decades = std::log10(std::abs(double(value)) / largest) / 2;
  const double light = value < 0 ? 0.8 : 0.3 + 0.7 * std::clamp(1 + decades, 0.0, 1.0);
  const auto part = [&](double weight) { return std::uint8_t(std::lround(255 * light * weight)); };
  return value < 0 ? Rgb{part(0.85), part(0.6), part(0.35)} : Rgb{part(1), part(1), part(1)};
}

void fill(RgbImage& picture, int left, int top, int width, int height, Rgb colour) {
  for (int y = std::max(0, top); y < std::min(picture.height, top + height); ++y)
    for (int x = std::max(0, left); x < std::min(picture.width, left + width); ++x)
      picture.at(x, y) = colour;
}

void draw(RgbImage& picture, const Section& section, double largest,
          const std::vector<MarkedNode>& nodes) {
  const int scale = section.scale;
  for (int row = 0; row < section.rows; ++row)
    for (int column = 0; column < section.columns; ++column)
      fill(picture, section.left + column * scale, section.top + (section.rows - 1 - row) * scale,
           scale, scale,
           colour_of(
               section.value[std::size_t(column) + std::size_t(row) * std::size_t(section.columns)],
               largest));
  const int dot = std::max(2, scale / 2);
  for (const MarkedNode& node : nodes) { // on either side of the voxels that are drawn
    const int place = node.site[std::size_t(section.normal)];
    if (place != section.plane && place != section.plane + 1)
      continue;
    const int x = node.site[std::size_t(section.across)] * scale / section.step,
              y = node.site[std::size_t(section.up)] * scale / section.step;
    fill(picture, section.left + x - dot / 2, section.top + section.height() - y - dot / 2, dot,
         dot, node.colour);
  }
}

} // namespace

std::string preview_path(const BoneOptions& options, const std::string& stem) {
  std::string path = options.preview;
  if (const std::size_t star = path.find('*'); star != std::string::npos)
    path.replace(star, 1, stem);
  return path;
}

template<class Exec>
RgbImage draw_preview(const Exec& exec, const BoneModel<Exec>& model,
                      const VoxelProblem<Exec>& problem, const BoneLoad<Exec>& load) {
  const TimedScope scope("ossatura::bone::preview");
  const Communicator comm = ranks_of(problem);
  const std::array<double, 3> centre = centre_of_bone(exec, bone_of(exec, model, problem));
  std::vector<Section> sections;
  float largest = 0;
  for (int normal = 0; normal < 3; ++normal) {
    const double place = centre[std::size_t(normal)] / problem.edge;
    const int plane = std::clamp(int(place), 0, model.modulus.shape[normal] - 1);
    sections.push_back(take_section(exec, model, normal, plane, comm));
    for (const float value : sections.back().value)
      largest = std::max(largest, value);
  }
  const std::vector<MarkedNode> nodes = marked_nodes(exec, problem, load);
  int width = margin, height = 0;
  for (Section& section : sections) {
    section.left = width;
    width += section.width() + margin;
    height = std::max(height, section.height());
  }
  RgbImage picture(width, height + 2 * margin, ground);
  for (Section& section : sections) {
    section.top = margin + height - section.height();
    draw(picture, section, largest > 0 ? double(largest) : 1.0, nodes);
  }
  return picture;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template RgbImage draw_preview(const Exec&, const BoneModel<Exec>&, const VoxelProblem<Exec>&,   \
                                 const BoneLoad<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
