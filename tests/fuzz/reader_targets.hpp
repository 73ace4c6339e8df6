// SPDX-License-Identifier: BSD-3-Clause
// The readers as functions of one file, for the fuzz targets and the damaged-file tests: a reader
// either returns a valid model or throws InputError; anything else is a defect.
#pragma once

#include "core/io/image_format.hpp"
#include "core/io/metaimage.hpp"
#include "core/io/nifti.hpp"
#include "core/io/parosol.hpp"
#include "core/io/raw_image.hpp"
#include "core/io/surface.hpp"
#include "core/require.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace femura_test {

inline void expect(bool condition, const char* what) {
  if (!condition)
    throw std::logic_error(std::string("a reader accepted a file and returned ") + what);
}

inline void expect_valid(const femura::VoxelImage& image) {
  expect(image.shape[0] > 0 && image.shape[1] > 0 && image.shape[2] > 0, "an empty image");
  expect(image.value.size() == image.num_voxels(), "the wrong number of voxels");
  expect(image.spacing > 0 && std::isfinite(image.spacing), "a bad spacing");
  for (const double x : image.origin)
    expect(std::isfinite(x), "a bad origin");
  for (const float v : image.value)
    expect(std::isfinite(v), "a value that is not finite");
}

inline void expect_valid(const femura::VoxelModel& model) {
  expect_valid(model.modulus);
  for (const float e : model.modulus.value)
    expect(e >= 0, "a negative modulus");
  expect(model.poisson > -1 && model.poisson < 0.5, "a bad Poisson's ratio");
  expect(model.poisson_image.empty() || model.poisson_image.size() == model.modulus.num_voxels(),
         "the wrong number of Poisson's ratios");
  for (const float nu : model.poisson_image)
    expect(nu > -1 && nu < 0.5f, "a bad Poisson's ratio of a voxel");
  for (const auto* list : {&model.displacements, &model.forces})
    for (const femura::NodalValue& row : *list) {
      for (int axis = 0; axis < 3; ++axis)
        expect(row.node[axis] >= 0 && row.node[axis] <= model.modulus.shape[axis],
               "a node outside the lattice");
      expect(row.component >= 0 && row.component < 3, "a bad direction");
      expect(std::isfinite(row.value), "a value that is not finite");
    }
}

inline void expect_valid(const femura::TriangleSurface& surface) {
  for (const auto& p : surface.vertex)
    expect(std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]), "a bad vertex");
  for (const auto& t : surface.triangle)
    for (const int v : t)
      expect(v >= 0 && std::size_t(v) < surface.vertex.size(), "a bad vertex number");
  femura::describe_first_open_edge(surface);
}

/// Reads the file at `path`; false where the reader refused it.
using ReaderTarget = bool (*)(const std::string& path);

template<class Read>
bool accepts(const Read& read) {
  try {
    read();
    return true;
  } catch (const femura::InputError&) {
    return false;
  }
}

inline bool parosol_target(const std::string& path) {
  femura::ParosolOptions options;
  options.trial = true; // defects of the HDF5 library are not ours to find
  return accepts([&] { expect_valid(femura::read_parosol(path, options)); });
}
inline bool metaimage_target(const std::string& path) {
  return accepts([&] { expect_valid(femura::read_metaimage(path)); });
}
inline bool nifti_target(const std::string& path) {
  return accepts([&] { expect_valid(femura::read_nifti(path)); });
}
inline bool surface_target(const std::string& path) {
  return accepts([&] { expect_valid(femura::read_surface(path)); });
}
inline bool format_target(const std::string& path) {
  return accepts([&] { femura::guess_format(path); });
}
/// 3 x 2 x 2 big-endian floats behind four bytes.
inline bool raw_target(const std::string& path) {
  return accepts([&] {
    femura::RawImageOptions options;
    options.shape = {3, 2, 2};
    options.type = femura::SampleType::f32;
    options.order = femura::ByteOrder::big;
    options.header_bytes = 4;
    expect_valid(femura::read_raw_image(path, options));
  });
}

} // namespace femura_test
