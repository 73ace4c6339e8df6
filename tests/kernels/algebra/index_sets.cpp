// SPDX-License-Identifier: Apache-2.0
// Union-find and inverse maps against plain loops.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/algebra/sparse/inverse_map.hpp>
#include <ossatura/kernels/algebra/union_find.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <algorithm>
#include <random>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

template<class Exec>
struct UnitePairs {
  Array<int, Exec> pair, parent;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    detail::unite(parent.data(), pair(2 * i), pair(2 * i + 1));
  }
};

/// The numbers of the sets that pairs of [0, n) make, on a backend.
template<class Exec>
std::vector<int> device_numbers(const Exec& exec, int n, const std::vector<int>& pairs,
                                int& count) {
  const auto parent = make_singletons(exec, n, "test::parent");
  Kokkos::parallel_for("test::unite", range(exec, std::int64_t(pairs.size()) / 2),
                       UnitePairs<Exec>{upload(exec, "test::pairs", pairs), parent});
  count = number_sets(exec, parent);
  exec.fence();
  return host_values(parent);
}

OSSATURA_BACKEND_TEST("Sets are numbered in the order of their smallest members", "[index_sets]") {
  const TestType exec;
  int count = 0;
  // {0, 4}, {1}, {2, 3, 5}
  CHECK(device_numbers(exec, 6, {5, 3, 4, 0, 2, 3}, count) == std::vector<int>{0, 1, 2, 2, 0, 2});
  CHECK(count == 3);
  CHECK(device_numbers(exec, 3, {}, count) == std::vector<int>{0, 1, 2});
  CHECK(count == 3);
  CHECK(device_numbers(exec, 0, {}, count).empty());
  CHECK(count == 0);
}

OSSATURA_BACKEND_TEST("Random unions and a long chain make the sets of plain loops",
                      "[index_sets]") {
  const TestType exec;
  const int n = 3000;
  std::mt19937 random(1);
  std::vector<int> scattered, chain;
  for (int i = 0; i < 1700; ++i)
    scattered.insert(scattered.end(), {int(random() % n), int(random() % n)});
  for (int i = n - 1; i > 0; --i)
    chain.insert(chain.end(), {i, i - 1});
  for (const auto& pairs : {scattered, chain}) {
    std::vector<int> label(n);
    for (int i = 0; i < n; ++i)
      label[i] = i;
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
      const int a = label[pairs[i]], b = label[pairs[i + 1]];
      std::replace(label.begin(), label.end(), std::max(a, b), std::min(a, b));
    }
    std::vector<int> expected(n);
    int sets = 0, count = 0;
    for (int i = 0; i < n; ++i) // the least member is the label
      expected[i] = label[i] == i ? sets++ : expected[label[i]];
    CHECK(device_numbers(exec, n, pairs, count) == expected);
    CHECK(count == sets);
  }
}

OSSATURA_BACKEND_TEST("An inverse map lists the members of each target in ascending order",
                      "[index_sets]") {
  const TestType exec;
  const auto small =
      invert_map(exec, upload(exec, "test::map", std::vector<int>{2, 0, 2, 3, 0}), 4);
  exec.fence();
  CHECK(host_values(small.begin) == std::vector<int>{0, 2, 2, 4, 5});
  CHECK(host_values(small.member) == std::vector<int>{1, 4, 0, 2, 3});

  const int n = 20000, num_targets = 5000;
  std::mt19937 random(2);
  std::vector<int> target, begin{0}, member;
  for (int i = 0; i < n; ++i)
    target.push_back(int(random() % num_targets));
  for (int t = 0; t < num_targets; ++t) {
    for (int i = 0; i < n; ++i)
      if (target[i] == t)
        member.push_back(i);
    begin.push_back(int(member.size()));
  }
  const auto inverse = invert_map(exec, upload(exec, "test::map", target), num_targets);
  exec.fence();
  CHECK(host_values(inverse.begin) == begin);
  CHECK(host_values(inverse.member) == member);
}

} // namespace
