// SPDX-License-Identifier: Apache-2.0
// The hash operator multiplies element by element and finds nodes by perfect hashing: the
// alternative of CUDA-ParOSol [1, 3.2.1] to the tables of kernels/bone/offset_operator.hpp.
//
// An element stores its place. Beside the moduli that is 8 bytes per element and 2.2 to 4 per node
// of hash tables, against 20 to 30 per node in [1], with the modulus in fp64. Products are added as
// element_by_element.hpp says: bitwise reproducible on cores, not on devices.
//
// [1] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014.
#pragma once

#include <ossatura/kernels/bone/element_by_element.hpp>
#include <ossatura/kernels/bone/published/spatial_hash.hpp>

namespace ossatura {

namespace detail {

/// Places of elements and the hash that finds their nodes.
template<class Exec>
struct HashElements {
  static constexpr int num_lists = 1;
  using List = std::integral_constant<int, 0>;
  SpatialHash<Exec> hash;
  Array<std::uint64_t, Exec> place; ///< [num_elem] packed sites of the lowest corners
  LameField<Exec> lame;
  double edge;

  std::int64_t size(List) const { return place.extent(0); }
  Site site(List, std::int64_t e) const { return unpack_site(place(e)); }

  KOKKOS_FUNCTION void nodes(List, std::int64_t e, int (&node)[8]) const {
    const Site s = unpack_site(place(e));
    constexpr int last = (1 << hash_cube_bits) - 1;
    // Most elements lie in one cube.
    if ((s.x & last) != last && (s.y & last) != last && (s.z & last) != last) {
      const HashCube cube = hash.cube(hash.cube_index(s.x, s.y, s.z));
      const std::uint32_t x[2] = {hash_key_part(s.x, 0), hash_key_part(s.x + 1, 0)};
      const std::uint32_t y[2] = {hash_key_part(s.y, 1), hash_key_part(s.y + 1, 1)};
      const std::uint32_t z[2] = {hash_key_part(s.z, 2), hash_key_part(s.z + 1, 2)};
      for (int v = 0; v < 8; ++v)
        node[v] = hash.find_key(cube, x[v & 1] | y[v >> 1 & 1] | z[v >> 2]);
    } else {
      for (int v = 0; v < 8; ++v)
        node[v] = hash.find(s.x + (v & 1), s.y + (v >> 1 & 1), s.z + (v >> 2));
    }
  }
};

/// Writes the places of the solid voxels, in node order.
template<class Exec>
struct ListPlaces {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Array<std::uint64_t, Exec> place;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum, bool final) const {
    if (!lame.solid(int(node)))
      return;
    if (final) {
      const Site s = grid.site(int(node));
      place(sum) = pack_site(s.x, s.y, s.z);
    }
    ++sum;
  }
};

template<class Exec>
HashElements<Exec> make_hash_elements(const Exec& exec, const VoxelGrid<Exec>& grid,
                                      const LameField<Exec>& lame, double edge,
                                      const SpatialHashOptions& options) {
  HashElements<Exec> elements{
      make_spatial_hash(exec, grid, options),
      make_uninitialized<std::uint64_t>(exec, grid.num_elem, "ossatura::hash_places"), lame, edge};
  Kokkos::parallel_scan("ossatura::HashOperator::list", range(exec, grid.num_nodes),
                        ListPlaces<Exec>{grid, lame, elements.place});
  return elements;
}

} // namespace detail

/// y = A x with A the stiffness matrix of the voxels, without constraints.
template<class Exec>
class HashOperator {
public:
  static constexpr const char* name = "hash";
  static constexpr const char* description = "by voxel, finding nodes by perfect hashing";
  static constexpr bool published = true;
  static constexpr bool fuses_updates = false;
  static constexpr bool is_reproducible = !BackendTraits<Exec>::is_device;
  static constexpr int flops_per_voxel = 72 + 44 + 72 + 24; ///< as of OffsetOperator

  /// `edge` is the voxel's edge in mm. Throws std::runtime_error if no perfect hash is found within
  /// the options. Fences.
  HashOperator(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
               double edge, const SpatialHashOptions& options = {})
      : elements_(detail::make_hash_elements(exec, grid, lame, edge, options))
      , blocks_(detail::make_element_blocks(exec, elements_)) {}

  static double bytes_kept(double num_nodes, double num_elem) {
    return 8 * num_elem + 4 * num_nodes;
  }
  /// Of the places and the hash tables.
  double index_bytes() const {
    return 8 * double(elements_.place.extent(0)) + double(elements_.hash.bytes());
  }

  /// y = A x; x and y [3 num_nodes] must not alias. Does not fence.
  template<class Scalar>
  void apply(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    detail::apply_elements(exec, "ossatura::HashOperator::apply", elements_, blocks_, x, y);
  }

  const SpatialHash<Exec>& hash() const { return elements_.hash; }

private:
  detail::HashElements<Exec> elements_;
  detail::ElementBlocks<Exec, 1> blocks_; ///< on cores
};

} // namespace ossatura
