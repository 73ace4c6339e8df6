// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/turn.hpp"

#include "apps/bone/input/mask.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/core/io/image/voxel_limits.hpp>
#include <ossatura/core/machine/available_memory.hpp>
#include <ossatura/kernels/image/component_selection.hpp>

#include <algorithm>

namespace ossatura {

namespace {

/// By how much the bone extends further along its long axis than along the next, or less along its
/// short axis: voxels and noise make differences of a few per cent.
constexpr double least_difference = 1.05;

std::string text_of(const std::array<double, 3>& numbers) {
  return format_number(numbers[0], 4) + ", " + format_number(numbers[1], 4) + ", " +
         format_number(numbers[2], 4);
}

/// The principal axes of the bone in the image as it is read. What is wrong with law or mask is an
/// error; what is to be said of them is said when they are applied to the turned image.
template<class Exec>
PrincipalAxes find_bone_axes(const Exec& exec, const BoneOptions& options, ValueRange range,
                             const BoneModel<Exec>& model) {
  std::vector<LogMessage> said_later;
  const LogCapture capture(said_later);
  BoneModel<Exec> upright = model;
  upright.modulus = take_planes(exec, model.modulus, model.modulus.planes());
  map_model(exec, options, upright, range);
  VoxelArray<Exec> labels;
  if (!options.mask.empty())
    labels = read_upright_labels(exec, options, model);
  apply_law(exec, options, range, labels, {}, upright);
  if (options.largest_component)
    keep_largest_component(exec, upright.modulus,
                           options.connected_by_node ? Connectivity::node : Connectivity::face);
  const auto axes = find_principal_axes(exec, upright.modulus, edges_before(options, model.source));
  if (!axes)
    fail<InputError>(options.input, ": --align: no voxel is bone, by law and mask");
  return *axes;
}

/// Throws where the axis is one of several alike.
const std::array<double, 3>& choose_axis(const BoneOptions& options, const PrincipalAxes& bone) {
  const bool is_long = options.preparation.align == Alignment::long_axis;
  const std::size_t chosen = is_long ? 0 : 2;
  const double more = bone.spread[is_long ? 0 : 1], less = bone.spread[is_long ? 1 : 2];
  if (!(more > least_difference * less))
    fail<InputError>(
        options.input, ": --align ", name_of(*options.preparation.align), ": the bone extends ",
        text_of(bone.spread), " mm (root mean square) along its principal axes, and the ",
        is_long ? "first" : "last", " two are alike: it has no ", is_long ? "long" : "short",
        " axis; select a part that has with --mask, or give --turn");
  return bone.axis[chosen];
}

/// By the smallest angle, so that what is in front stays there.
Rotation align_rotation(const BoneOptions& options, const PrincipalAxes& bone) {
  std::array<double, 3> from = choose_axis(options, bone), to{0, 0, 0};
  to[std::size_t(options.axis)] = 1;
  if (from[std::size_t(options.axis)] < 0)
    for (double& x : from)
      x = -x;
  const Rotation rotation = rotation_between(from, to);
  log_info("--align: the ", name_of(*options.preparation.align), " axis of the bone is ",
           text_of(from), " in the image, ", format_number(axis_and_angle(rotation).degrees, 4),
           " degrees from ", "xyz"[options.axis]);
  return rotation;
}

/// Where the new image lies: its corner is one of the old image's box, and its axes are turned
/// back.
template<class Exec>
void turn_place(const std::array<double, 3>& edges, const ModelTurn& turn, BoneModel<Exec>& model) {
  const ImageDirection old = model.direction;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 3; ++d) {
      model.origin[i] += old[3 * i + d] * edges[d] * (turn.grid.place(int(d), 0, 0, 0) + 0.5);
      model.direction[3 * i + d] = 0;
      for (std::size_t k = 0; k < 3; ++k)
        model.direction[3 * i + d] += old[3 * i + k] * turn.rotation[3 * d + k];
    }
}

} // namespace

std::string resampled_from(const VoxelImage& source) {
  const std::array<double, 3> edges = source.edges();
  return ", resampled from " + std::to_string(source.shape[0]) + " x " +
         std::to_string(source.shape[1]) + " x " + std::to_string(source.shape[2]) + " voxels of " +
         format_number(edges[0]) + " x " + format_number(edges[1]) + " x " +
         format_number(edges[2]) + " mm";
}

template<class Exec>
void turn_model(const Exec& exec, const BoneOptions& options, const ValueRange& range,
                BoneModel<Exec>& model) {
  const TimedScope scope("ossatura::bone::turn");
  const PreparationOptions& o = options.preparation;
  const std::array<double, 3> edges = edges_before(options, model.source);
  ModelTurn turn;
  if (o.align) {
    turn.bone = find_bone_axes(exec, options, range, model);
    turn.rotation = align_rotation(options, *turn.bone);
  }
  for (const AxisTurn& by : o.turns)
    turn.rotation = compose(rotation_about(by.axis, by.degrees), turn.rotation);
  const double edge = options.resample.value_or(edges[0]);
  turn.grid = make_turned_grid(model.modulus.shape, edges, edge, turn.rotation);
  const auto& shape = turn.grid.shape;
  const std::string where = options.input + ": turned";
  require_room(available_bytes(exec),
               require_voxel_shape(where, std::uint64_t(shape[0]), std::uint64_t(shape[1]),
                                   std::uint64_t(shape[2])),
               where);
  turn.old_volume = 1;
  for (int d = 0; d < 3; ++d)
    turn.old_volume *= edges[std::size_t(d)] * model.modulus.shape[d];
  model.modulus =
      turn_image(exec, model.modulus, turn.grid,
                 options.law == GreyLaw::labels ? Resampling::nearest : Resampling::blend);
  model.edge = edge;
  model.first_voxel = {0, 0, 0};
  turn_place(edges, turn, model);
  if (options.resample)
    model.description += resampled_from(model.source);
  const AxisAndAngle angle = axis_and_angle(turn.rotation);
  model.description +=
      ", turned by " + format_number(angle.degrees, 4) + " degrees about " + text_of(angle.axis);
  model.turn = turn;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void turn_model(const Exec&, const BoneOptions&, const ValueRange&, BoneModel<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
