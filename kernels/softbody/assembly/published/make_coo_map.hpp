// SPDX-License-Identifier: Apache-2.0
// make_coo_map sorts triplets by row, then column, then their own number; on devices by the bits of
// 64-bit keys, on cores by counting. Both orders are the same, and so are the maps.
#pragma once

#include <ossatura/kernels/algebra/offsets.hpp>
#include <ossatura/kernels/algebra/sorting/keys.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/softbody/assembly/published/coo_map.hpp>

#include <limits>
#include <vector>

namespace ossatura {

namespace detail {

/// The given triplets and, behind them, one for each diagonal entry, which has no value.
struct TripletList {
  int num_rows, num_given;
  const int *i, *j;
  const std::uint8_t* fixed;

  KOKKOS_FUNCTION int row(int k) const { return k < num_given ? i[k] : k - num_given; }
  KOKKOS_FUNCTION int column(int k) const { return k < num_given ? j[k] : k - num_given; }
  /// Whether it adds to the matrix.
  KOKKOS_FUNCTION bool counts(int k) const {
    return k >= num_given || (i[k] >= 0 && j[k] >= 0 && !fixed[i[k]] && !fixed[j[k]]);
  }
  KOKKOS_FUNCTION bool in_range(int k) const {
    return i[k] < 0 || j[k] < 0 || (i[k] < num_rows && j[k] < num_rows);
  }
  int size() const { return num_given + num_rows; }
};

struct FindBadTriplet {
  TripletList list;
  KOKKOS_FUNCTION void operator()(std::int64_t k, int& first) const {
    if (!list.in_range(int(k)) && int(k) < first)
      first = int(k);
  }
};

struct CountTriplets {
  TripletList list;
  KOKKOS_FUNCTION void operator()(std::int64_t k, int& count) const {
    count += list.counts(int(k)) ? 1 : 0;
  }
};

struct TripletKeys {
  TripletList list;
  int bits; ///< of a row number
  std::uint64_t* key;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    const int i = list.row(int(k)), j = list.column(int(k));
    key[k] = list.counts(int(k)) ? std::uint64_t(i) << bits | std::uint64_t(j)
                                 : std::uint64_t(list.num_rows) << bits; // behind all others
  }
};

/// Which triplets count, sorted; `count` of them.
template<class Exec>
Array<int, Exec> sort_by_keys(const Exec& exec, const TripletList& list, int& count) {
  int bits = 1;
  while (list.num_rows >> bits != 0)
    ++bits;
  const auto key = make_uninitialized<std::uint64_t>(exec, list.size(), "ossatura::coo_map::key");
  Kokkos::parallel_for("ossatura::make_coo_map::keys", range(exec, list.size()),
                       TripletKeys{list, bits, key.data()});
  Kokkos::parallel_reduce("ossatura::make_coo_map::count", range(exec, list.size()),
                          CountTriplets{list}, count);
  return sorted_order(exec, key, 2 * bits);
}

/// The same on the host, of arrays in its memory.
inline std::vector<int> sort_by_counting(const TripletList& list) {
  const std::size_t n = std::size_t(list.num_rows);
  std::vector<int> column_begin(n + 1), row_begin(n + 1);
  for (int k = 0; k < list.size(); ++k)
    if (list.counts(k)) {
      ++column_begin[std::size_t(list.column(k)) + 1];
      ++row_begin[std::size_t(list.row(k)) + 1];
    }
  for (std::size_t i = 0; i < n; ++i) {
    column_begin[i + 1] += column_begin[i];
    row_begin[i + 1] += row_begin[i];
  }
  const std::size_t num_kept = std::size_t(row_begin[n]);
  std::vector<int> by_column(num_kept), order(num_kept);
  for (int k = 0; k < list.size(); ++k)
    if (list.counts(k))
      by_column[std::size_t(column_begin[std::size_t(list.column(k))]++)] = k;
  for (const int k : by_column)
    order[std::size_t(row_begin[std::size_t(list.row(k))]++)] = k;
  return order;
}

/// 1 where a new entry begins, and where a triplet has a value.
struct MarkEntries {
  TripletList list;
  const int* order;
  int *begins, *has_value;

  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    const int k = order[p];
    const int before = p > 0 ? order[p - 1] : k;
    begins[p] = p == 0 || list.row(before) != list.row(k) || list.column(before) != list.column(k);
    has_value[p] = k < list.num_given ? 1 : 0;
  }
};

