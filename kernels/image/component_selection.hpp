// SPDX-License-Identifier: Apache-2.0
// A component selection keeps the largest component of an image, which processes may share by
// planes: each labels its own, and components that touch across planes of two are joined by pairs
// of labels, which every process has.
#pragma once

#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/kernels/algebra/ranks/join_labels.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/connected_components.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ossatura {

namespace detail {

template<class Index, class Exec>
struct KeepComponents {
  VoxelArray<Exec> image;
  Array<Index, Exec> root, is_kept; ///< is_kept: at the roots
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (root(i) < 0 || is_kept(root(i)) == 0)
      image.value(i) = 0;
  }
};

/// value(place(i)) = number(i).
template<class Index, class Exec>
struct SetEntries {
  Array<std::int64_t, Exec> place, number;
  Array<Index, Exec> value;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { value(place(i)) = Index(number(i)); }
};

template<class Index, class Exec>
void set_entries(const Exec& exec, const std::vector<std::int64_t>& place,
                 const std::vector<std::int64_t>& number, const Array<Index, Exec>& value) {
  Kokkos::parallel_for(
      "ossatura::set_entries", range(exec, place.size()),
      SetEntries<Index, Exec>{upload(exec, "ossatura::set_entries::place", place),
                              upload(exec, "ossatura::set_entries::number", number), value});
  fence(exec, "ossatura::set_entries");
}

template<class Index, class Exec>
struct TakeEntries {
  Array<std::int64_t, Exec> place, number;
  Array<Index, Exec> value;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { number(i) = value(place(i)); }
};

/// Labels of a plane of an array, the numbers of roots in the whole image; -1 in the void. Fences.
template<class Index, class Exec>
std::vector<std::int64_t> labels_of_plane(const Exec& exec, const VoxelArray<Exec>& image,
                                          const Array<Index, Exec>& root, int z) {
  const std::int64_t begin = image.index(0, 0, z),
                     size = std::int64_t(image.shape[0]) * image.shape[1];
  const std::vector<Index> roots =
      download(exec, Array<Index, Exec>(root.data() + begin, std::size_t(size)));
  std::vector<std::int64_t> labels;
  labels.reserve(roots.size());
  for (const Index r : roots)
    labels.push_back(r < 0 ? -1 : image.first_voxel() + r);
  return labels;
}

/// The pairs of labels of components that touch across two planes, the upper one above the lower
/// one.
inline std::vector<SameLabel> join_planes(const Kokkos::Array<int, 3>& shape,
                                          Connectivity connectivity,
                                          const std::vector<std::int64_t>& lower,
                                          const std::vector<std::int64_t>& upper) {
  const int reach = connectivity == Connectivity::node ? 1 : 0;
  std::vector<SameLabel> same;
  for (int y = 0; y < shape[1]; ++y)
    for (int x = 0; x < shape[0]; ++x) {
      const std::int64_t a = lower[std::size_t(x) + std::size_t(shape[0]) * std::size_t(y)];
      if (a < 0)
        continue;
      for (int j = std::max(0, y - reach); j <= std::min(shape[1] - 1, y + reach); ++j)
        for (int i = std::max(0, x - reach); i <= std::min(shape[0] - 1, x + reach); ++i) {
          const std::int64_t b = upper[std::size_t(i) + std::size_t(shape[0]) * std::size_t(j)];
          if (b >= 0 && (same.empty() || !(same.back() == SameLabel{a, b})))
            same.push_back({a, b});
        }
    }
  sort_unique(same);
  return same;
}

/// The pairs of this process and the one with the planes behind its own.
template<class Index, class Exec>
std::vector<SameLabel> join_neighbours(const Exec& exec, const Communicator& comm,
                                       const VoxelArray<Exec>& image,
                                       const Array<Index, Exec>& root, Connectivity connectivity) {
  const ImagePlanes planes = image.planes();
  std::vector<std::vector<std::int64_t>> to(std::size_t(comm.size()));
  const std::vector<ImagePlanes> all = comm.gather(planes);
  for (int rank = 0; planes.count() > 0 && rank < comm.size(); ++rank)
    if (all[std::size_t(rank)].count() > 0 && all[std::size_t(rank)].end == planes.begin)
      to[std::size_t(rank)] = labels_of_plane(exec, image, root, planes.begin);
  std::vector<SameLabel> same;
  for (const std::vector<std::int64_t>& upper : comm.exchange(to))
    if (!upper.empty())
      same = join_planes(image.shape, connectivity,
                         labels_of_plane(exec, image, root, planes.end - 1), upper);
  return same;
}

/// A component by its smallest voxel in the whole image.
struct ComponentSize {
  std::int64_t root, size;
  bool is_before(const ComponentSize& other) const { ///< the larger, then the first
    return size > other.size || (size == other.size && root < other.root);
  }
};

