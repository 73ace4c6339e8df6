// SPDX-License-Identifier: Apache-2.0
// Enlarging an image adds planes of void at its ends, for what is put beside a specimen.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/shared_planes.hpp>

#include <algorithm>
#include <vector>

namespace ossatura {

namespace detail {

/// Planes [wanted) of an image, as far as ranks have them: by all, each with its own. Fences.
template<class Exec>
VoxelArray<Exec> collect_planes(const Exec& exec, const Communicator& comm,
                                const VoxelArray<Exec>& image, ImagePlanes wanted) {
  const std::int64_t size = std::int64_t(image.shape[0]) * image.shape[1];
  const auto overlap = [](ImagePlanes a, ImagePlanes b) {
    const int begin = std::max(a.begin, b.begin);
    return ImagePlanes{begin, std::max(begin, std::min(a.end, b.end))};
  };
  const ImagePlanes mine = image.planes();
  const std::vector<ImagePlanes> wanted_of = comm.gather(wanted), of_rank = comm.gather(mine);
  const std::vector<float> values = download(exec, image.value);
  std::vector<std::vector<float>> to(wanted_of.size());
  for (std::size_t rank = 0; rank < to.size(); ++rank)
    if (const ImagePlanes part = overlap(mine, wanted_of[rank]); part.count() > 0)
      to[rank].assign(values.begin() + size * (part.begin - mine.begin),
                      values.begin() + size * (part.end - mine.begin));
  VoxelImage found; // in the order of ranks, and so of planes
  for (int d = 0; d < 3; ++d)
    found.shape[std::size_t(d)] = image.shape[d];
  for (const std::vector<float>& part : comm.exchange(to))
    found.value.insert(found.value.end(), part.begin(), part.end());
  int first = wanted.begin;
  for (const ImagePlanes& planes : of_rank)
    if (const ImagePlanes part = overlap(planes, wanted); part.count() > 0) {
      first = part.begin;
      break;
    }
  VoxelArray<Exec> planes = image;
  planes.first_plane = first;
  planes.value = upload(exec, "ossatura::collect_planes", found.value);
  return planes;
}

template<class Exec>
struct MoveVoxels {
  VoxelArray<Exec> from, to;
  Kokkos::Array<int, 3> offset;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i / to.shape[0];
    to.value(i) = from.value_or_void(int(i - row * to.shape[0]) - offset[0],
                                     int(row % to.shape[1]) - offset[1],
                                     to.first_plane + int(row / to.shape[1]) - offset[2]);
  }
};

} // namespace detail

/// An image with `below` and `above` more planes of void across `axis` before its first and behind
/// its last. Where `comm` has several ranks they share its planes, before and after
/// (planes_of_rank), and all call it. Fences.
template<class Exec>
VoxelArray<Exec> enlarge(const Exec& exec, const VoxelArray<Exec>& image, int axis, int below,
                         int above, const Communicator& comm = {}) {
  OSSATURA_REQUIRE(below >= 0 && above >= 0, below << " and " << above << " more planes");
  std::array<int, 3> shape{image.shape[0], image.shape[1], image.shape[2]};
  shape[std::size_t(axis)] += below + above;
  detail::MoveVoxels<Exec> kernel{image, {}, {}};
  kernel.offset[axis] = below;
  ImagePlanes planes{0, shape[2]};
  if (comm.size() > 1) {
    planes = planes_of_rank(comm, shape[2]);
    if (axis == 2)
      kernel.from =
          detail::collect_planes(exec, comm, image,
                                 {std::max(0, planes.begin - below),
                                  std::max(0, std::min(image.shape[2], planes.end - below))});
  }
  kernel.to = make_voxel_array(exec, shape, planes);
  Kokkos::parallel_for("ossatura::enlarge", range(exec, kernel.to.num_voxels()), kernel);
  fence(exec, "ossatura::enlarge");
  return kernel.to;
}

} // namespace ossatura
