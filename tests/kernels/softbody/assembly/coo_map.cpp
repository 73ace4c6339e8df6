// SPDX-License-Identifier: Apache-2.0
// Matrices from triplets against sums in a std::map.
#include "tests/backend_test.hpp"
#include "tests/kernels/softbody/assembly/element_cases.hpp"
#include <ossatura/kernels/softbody/assembly/published/assemble_system.hpp>
#include <ossatura/kernels/softbody/assembly/published/element_triplets.hpp>
#include <ossatura/kernels/softbody/assembly/published/make_coo_map.hpp>

#include <cstring>
#include <utility>

namespace {

using namespace ossatura;
using ossatura::test::difference;
using ossatura::test::ElementCase;
using ossatura::test::host_entries;
using ossatura::test::host_values;
using ossatura::test::random_values;

/// Random places with many repeats, some of them negative and some fixed; most rows have none.
reference::Triplets random_triplets(int block_size, int num_rows, int num, unsigned seed) {
  reference::Triplets t;
  t.block_size = block_size;
  t.num_rows = num_rows;
  std::mt19937 random(seed);
  const auto index = [&] {
    const int i = int(random() % unsigned(num_rows / 2)) * 2 - (random() % 8 == 0 ? num_rows : 0);
    return i;
  };
  for (int k = 0; k < num; ++k) {
    t.i.push_back(index());
    t.j.push_back(k % 3 == 0 ? t.i.back() : index());
  }
  t.value = random_values(std::size_t(num) * std::size_t(block_size * block_size), seed + 1);
  t.fixed.assign(std::size_t(num_rows), 0);
  for (std::size_t row = 0; row < t.fixed.size(); row += 5)
    t.fixed[row] = 1;
  return t;
}

template<class Exec>
CooMap<Exec> map_of(const Exec& exec, const reference::Triplets& t) {
  return make_coo_map(exec, t.block_size, t.num_rows, t.i, t.j, t.fixed);
}

template<class Exec>
reference::Entries entries_of(const CooMap<Exec>& map, const Array<double, Exec>& value) {
  if (map.block_size == 3)
    return host_entries(BlockMatrix<Exec>{map, value});
  const auto begin = host_values(map.row_begin), column = host_values(map.column);
  const auto values = host_values(value);
  reference::Entries entries;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i)
    for (std::size_t k = std::size_t(begin[i]); k < std::size_t(begin[i + 1]); ++k) {
      CHECK((k == std::size_t(begin[i]) || column[k] > column[k - 1]));
      entries[{int(i), column[k]}] = values[k];
    }
  return entries;
}

template<class Exec>
Array<double, Exec> values_to_fill(const Exec& exec, const CooMap<Exec>& map) {
  const std::int64_t scalars = map.block_size * map.block_size;
  const auto value = make_uninitialized<double>(exec, scalars * map.num_entries(), "test::value");
  Kokkos::deep_copy(exec, value, 777.0);
  return value;
}

/// Sums by the kernel of devices or by that of cores.
template<bool by_scalars, class Exec>
Array<double, Exec> sums_of(const Exec& exec, const CooMap<Exec>& map,
                            const std::vector<double>& triplets) {
  const auto value = values_to_fill(exec, map);
  const auto device = upload(exec, "test", triplets);
  if (map.block_size == 1)
    detail::sum_triplets<by_scalars, 1>(exec, map, device, value);
  else
    detail::sum_triplets<by_scalars, 3>(exec, map, device, value);
  exec.fence();
  return value;
}

OSSATURA_BACKEND_TEST("Triplets are summed, negative and fixed ones left out", "[coo_map]") {
  const TestType exec;
  for (const int block_size : {1, 3}) {
    const reference::Triplets t = random_triplets(block_size, 60, 900, 11);
    const CooMap<TestType> map = map_of(exec, t);
    const reference::Entries expected = assemble(t);
    CHECK(difference(entries_of(map, sums_of<false>(exec, map, t.value)), expected) < 1e-13);
    CHECK(difference(entries_of(map, sums_of<true>(exec, map, t.value)), expected) < 1e-13);
    const auto value = values_to_fill(exec, map);
    sum_triplets(exec, map, upload(exec, "test", t.value), value);
    exec.fence();
    CHECK(difference(entries_of(map, value), expected) < 1e-13);
  }
}

template<class Exec>
std::vector<std::vector<int>> all_arrays(const CooMap<Exec>& map) {
  return {host_values(map.row_begin), host_values(map.column), host_values(map.source_begin),
          host_values(map.source)};
}

