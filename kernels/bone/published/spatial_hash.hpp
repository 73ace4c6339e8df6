// SPDX-License-Identifier: Apache-2.0
// A perfect spatial hash [1] finds the nodes of a grid, in one dimension as in CUDA-ParOSol [2]:
//
//     h(k) = (k mod |H| + Phi[k mod |Phi|]) mod |H|
//
// gives each key k of a set a slot of its own in a table H hardly larger than the set; Phi is the
// smaller table of offsets that keeps keys apart. The tables are filled greedily, keys that share
// an offset together and the largest such groups first; where that fails, Phi is made larger. With
// an offset per key it cannot fail, so the attempts end.
//
// As in [2] the table is split to build its parts in parallel: here one for each cube of 32^3
// lattice sites, a run of the node order (kernels/image/grid.hpp). Keys then have 15 bits, and both
// tables entries of 2 bytes: H counts from the first node of the cube. [2] has 4-byte entries of H.
//
// [1] S. Lefebvre, H. Hoppe. Perfect spatial hashing. ACM Trans. Graph. 25 (2006) 579-588,
//     doi:10.1145/1141911.1141926.
// [2] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014, 3.2.1.
#pragma once

#include <ossatura/kernels/image/grid.hpp>

#include <algorithm>

namespace ossatura {

/// Options of the search for perfect hash tables.
struct SpatialHashOptions {
  double keys_per_offset = 4; ///< |H| / |Phi| at first
  double growth = 1.25;       ///< of |Phi| after an attempt that failed
  int max_attempts = 80;      ///< enough to reach an offset per key with the growth above
};

namespace detail {

constexpr int hash_cube_bits = 5;                        ///< 32 sites along each axis
constexpr int hash_num_keys = 1 << (3 * hash_cube_bits); ///< possible keys in a cube

/// The summand of a coordinate to the key: 64 times the Morton key of the block of 4^3 sites in its
/// cube, and the local index in the block.
KOKKOS_INLINE_FUNCTION std::uint32_t hash_key_part(int coordinate, int axis) {
  const std::uint32_t block = std::uint32_t(coordinate) >> 2;
  return ((block & 1) | (block & 2) << 2 | (block & 4) << 4) << (6 + axis) |
         (std::uint32_t(coordinate) & 3) << (2 * axis);
}

/// Key of a site within its cube, [0, 32768): the low bits of node_order.
KOKKOS_INLINE_FUNCTION std::uint32_t hash_key(int x, int y, int z) {
  return hash_key_part(x, 0) | hash_key_part(y, 1) | hash_key_part(z, 2);
}

/// k mod d by multiplications, exact for k < 2^16 and 1 <= d < 2^16. D. Lemire, O. Kaser, N. Kurz.
/// Faster remainder by direct computation. Softw. Pract. Exper. 49 (2019), doi:10.1002/spe.2689.
struct Modulus {
  std::uint32_t divisor, magic;

  KOKKOS_INLINE_FUNCTION static Modulus of(std::uint32_t d) { return {d, 0xffffffffu / d + 1}; }
  KOKKOS_INLINE_FUNCTION std::uint32_t operator()(std::uint32_t k) const {
    return std::uint32_t(std::uint64_t(magic * k) * divisor >> 32);
  }
};

/// The tables of one cube.
struct alignas(16) HashCube {
  std::int64_t entry_begin;  ///< of H
  std::int64_t offset_begin; ///< of Phi
  Modulus entries, offsets;  ///< |H|, |Phi|
  std::int32_t first_node;
  std::int32_t num_nodes;

  /// Slot in H of a key with the given offset.
  KOKKOS_INLINE_FUNCTION std::uint32_t slot(std::uint32_t key, std::uint32_t offset) const {
    const std::uint32_t h = entries(key) + offset;
    return h < entries.divisor ? h : h - entries.divisor;
  }
};

/// |H|: a quarter more than the keys; a table of all keys where that is no larger, as in solid
/// parts, which no key can collide in.
KOKKOS_INLINE_FUNCTION std::uint32_t hash_entries(int num_keys) {
  const int size = num_keys + num_keys / 4;
  return std::uint32_t(Kokkos::min(int(hash_num_keys), size));
}

/// |Phi| of at least `wanted`, and without a common divisor with |H| so that keys that agree
/// modulo both are far apart; at most an offset per key.
KOKKOS_INLINE_FUNCTION std::uint32_t hash_offsets(double wanted, std::uint32_t entries) {
  std::uint32_t size = wanted < 1 ? 1 : wanted < hash_num_keys ? std::uint32_t(wanted) : 0;
  if (entries == hash_num_keys)
    return 1;
  for (; size > 0 && size < hash_num_keys; ++size) {
    std::uint32_t a = entries, b = size;
    while (b > 0) {
      const std::uint32_t rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 1)
      return size;
  }
  return hash_num_keys;
}

/// Work space of one attempt; none of it is kept.
struct HashWorkspace {
  std::uint16_t* key;   ///< [32768] the keys to place
  std::uint16_t* next;  ///< [32768] the next key with the same offset
  std::uint16_t* head;  ///< [32768] the first key of an offset
  std::uint16_t* count; ///< [32768] keys of an offset
  std::uint32_t* taken; ///< [1024] a bit for each slot of H