template<class Index, class Exec>
ComponentSummary keep_largest_component(const Exec& exec, const VoxelArray<Exec>& image,
                                        Connectivity connectivity, const Communicator& comm) {
  const auto root = label_components<Index>(exec, image, connectivity);
  const Array<Index, Exec> size = component_sizes<Index>(exec, root);
  const std::vector<SameLabel> same =
      comm.gather(join_neighbours<Index>(exec, comm, image, root, connectivity));
  // Components in planes of several processes: what each has of them.
  const JoinedLabels joined(same);
  const std::int64_t first = image.first_voxel(), n = image.num_voxels();
  std::vector<std::int64_t> shared;
  for (const std::int64_t label : joined.labels())
    if (label >= first && label < first + n)
      shared.push_back(label - first);
  const std::int64_t num_shared = std::int64_t(shared.size());
  const auto taken = make_uninitialized<std::int64_t>(exec, num_shared, "ossatura::shared_sizes");
  Kokkos::parallel_for(
      "ossatura::keep_largest_component::take", range(exec, num_shared),
      TakeEntries<Index, Exec>{upload(exec, "ossatura::shared_roots", shared), taken, size});
  const std::vector<std::int64_t> shared_size = download(exec, taken);
  std::vector<ComponentSize> pieces;
  for (std::size_t i = 0; i < shared.size(); ++i)
    pieces.push_back({joined.root(first + shared[i]), shared_size[i]});
  pieces = comm.gather(pieces);
  std::sort(pieces.begin(), pieces.end(),
            [](const ComponentSize& a, const ComponentSize& b) { return a.root < b.root; });
  // The others, of which each is one process's.
  set_entries(exec, shared, std::vector<std::int64_t>(shared.size(), 0), size);
  const ComponentSummary own = summarise_sizes<Index>(exec, size);

  ComponentSummary summary;
  std::vector<ComponentSize> candidates;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0 && pieces[i].root == pieces[i - 1].root) {
      candidates.back().size += pieces[i].size;
    } else {
      candidates.push_back(pieces[i]);
      ++summary.count;
    }
    summary.num_solid += pieces[i].size;
  }
  summary.count += comm.sum(own.count);
  summary.num_solid += comm.sum(own.num_solid);
  for (const ComponentSize& best :
       comm.gather(ComponentSize{first + own.largest_root, own.largest_size}))
    if (best.size > 0)
      candidates.push_back(best);
  if (candidates.empty())
    return {};
  const ComponentSize largest =
      *std::min_element(candidates.begin(), candidates.end(),
                        [](const auto& a, const auto& b) { return a.is_before(b); });
  summary.largest_root = largest.root;
  summary.largest_size = largest.size;
  if (summary.count == 1)
    return summary;
  std::vector<std::int64_t> kept; // roots of this process
  for (const std::int64_t place : shared)
    if (joined.root(first + place) == largest.root)
      kept.push_back(place);
  if (kept.empty() && largest.root >= first && largest.root < first + n)
    kept.push_back(largest.root - first);
  Kokkos::deep_copy(exec, size, Index(0)); // marks from here on
  set_entries(exec, kept, std::vector<std::int64_t>(kept.size(), 1), size);
  Kokkos::parallel_for("ossatura::keep_largest_component", range(exec, n),
                       KeepComponents<Index, Exec>{image, root, size});
  return summary;
}

} // namespace detail

/// The components of the voxels with a value > 0; fences.
template<class Exec>
ComponentSummary summarise_components(const Exec& exec, const VoxelArray<Exec>& image,
                                      Connectivity connectivity) {
  return image.num_voxels() <= INT32_MAX
             ? summarise_components<std::int32_t>(
                   exec, label_components<std::int32_t>(exec, image, connectivity))
             : summarise_components<std::int64_t>(
                   exec, label_components<std::int64_t>(exec, image, connectivity));
}

/// Sets all voxels to 0 but those of the largest component, the first of equally large ones.
/// Returns the components found: count - 1 of them and num_solid - largest_size voxels are gone. Of
/// an image whose planes the ranks of `comm` share, in their order, all call it. Fences to find the
/// largest, not after the last write.
template<class Exec>
ComponentSummary keep_largest_component(const Exec& exec, const VoxelArray<Exec>& image,
                                        Connectivity connectivity, const Communicator& comm = {}) {
  return image.num_voxels() <= INT32_MAX
             ? detail::keep_largest_component<std::int32_t>(exec, image, connectivity, comm)
             : detail::keep_largest_component<std::int64_t>(exec, image, connectivity, comm);
}

} // namespace ossatura