OSSATURA_BACKEND_TEST("A small map by pencil and paper", "[coo_map]") {
  const TestType exec;
  const std::vector<int> i = {2, 0, 2, -1, 0, 1, 3, 2}, j = {0, 0, 0, 2, 3, 1, 3, -7};
  const auto map = make_coo_map(exec, 1, 4, i, j, {0, 1, 0, 0}); // row 1 is fixed, (2, 2) missing
  using Arrays = std::vector<std::vector<int>>;
  CHECK(all_arrays(map) ==
        Arrays{{0, 2, 3, 5, 6}, {0, 3, 1, 0, 2, 3}, {0, 1, 2, 2, 4, 4, 5}, {1, 4, 0, 2, 6}});
  const auto value = sums_of<true>(exec, map, {1, 2, 4, 8, 16, 32, 64, 128});
  CHECK(host_values(value) == std::vector<double>{2, 16, 1, 5, 0, 64});
}

OSSATURA_BACKEND_TEST("Maps sorted by keys, by counting and on the host are the same",
                      "[coo_map]") {
  const TestType exec;
  // One has a single entry of all triplets, and rows whose number is a power of two.
  reference::Triplets one_entry;
  one_entry.num_rows = 16;
  one_entry.i.assign(300, 15);
  one_entry.j.assign(300, 15);
  for (const reference::Triplets& t : {random_triplets(3, 30, 900, 12), one_entry}) {
    const auto i = upload(exec, "test", t.i), j = upload(exec, "test", t.j);
    CooMap<TestType> by_keys = detail::empty_coo_map(exec, t.block_size, t.num_rows, t.fixed);
    CooMap<TestType> chosen = make_coo_map(exec, t.block_size, t.num_rows, i, j, t.fixed);
    detail::rebuild_coo_map<true>(exec, i, j, by_keys);
    const CooMap<TestType> of_host = map_of(exec, t);
    CHECK(all_arrays(by_keys) == all_arrays(of_host));
    CHECK(all_arrays(chosen) == all_arrays(of_host));
    CHECK(by_keys.hash == of_host.hash);
    CHECK(by_keys.num_triplets == of_host.num_triplets);
  }
}

OSSATURA_BACKEND_TEST("A second sum of triplets has the same bits", "[coo_map]") {
  const TestType exec;
  const reference::Triplets t = random_triplets(3, 40, 2000, 14);
  const CooMap<TestType> map = map_of(exec, t);
  const auto first = host_values(sums_of<true>(exec, map, t.value));
  const auto second = host_values(sums_of<true>(exec, map_of(exec, t), t.value));
  REQUIRE(first.size() == second.size());
  CHECK(std::memcmp(first.data(), second.data(), first.size() * sizeof(double)) == 0);
  // And those of plain loops, which add in the same order: nothing is multiplied.
  const reference::Entries expected = assemble(t);
  CHECK(difference(entries_of(map, sums_of<false>(exec, map, t.value)), expected) == 0);
}

OSSATURA_BACKEND_TEST("Changed and reordered triplets are noticed", "[coo_map]") {
  const TestType exec;
  const reference::Triplets t = random_triplets(1, 60, 500, 15);
  const CooMap<TestType> map = map_of(exec, t);
  const auto matches = [&](const std::vector<int>& i, const std::vector<int>& j) {
    return map.matches(exec, upload(exec, "test", i), upload(exec, "test", j));
  };
  CHECK(matches(t.i, t.j));
  reference::Triplets swapped = t, changed = t, shorter = t, dropped = t;
  std::size_t other = 1;
  while (t.i[other] == t.i[0] && t.j[other] == t.j[0])
    ++other;
  std::swap(swapped.i[0], swapped.i[other]);
  std::swap(swapped.j[0], swapped.j[other]);
  changed.j[499] += 1;
  shorter.i.pop_back();
  shorter.j.pop_back();
  shorter.value.pop_back();
  dropped.i[7] = -5;
  CHECK_FALSE(matches(t.j, t.i));
  for (const reference::Triplets& now : {swapped, changed, shorter, dropped})
    CHECK_FALSE(matches(now.i, now.j));
}

/// The system by loops over the entries of M and K.
struct ExpectedSystem {
  reference::Entries matrix;
  std::vector<double> b;

