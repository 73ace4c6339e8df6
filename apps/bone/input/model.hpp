// SPDX-License-Identifier: Apache-2.0
// This file turns options into a voxel model in the memory of a backend.
#pragma once

#include "apps/bone/input/options.hpp"
#include "apps/driver/context.hpp"
#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/bone/loads/foreign_voxels.hpp>
#include <ossatura/kernels/bone/loads/node_sets.hpp>
#include <ossatura/kernels/image/moments.hpp>
#include <ossatura/kernels/image/shared_planes.hpp>
#include <ossatura/kernels/image/turn.hpp>
#include <ossatura/solvers/bone/results/mask_section.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// How an image was turned.
struct ModelTurn {
  Rotation rotation = no_rotation;   ///< of the bone, along the axes of the image as it is read
  std::optional<PrincipalAxes> bone; ///< before, along these axes, where --align asks for them
  TurnedGrid grid;
  double old_volume = 0; ///< of the image before, mm3
};

template<class Exec>
struct BoneModel {
  VoxelImage source;                             ///< the image of the file, without its values
  std::string description;                       ///< "ParOSol image", "Perlin noise" and so on
  VoxelArray<Exec> modulus;                      ///< MPa, 0 = void; of planes, where ranks share it
  VoxelArray<Exec> poisson;                      ///< empty, or a ratio per voxel
  double uniform_poisson = 0.3;                  ///< where `poisson` is empty
  double edge = 1;                               ///< of a voxel, mm
  std::array<double, 3> origin{0, 0, 0};         ///< lower corner of the image in the world, mm
  ImageDirection direction = identity_direction; ///< axes of the image in the world
  std::string world;                             ///< "RAS", "LPS" or empty
  std::vector<NodalValue> displacements, forces; ///< given by the input
  std::optional<ModelTurn> turn;                 ///< of the image, before the law
  std::map<int, std::string> label_names;        ///< of the mask, where it has them
  std::int64_t num_in_mask = 0;                  ///< voxels whose label is one of bone
  MaskLayers mask_layers;                        ///< these across --axis
  LabelVoxels label_voxels;                      ///< of the mask, that supports touch
  LabelVoxels pad_voxels;                        ///< of the mask, that are pads
  std::optional<ForeignVoxels<Exec>> foreign;    ///< caps and pads in `modulus` and `poisson`
  std::array<int, 3> planes_below{0, 0, 0};      ///< that were added for caps across x, y, z
  std::array<int, 3> planes_above{0, 0, 0};
  std::array<double, 3> corner{0, 0, 0};   ///< of --crop in the image as given, mm
  std::array<int, 3> first_voxel{0, 0, 0}; ///< of --crop; 0 where voxels are not those of the image
  std::int64_t num_dropped = 0;            ///< solid voxels left out as islands
};

/// The planes of this process, where ranks share an image that is here as a whole; else all.
template<class Exec>
VoxelArray<Exec> keep_planes(const Exec& exec, const std::optional<Communicator>& ranks,
                             const VoxelArray<Exec>& whole) {
  return ranks ? take_planes(exec, whole, planes_of_rank(*ranks, whole.shape[2])) : whole;
}

/// A place of the options, mm from the lower corner of the image as given, from that of the model,
/// which --crop moves, and --cap where the image grows. (A turn refuses places.)
template<class Exec>
std::array<double, 3> in_model(const BoneModel<Exec>& model, std::array<double, 3> place) {
  for (std::size_t d = 0; d < 3; ++d)
    place[d] += model.edge * model.planes_below[d] - model.corner[d];
  return place;
}

/// What is added to the number of a node of the image as given to have that of the model.
template<class Exec>
std::array<int, 3> shift_of_nodes(const BoneModel<Exec>& model) {
  std::array<int, 3> shift{};
  for (std::size_t d = 0; d < 3; ++d)
    shift[d] = model.planes_below[d] - model.first_voxel[d];
  return shift;
}

/// Reads or generates the image, turns grey values into moduli and drops islands if asked. Logs
/// what it did, records the input's hash in the provenance. Where `ranks` are given, all of them
/// call it, and each reads its planes alone (planes_of_rank); surfaces are read as a whole before.
/// Throws InputError and UsageError. Fences.
template<class Exec>
BoneModel<Exec> make_bone_model(const Exec& exec, const BoneOptions& options,
                                const std::optional<Communicator>& ranks, DriverContext& context);

/// The solid voxels of the model with their materials; nothing is held yet. Cut among `ranks` where
/// they are given, which all call it then. Throws InputError for ratios that no material has.
/// Fences.
template<class Exec>
VoxelProblem<Exec> make_bone_problem(const Exec& exec, const BoneModel<Exec>& model,
                                     const std::optional<Communicator>& ranks);

} // namespace ossatura