struct ListEntries {
  TripletList list;
  const int* order;
  const int *entry, *value; ///< how many entries begin, and triplets have a value, before this one
  int *row_begin, *column, *source_begin, *source;

  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    const int k = order[p];
    if (entry[p + 1] != entry[p]) {
      const int e = entry[p];
      column[e] = list.column(k);
      source_begin[e] = value[p];
      if (p == 0 || list.row(order[p - 1]) != list.row(k)) // no row is empty
        row_begin[list.row(k)] = e;
    }
    if (k < list.num_given)
      source[value[p]] = k;
  }
};

struct CloseLists {
  int num_rows, num_entries, num_sources;
  int *row_begin, *source_begin;
  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    row_begin[num_rows] = num_entries;
    source_begin[num_entries] = num_sources;
  }
};

/// The pattern and the sources from the sorted triplets. Fences.
template<class Exec>
void list_entries(const Exec& exec, const TripletList& list, const Array<int, Exec>& order,
                  int count, CooMap<Exec>& map) {
  const auto entry = make_uninitialized<int>(exec, count + 1, "ossatura::coo_map::entry");
  const auto value = make_uninitialized<int>(exec, count + 1, "ossatura::coo_map::value");
  Kokkos::parallel_for("ossatura::make_coo_map::mark", range(exec, count),
                       MarkEntries{list, order.data(), entry.data(), value.data()});
  const int num_entries = lengths_to_begins(exec, entry, "entries");
  const int num_sources = lengths_to_begins(exec, value, "triplets");
  const int square = map.block_size * map.block_size;
  OSSATURA_REQUIRE(std::int64_t(num_entries) * square <= std::numeric_limits<std::uint32_t>::max(),
                   num_entries << " blocks: more than 32 bits count their scalars");
  map.row_begin = make_uninitialized<int>(exec, map.num_rows + 1, "ossatura::coo_map::row_begin");
  map.column = make_uninitialized<int>(exec, num_entries, "ossatura::coo_map::column");
  map.source_begin =
      make_uninitialized<int>(exec, num_entries + 1, "ossatura::coo_map::source_begin");
  map.source = make_uninitialized<int>(exec, num_sources, "ossatura::coo_map::source");
  Kokkos::parallel_for("ossatura::make_coo_map::list", range(exec, count),
                       ListEntries{list, order.data(), entry.data(), value.data(),
                                   map.row_begin.data(), map.column.data(), map.source_begin.data(),
                                   map.source.data()});
  Kokkos::parallel_for("ossatura::make_coo_map::close", range(exec, 1),
                       CloseLists{map.num_rows, num_entries, num_sources, map.row_begin.data(),
                                  map.source_begin.data()});
  fence(exec, "ossatura::make_coo_map");
}

/// Checks the indices and takes their number and hash. Fences.
template<class Exec>
TripletList take_triplets(const Exec& exec, const Array<int, Exec>& i, const Array<int, Exec>& j,
                          CooMap<Exec>& map) {
  const std::int64_t most = std::numeric_limits<int>::max() - std::int64_t(map.num_rows);
  OSSATURA_REQUIRE(i.extent(0) == j.extent(0),
                   i.extent(0) << " rows and " << j.extent(0) << " columns of triplets");
  OSSATURA_REQUIRE(std::int64_t(i.extent(0)) < most, i.extent(0)
                                                         << " triplets: more than 31 bits count");
  map.num_triplets = std::int64_t(i.extent(0));
  const TripletList list{map.num_rows, int(map.num_triplets), i.data(), j.data(), map.fixed.data()};
  int bad = 0;
  Kokkos::parallel_reduce("ossatura::make_coo_map::check", range(exec, map.num_triplets),
                          FindBadTriplet{list}, Kokkos::Min<int>(bad));
  fence(exec, "ossatura::make_coo_map::check");
  if (bad < map.num_triplets) {
    int at[2];
    Kokkos::deep_copy(at[0], Kokkos::subview(i, bad));
    Kokkos::deep_copy(at[1], Kokkos::subview(j, bad));
    OSSATURA_REQUIRE(false, "triplet " << bad << " is at row " << at[0] << " and column " << at[1]
                                       << " of a matrix of " << map.num_rows << " rows");
  }
  map.hash = hash_of_triplets(exec, i, j);
  return list;
}