  ExpectedSystem(reference::Triplets t, const std::vector<double>& mass,
                 const std::vector<double>& lumped, const std::vector<double>& load,
                 const std::vector<double>& force, const std::vector<double>& v, double mass_scale,
                 double stiffness_scale, double mass_damping, double stiffness_damping) {
    const int n = t.block_size;
    const reference::Entries k = assemble(t);
    t.value = mass;
    reference::Entries m = assemble(t);
    for (int i = 0; i < n * t.num_rows; ++i)
      m[{i, i}] += lumped[std::size_t(i / n)];
    const std::vector<double> mv = reference::multiply(m, v);
    const std::vector<double> kv = reference::multiply(k, v);
    for (const auto& [place, value] : k) {
      const bool fixed = t.is_fixed(place.first / n);
      matrix[place] = fixed ? value : mass_scale * m[place] + stiffness_scale * value;
    }
    for (std::size_t i = 0; i < v.size(); ++i)
      b.push_back(t.is_fixed(int(i) / n)
                      ? 0
                      : load[i] - force[i] - mass_damping * mv[i] - stiffness_damping * kv[i]);
  }
};

OSSATURA_BACKEND_TEST("Matrix and right-hand side of a step come from one pass", "[coo_map]") {
  const TestType exec;
  const double h = 0.5, alpha = 0.25, beta = 0.125;
  for (const int block_size : {1, 3}) {
    const reference::Triplets t = random_triplets(block_size, 60, 900, 16);
    const std::size_t rows = std::size_t(block_size * t.num_rows);
    const auto mass = random_values(t.value.size(), 1), lumped = random_values(60, 2);
    const auto load = random_values(rows, 3), force = random_values(rows, 4);
    std::vector<double> v = random_values(rows, 5);
    for (std::size_t i = 0; i < rows; ++i)
      v[i] = t.is_fixed(int(i) / block_size) ? 0 : v[i];
    const CooMap<TestType> map = map_of(exec, t);
    SystemTerms<TestType> terms;
    terms.mass = upload(exec, "test", mass);
    terms.lumped_mass = upload(exec, "test", lumped);
    terms.stiffness = upload(exec, "test", t.value);
    terms.load = upload(exec, "test", load);
    terms.force = upload(exec, "test", force);
    terms.v = upload(exec, "test", v);
    terms.mass_scale = 1 + h * alpha;
    terms.stiffness_scale = h * (h + beta);
    terms.mass_damping = alpha;
    terms.stiffness_damping = h + beta;
    const ExpectedSystem expected(t, mass, lumped, load, force, v, 1 + h * alpha, h * (h + beta),
                                  alpha, h + beta);
    const auto b = make_uninitialized<double>(exec, std::int64_t(rows), "test::b");
    const auto check = [&](const Array<double, TestType>& value) {
      exec.fence();
      CHECK(difference(entries_of(map, value), expected.matrix) < 1e-13);
      CHECK(difference(host_values(b), expected.b) < 1e-13);
      Kokkos::deep_copy(exec, b, 777.0);
    };
    const auto by_lanes = values_to_fill(exec, map), by_rows = values_to_fill(exec, map);
    if (block_size == 1) {
      detail::assemble_system<true, 1>(exec, map, terms, by_lanes, b);
      check(by_lanes);
      detail::assemble_system<false, 1>(exec, map, terms, by_rows, b);
    } else {
      detail::assemble_system<true, 3>(exec, map, terms, by_lanes, b);
      check(by_lanes);
      detail::assemble_system<false, 3>(exec, map, terms, by_rows, b);
    }
    check(by_rows);

    // What is empty is zero.
    const std::vector<double> none(t.value.size()), zero(rows);
    terms.mass = terms.load = terms.force = terms.v = terms.lumped_mass = {};
    const auto value = values_to_fill(exec, map);
    assemble_system(exec, map, terms, value, b);
    exec.fence();
    const ExpectedSystem stiffness(t, none, std::vector<double>(60), zero, zero, zero, 1,
                                   h * (h + beta), 0, 0);
    CHECK(difference(entries_of(map, value), stiffness.matrix) < 1e-13);
    CHECK(difference(host_values(b), zero) == 0);
    terms.load = upload(exec, "test", lumped);
    if (block_size == 3)
      CHECK_THROWS_AS(assemble_system(exec, map, terms, value, b), std::invalid_argument);
  }
}

