// SPDX-License-Identifier: Apache-2.0
// Integer sums have the same bits however their terms are divided.
#include "tests/backend_test.hpp"
#include <ossatura/kernels/algebra/reproducible_sums/integers.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace ossatura;

/// Of both signs and of twelve orders of magnitude.
std::vector<double> terms(std::size_t n) {
  std::vector<double> term;
  for (std::size_t i = 0; i < n; ++i)
    term.push_back(std::sin(double(i)) * std::pow(10.0, double(i % 13) - 6));
  return term;
}

template<class Exec>
struct AddTerms {
  IntegerScale scale;
  Array<double, Exec> term;
  std::int64_t per_part;
  IntegerSum* part;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    IntegerSum sum;
    for (std::int64_t i = p * per_part; i < std::int64_t(term.extent(0)) && i < (p + 1) * per_part;
         ++i)
      scale.add(term(i), sum);
    part[p] = sum;
  }
};

/// The sum of what all ranks have, each in parts of `per_part` terms.
template<class Exec>
double sum(const Exec& exec, const Communicator& comm, const IntegerScale& scale,
           const std::vector<double>& mine, std::int64_t per_part) {
  const std::int64_t parts = (std::int64_t(mine.size()) + per_part - 1) / per_part;
  const IntegerSums<Exec> sums(exec, DeviceComm<Exec>(comm), parts);
  Kokkos::parallel_for(
      "test::add_terms", range(exec, parts),
      AddTerms<Exec>{scale, upload(exec, "test::terms", mine), per_part, sums.parts()});
  sums.add_parts(exec, parts);
  const auto total = make_zeros<double>(exec, 1, "test::total");
  sums.add_ranks(exec, scale, total);
  return download(exec, total).front();
}

/// Terms [n r / size, n (r + 1) / size) of rank r.
std::vector<double> part_of(const std::vector<double>& all, const Communicator& comm) {
  const std::size_t n = all.size(), size = std::size_t(comm.size()), r = std::size_t(comm.rank());
  return {all.begin() + std::ptrdiff_t(n * r / size),
          all.begin() + std::ptrdiff_t(n * (r + 1) / size)};
}

OSSATURA_RANKS_TEST("Sums of integers have the bits of one process", "[cut]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  const std::vector<double> all = terms(20001), mine = part_of(all, world);
  long double exact = 0, size = 0;
  for (const double term : all) {
    exact += term;
    size += std::abs(term);
  }
  // What a sum was expected to be changes how it is rounded, not much else.
  for (const double expected : {std::abs(double(exact)), 1e-3 * double(size), 1e6 * double(size)}) {
    CAPTURE(expected);
    const IntegerScale scale(expected);
    REQUIRE(scale.is_set());
    const double alone = sum(exec, Communicator(), scale, all, 20001);
    CHECK(alone == sum(exec, Communicator(), scale, all, 7));
    CHECK(alone == sum(exec, world, scale, mine, 100));
    CHECK(std::abs(alone - double(exact)) <=
          1e-15 * std::abs(double(exact)) + 20001 * std::ldexp(expected, -58));
    std::vector<double> reversed = all;
    std::reverse(reversed.begin(), reversed.end());
    CHECK(alone == sum(exec, Communicator(), scale, reversed, 7));
  }
}

OSSATURA_BACKEND_TEST("Sums of integers tell terms that they cannot hold", "[algebra]") {
  const TestType exec;
  const IntegerScale scale(1.0);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), infinity, -infinity, 1e20, -1e20}) {
    CAPTURE(bad);
    // As many as would cancel if they were added.
    CHECK(std::isnan(sum(exec, Communicator(), scale, {1, bad, bad, bad, bad, 2}, 2)));
  }
  CHECK(std::abs(sum(exec, Communicator(), scale, {0.1, 1e9, -1e9, 0.2}, 3) - 0.3) < 1e-15);
  CHECK(sum(exec, Communicator(), scale, {0x1p-58, 0x1p-58, -0x1p-57}, 1) == 0);
  for (const double expected : {0.0, -1.0, std::nan(""), infinity, 1e-300})
    CHECK_FALSE(IntegerScale(expected).is_set());
}

} // namespace
