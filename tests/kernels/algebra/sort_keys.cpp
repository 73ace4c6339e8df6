// SPDX-License-Identifier: Apache-2.0
// Sorted keys against std::stable_sort.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/algebra/sorting/keys.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

template<class Exec, class Key>
void check_orders(std::size_t n, int bits) {
  const Exec exec;
  std::mt19937_64 random(n);
  std::vector<Key> first(n), second(n);
  for (std::size_t i = 0; i < n; ++i) {
    first[i] = Key(random());
    second[i] = Key(random() % 7);
  }
  const auto low_bits = [bits](Key key) {
    return bits >= int(8 * sizeof(Key)) ? key : Key(key & ((Key(1) << bits) - 1));
  };
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return low_bits(first[std::size_t(a)]) < low_bits(first[std::size_t(b)]);
  });
  const Array<int, Exec> sorted = sorted_order(exec, upload(exec, "test::keys", first), bits);
  CHECK(host_values(sorted) == order);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return second[std::size_t(a)] < second[std::size_t(b)]; });
  CHECK(host_values(sort_further(exec, sorted, upload(exec, "test::keys", second), 3)) == order);
}

OSSATURA_BACKEND_TEST("Keys are sorted by their low bits, stably", "[sort_keys]") {
  for (const std::size_t n : {0u, 1u, 63u, 20000u, 100001u}) {
    check_orders<TestType, std::uint32_t>(n, 32);
    check_orders<TestType, std::uint32_t>(n, 0);
    check_orders<TestType, std::uint32_t>(n, 3);
    check_orders<TestType, std::uint64_t>(n, 21);
    check_orders<TestType, std::uint64_t>(n, 64);
  }
}

} // namespace