OSSATURA_BACKEND_TEST("Element matrices are collected as triplets of blocks or scalars",
                      "[coo_map]") {
  const TestType exec;
  const ElementCase c;
  const reference::Triplets expected = c.triplets();
  const TripletIndices blocks = element_triplets(c.groups);
  CHECK(blocks.i == expected.i);
  CHECK(blocks.j == expected.j);
  const auto value = make_uninitialized<double>(exec, 9 * std::int64_t(blocks.i.size()), "test");
  const auto stiffness = upload(exec, "test", c.stiffness);
  detail::collect_triplets<false>(exec, c.groups, stiffness, value);
  exec.fence();
  CHECK(host_values(value) == expected.value);
  Kokkos::deep_copy(exec, value, 777.0);
  detail::collect_triplets<true>(exec, c.groups, stiffness, value);
  exec.fence();
  const std::vector<double> values = host_values(value);
  CHECK(values == expected.value);

  const reference::Entries matrix = assemble(expected);
  const auto map = make_coo_map(exec, 3, c.num_nodes, blocks.i, blocks.j, c.fixed);
  CHECK(difference(entries_of(map, sums_of<true>(exec, map, values)), matrix) == 0);
  std::vector<std::uint8_t> fixed;
  for (const std::uint8_t node : c.fixed)
    fixed.insert(fixed.end(), 3, node);
  const TripletIndices scalars = element_triplets(c.groups, 1);
  const auto map1 = make_coo_map(exec, 1, 3 * c.num_nodes, scalars.i, scalars.j, fixed);
  // Without the zeros that fixed blocks have beside their ones.
  reference::Entries scalar_matrix = matrix;
  for (const auto& [place, sum] : matrix)
    if (fixed[std::size_t(place.first)] && place.first != place.second)
      scalar_matrix.erase(place);
  const reference::Entries sums = entries_of(map1, sums_of<true>(exec, map1, values));
  // Nodes without elements have their diagonals alone.
  const int alone = c.num_nodes - 1;
  for (int r = 0; r < 3; ++r)
    for (int s = 0; s < 3; ++s)
      if (r != s)
        scalar_matrix.erase({3 * alone + r, 3 * alone + s});
  CHECK(difference(sums, scalar_matrix) == 0);
}

OSSATURA_BACKEND_TEST("Maps without triplets or rows", "[coo_map]") {
  const TestType exec;
  const std::vector<int> none;
  const auto no_rows = make_coo_map(exec, 3, 0, none, none, {});
  CHECK(no_rows.num_entries() == 0);
  CHECK(host_values(no_rows.row_begin) == std::vector<int>{0});
  reference::Triplets t = random_triplets(3, 10, 30, 17);
  for (int& i : t.i)
    i = -1;
  const CooMap<TestType> all_dropped = map_of(exec, t);
  CHECK(difference(entries_of(all_dropped, sums_of<true>(exec, all_dropped, t.value)),
                   assemble(t)) == 0);
  CooMap<TestType> by_keys = detail::empty_coo_map(exec, 1, 3, {});
  const auto empty = upload(exec, "test", none);
  detail::rebuild_coo_map<true>(exec, empty, empty, by_keys);
  CHECK(host_values(by_keys.column) == std::vector<int>{0, 1, 2});
  CHECK(by_keys.matches(exec, empty, empty));
}

OSSATURA_BACKEND_TEST("Triplets that cannot be mapped are named", "[coo_map]") {
  const TestType exec;
  const auto message = [&](int block_size, const std::vector<int>& i, const std::vector<int>& j,
                           const std::vector<std::uint8_t>& fixed) {
    try {
      make_coo_map(exec, block_size, 4, i, j, fixed);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(message(1, {0, 1, 4, 9}, {0, 1, 2, 0}, {}),
             ContainsSubstring("triplet 2 is at row 4 and column 2 of a matrix of 4 rows"));
  CHECK_THAT(message(3, {0, 1}, {0, 7}, {}),
             ContainsSubstring("triplet 1 is at row 1 and column 7"));
  CHECK_THAT(message(1, {0, 1}, {0}, {}), ContainsSubstring("2 rows and 1 columns"));
  CHECK_THAT(message(2, {0}, {0}, {}), ContainsSubstring("blocks of 2 rows"));
  CHECK_THAT(message(1, {0}, {0}, {0, 1}), ContainsSubstring("2 marks of fixed rows for 4"));
  // An array of so many indices that is not there is not read.
  const Array<int, TestType> many(nullptr, std::size_t(1) << 31);
  CHECK_THROWS_AS(make_coo_map(exec, 1, 4, many, many, {}), std::invalid_argument);
  CHECK(message(1, {-1, 0}, {9, 0}, {}).empty()); // left out, wherever the other index points
}

} // namespace