  KOKKOS_FUNCTION bool is_taken(std::uint32_t slot) const {
    return taken[slot / 32] >> (slot % 32) & 1;
  }
  /// The first free slot from `slot` on, or `size`.
  KOKKOS_FUNCTION std::uint32_t next_free(std::uint32_t slot, std::uint32_t size) const {
    while (slot < size && is_taken(slot))
      slot += slot % 32 == 0 && taken[slot / 32] == 0xffffffffu ? 32 : 1;
    return Kokkos::min(size, slot);
  }
};
constexpr std::uint16_t no_key = 0xffff;

/// Seeks an offset for the keys of list `head` that puts them into free slots; takes these. Returns
/// the offset, or |H| if there is none or `probes` run out. `lowest_free` is a lower bound.
KOKKOS_INLINE_FUNCTION std::uint32_t place_keys(const HashWorkspace& w, const HashCube& cube,
                                                std::uint16_t head, std::uint32_t& lowest_free,
                                                std::int64_t& probes) {
  const std::uint32_t size = cube.entries.divisor;
  // Keys that agree in both remainders cannot be told apart.
  for (std::uint16_t i = head; i != no_key; i = w.next[i])
    for (std::uint16_t j = w.next[i]; j != no_key; j = w.next[j])
      if (--probes < 0 || cube.entries(w.key[i]) == cube.entries(w.key[j]))
        return size;
  const std::uint32_t first = cube.entries(w.key[head]);
  lowest_free = w.next_free(lowest_free, size);
  for (std::uint32_t slot = lowest_free; slot < size; slot = w.next_free(slot + 1, size)) {
    const std::uint32_t offset = slot >= first ? slot - first : slot + size - first;
    bool fits = true;
    for (std::uint16_t i = w.next[head]; fits && i != no_key; i = w.next[i]) {
      fits = !w.is_taken(cube.slot(w.key[i], offset));
      --probes;
    }
    if (fits) {
      for (std::uint16_t i = head; i != no_key; i = w.next[i]) {
        const std::uint32_t s = cube.slot(w.key[i], offset);
        w.taken[s / 32] |= 1u << (s % 32);
      }
      return offset;
    }
    if (--probes < 0)
      return size;
  }
  return size;
}

/// One attempt to place the `cube.num_nodes` keys of `w`. `offset` [|Phi|] and `entry` [|H|] are
/// written if they are not null: entry[slot] is the number of the key.
KOKKOS_INLINE_FUNCTION bool build_hash(const HashWorkspace& w, const HashCube& cube,
                                       std::uint16_t* offset, std::uint16_t* entry) {
  const std::uint32_t num_offsets = cube.offsets.divisor;
  for (std::uint32_t s = 0; s < num_offsets; ++s) {
    w.head[s] = no_key;
    w.count[s] = 0;
    if (offset)
      offset[s] = 0;
  }
  for (std::uint32_t i = 0; i < (cube.entries.divisor + 31) / 32; ++i)
    w.taken[i] = 0;
  std::uint16_t largest = 0;
  for (int i = cube.num_nodes - 1; i >= 0; --i) {
    const std::uint32_t s = cube.offsets(w.key[i]);
    w.next[i] = w.head[s];
    w.head[s] = std::uint16_t(i);
    if (++w.count[s] > largest)
      largest = w.count[s];
  }
  std::uint32_t lowest_free = 0;
  std::int64_t probes = 64 * std::int64_t(cube.num_nodes) + 1024;
  for (std::uint16_t level = largest, lower = 0; level > 0; level = lower) {
    lower = 0;
    for (std::uint32_t s = 0; s < num_offsets; ++s) {
      const std::uint16_t count = w.count[s];
      if (count < level && count > lower)
        lower = count;
      if (count != level)
        continue;
      // A table of all keys needs no offsets.
      const std::uint32_t found = cube.entries.divisor == hash_num_keys
                                      ? 0
                                      : place_keys(w, cube, w.head[s], lowest_free, probes);
      if (found == cube.entries.divisor)
        return false;
      if (offset)
        offset[s] = std::uint16_t(found);
      if (entry)
        for (std::uint16_t i = w.head[s]; i != no_key; i = w.next[i])
          entry[cube.slot(w.key[i], found)] = i;
    }
  }
  return true;
}

} // namespace detail

/// Finds the numbers of nodes from their places by perfect hashing.
template<class Exec>
struct SpatialHash {
  Kokkos::Array<int, 3> num_cubes{};  ///< of 32^3 lattice sites, along x, y, z
  Array<detail::HashCube, Exec> cube; ///< [product of num_cubes], x fastest
  Array<std::uint16_t, Exec> offset;  ///< Phi of all cubes
  Array<std::uint16_t, Exec> entry;   ///< H of all cubes