/// Fills all but block_size, num_rows and fixed, sorting as devices do or as cores do. Fences.
template<bool by_keys, class Exec>
void rebuild_coo_map(const Exec& exec, const Array<int, Exec>& i, const Array<int, Exec>& j,
                     CooMap<Exec>& map) {
  const TripletList list = take_triplets(exec, i, j, map);
  if constexpr (by_keys) {
    int count = 0;
    const Array<int, Exec> order = sort_by_keys(exec, list, count);
    list_entries(exec, list, order, count, map);
  } else {
    const std::vector<int> order = sort_by_counting(list);
    list_entries(exec, list, upload(exec, "ossatura::coo_map::order", order), int(order.size()),
                 map);
  }
}

template<class Exec>
CooMap<Exec> empty_coo_map(const Exec& exec, int block_size, int num_rows,
                           const std::vector<std::uint8_t>& fixed) {
  OSSATURA_REQUIRE(block_size == 1 || block_size == 3, "blocks of " << block_size << " rows");
  OSSATURA_REQUIRE(num_rows >= 0, num_rows << " rows");
  OSSATURA_REQUIRE(fixed.empty() || fixed.size() == std::size_t(num_rows),
                   fixed.size() << " marks of fixed rows for " << num_rows << " rows");
  CooMap<Exec> map;
  map.block_size = block_size;
  map.num_rows = num_rows;
  map.fixed = fixed.empty() ? make_zeros<std::uint8_t>(exec, num_rows, "ossatura::coo_map::fixed")
                            : upload(exec, "ossatura::coo_map::fixed", fixed);
  return map;
}

} // namespace detail

/// The map of triplets at rows i and columns j [num_triplets], which count scalars (block_size 1)
/// or 3 x 3 blocks (3) and are below num_rows. Those with a negative index are left out, and so are
/// those in fixed rows or columns (`fixed` [num_rows], or empty: none). Built where the arrays are,
/// which may change afterwards. Fences. Throws std::invalid_argument naming the triplet for indices
/// out of range, and for 2^31 triplets and more, which 32-bit sources do not count.
template<class Exec>
CooMap<Exec> make_coo_map(const Exec& exec, int block_size, int num_rows, const Array<int, Exec>& i,
                          const Array<int, Exec>& j, const std::vector<std::uint8_t>& fixed) {
  CooMap<Exec> map = detail::empty_coo_map(exec, block_size, num_rows, fixed);
  detail::rebuild_coo_map<BackendTraits<Exec>::is_device>(exec, i, j, map);
  return map;
}

/// The same from host memory, sorted there.
template<class Exec>
CooMap<Exec> make_coo_map(const Exec& exec, int block_size, int num_rows, const std::vector<int>& i,
                          const std::vector<int>& j, const std::vector<std::uint8_t>& fixed) {
  CooMap<Exec> map = detail::empty_coo_map(exec, block_size, num_rows, fixed);
  const Array<int, Exec> rows = upload(exec, "ossatura::coo_map::i", i);
  const Array<int, Exec> columns = upload(exec, "ossatura::coo_map::j", j);
  const detail::TripletList list = detail::take_triplets(exec, rows, columns, map);
  const std::vector<std::uint8_t> none(fixed.empty() ? std::size_t(num_rows) : 0);
  const std::vector<int> order = detail::sort_by_counting(
      {num_rows, list.num_given, i.data(), j.data(), fixed.empty() ? none.data() : fixed.data()});
  detail::list_entries(exec, list, upload(exec, "ossatura::coo_map::order", order),
                       int(order.size()), map);
  return map;
}

} // namespace ossatura