  KOKKOS_FUNCTION std::int64_t cube_index(int x, int y, int z) const {
    constexpr int b = detail::hash_cube_bits;
    return (x >> b) + num_cubes[0] * ((y >> b) + std::int64_t(num_cubes[1]) * (z >> b));
  }
  /// Number of the node with the given key in a cube. There must be a node.
  KOKKOS_FUNCTION int find_key(const detail::HashCube& c, std::uint32_t key) const {
    return c.first_node +
           entry(c.entry_begin + c.slot(key, offset(c.offset_begin + c.offsets(key))));
  }
  /// Number of the node at (x, y, z). There must be a node.
  KOKKOS_FUNCTION int find(int x, int y, int z) const {
    return find_key(cube(cube_index(x, y, z)), detail::hash_key(x, y, z));
  }
  /// Of the tables, bytes.
  std::int64_t bytes() const {
    return std::int64_t(cube.extent(0) * sizeof(detail::HashCube)) +
           std::int64_t(2 * offset.extent(0)) + std::int64_t(2 * entry.extent(0));
  }
};

namespace detail {

/// The run of nodes of each cube: each node looks at the one before and the one after.
template<class Exec>
struct FindHashRuns {
  VoxelGrid<Exec> grid;
  SpatialHash<Exec> hash;
  int pass; ///< 0: first nodes, 1: numbers of nodes

  KOKKOS_FUNCTION std::int64_t cube_of(std::int64_t node) const {
    if (node < 0 || node >= grid.num_nodes)
      return -1;
    const Site s = grid.site(int(node));
    return hash.cube_index(s.x, s.y, s.z);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const std::int64_t c = cube_of(node);
    if (pass == 0 && cube_of(node - 1) != c)
      hash.cube(c).first_node = int(node);
    if (pass == 1 && cube_of(node + 1) != c)
      hash.cube(c).num_nodes = int(node) + 1 - hash.cube(c).first_node;
  }
};

/// Places the tables of the cubes one after the other: H, then Phi when its sizes are known.
template<class Exec>
struct PlaceHashTables {
  Array<HashCube, Exec> cube;
  bool offsets;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    HashCube& c = cube(i);
    if (c.num_nodes == 0)
      return;
    if (final && offsets)
      c.offset_begin = sum;
    if (final && !offsets) {
      c.entry_begin = sum;
      c.entries = Modulus::of(hash_entries(c.num_nodes));
    }
    sum += offsets ? c.offsets.divisor : hash_entries(c.num_nodes);
  }
};

/// The tables of a cube for each team of one thread. First finds |Phi|, then writes the tables: the
/// same attempt, so it succeeds again.
template<class Exec>
struct BuildHashTables {
  VoxelGrid<Exec> grid;
  SpatialHash<Exec> hash;
  SpatialHashOptions options;
  std::int64_t first_cube;
  bool write;
  Array<std::uint16_t, Exec> words; ///< [4 * 32768] for each team
  Array<std::uint32_t, Exec> bits;  ///< [1024] for each team

  KOKKOS_FUNCTION bool build(HashCube& cube, const HashWorkspace& w) const {
    for (int i = 0; i < cube.num_nodes; ++i) {
      const Site s = grid.site(cube.first_node + i);
      w.key[i] = std::uint16_t(hash_key(s.x, s.y, s.z));
    }
    if (write)
      return build_hash(w, cube, &hash.offset(cube.offset_begin), &hash.entry(cube.entry_begin));
    double wanted = double(cube.entries.divisor) / options.keys_per_offset;
    for (int attempt = 0; attempt < options.max_attempts; ++attempt) {
      cube.offsets = Modulus::of(hash_offsets(wanted, cube.entries.divisor));
      if (build_hash(w, cube, nullptr, nullptr))
        return true;
      wanted = options.growth * cube.offsets.divisor + 1;
    }
    return false;
  }
  KOKKOS_FUNCTION void
  operator()(const typename Kokkos::TeamPolicy<Exec>::member_type& team) const {
    const std::int64_t place = team.league_rank();
    HashCube cube = hash.cube(first_cube + place);
    if (cube.num_nodes == 0)
      return;
    std::uint16_t* const w = &words(4 * std::int64_t(hash_num_keys) * place);
    const HashWorkspace workspace{w, w + hash_num_keys, w + 2 * hash_num_keys,
                                  w + 3 * hash_num_keys, &bits(hash_num_keys / 32 * place)};
    if (!build(cube, workspace))
      cube.offsets.divisor = 0;
    hash.cube(first_cube + place) = cube;
  }
};

/// Cubes with nodes and without tables.
template<class Exec>
struct CountFailedCubes {
  Array<HashCube, Exec> cube;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const {
    sum += cube(i).num_nodes > 0 && cube(i).offsets.divisor == 0;
  }
};

} // namespace detail

/// The perfect hash of the nodes of `grid`. Throws std::runtime_error if a cube has none after the
/// attempts of the options. Fences.
template<class Exec>
SpatialHash<Exec> make_spatial_hash(const Exec& exec, const VoxelGrid<Exec>& grid,
                                    const SpatialHashOptions& options = {}) {
  OSSATURA_REQUIRE(options.keys_per_offset > 0 && options.growth >= 1 && options.max_attempts > 0,
                   options.keys_per_offset << " keys per offset, growth " << options.growth << ", "
                                           << options.max_attempts << " attempts");
  SpatialHash<Exec> hash;
  std::int64_t num_cubes = 1;
  for (int d = 0; d < 3; ++d) {
    hash.num_cubes[d] = (grid.shape[d] >> detail::hash_cube_bits) + 1;
    num_cubes *= hash.num_cubes[d];
  }
  hash.cube = make_uninitialized<detail::HashCube>(exec, num_cubes, "ossatura::hash_cubes");
  Kokkos::deep_copy(exec, hash.cube, detail::HashCube{});
  for (int pass = 0; pass < 2; ++pass)
    Kokkos::parallel_for("ossatura::make_spatial_hash::runs", range(exec, grid.num_nodes),
                         detail::FindHashRuns<Exec>{grid, hash, pass});

  std::int64_t num_entries = 0, num_offsets = 0;
  Kokkos::parallel_scan("ossatura::make_spatial_hash::entries", range(exec, num_cubes),
                        detail::PlaceHashTables<Exec>{hash.cube, false}, num_entries);
  hash.entry = make_uninitialized<std::uint16_t>(exec, num_entries, "ossatura::hash_entries");

  // A quarter of a megabyte of work space for each cube at a time.
  const std::int64_t batch = std::min<std::int64_t>(num_cubes, std::min(exec.concurrency(), 4096));
  const auto words = make_uninitialized<std::uint16_t>(exec, 4 * detail::hash_num_keys * batch,
                                                       "ossatura::hash_work");
  const auto bits = make_uninitialized<std::uint32_t>(exec, detail::hash_num_keys / 32 * batch,
                                                      "ossatura::hash_taken");
  const auto build = [&](bool write) {
    for (std::int64_t first = 0; first < num_cubes; first += batch)
      Kokkos::parallel_for(
          "ossatura::make_spatial_hash::build",
          Kokkos::TeamPolicy<Exec>(exec, int(std::min(batch, num_cubes - first)), 1),
          detail::BuildHashTables<Exec>{grid, hash, options, first, write, words, bits});
    std::int64_t failed = 0;
    Kokkos::parallel_reduce("ossatura::make_spatial_hash::check", range(exec, num_cubes),
                            detail::CountFailedCubes<Exec>{hash.cube}, failed);
    if (failed > 0)
      fail<std::runtime_error>("no perfect hash of the nodes of ", failed, " cubes of 32^3 in ",
                               options.max_attempts,
                               " attempts: allow more attempts or more growth");
  };
  build(false);
  Kokkos::parallel_scan("ossatura::make_spatial_hash::offsets", range(exec, num_cubes),
                        detail::PlaceHashTables<Exec>{hash.cube, true}, num_offsets);
  hash.offset = make_uninitialized<std::uint16_t>(exec, num_offsets, "ossatura::hash_offsets");
  build(true);
  return hash;
}

} // namespace ossatura
