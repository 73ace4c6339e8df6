// SPDX-License-Identifier: Apache-2.0
// Sums of groups have the same bits for any number of ranks and threads.
#include "tests/backend_test.hpp"
#include <ossatura/kernels/algebra/reproducible_sums/groups.hpp>

#include <cmath>

namespace {

using namespace ossatura;

/// Groups of uneven sizes, some empty, one longer than several chunks.
std::vector<int> group_sizes() {
  std::vector<int> sizes;
  for (int g = 0; g < 23; ++g)
    sizes.push_back(g % 5 == 3 ? 0 : 37 * g * g % 2000);
  sizes.push_back(5000);
  return sizes;
}

double value(std::int64_t i) {
  return std::sin(double(i)) * std::pow(10.0, double(i % 13) - 6);
}

/// The sum of x(i)^2 with the groups of a rank as `first_group` says; x ghosts of NaN at the ends.
template<class Exec>
double sum_squares(const Exec& exec, const Communicator& comm) {
  const std::vector<int> sizes = group_sizes();
  // Rank r has groups [24 r / n, 24 (r + 1) / n), but rank 1 nothing if there are four.
  const auto first_group = [&](int rank) {
    if (comm.size() == 4 && rank == 1)
      rank = 2;
    return int(sizes.size()) * rank / comm.size();
  };
  std::vector<int> begin{2};
  std::vector<double> x(6, std::nan(""));
  std::int64_t node = 0;
  for (int g = 0; g < int(sizes.size()); ++g) {
    if (g >= first_group(comm.rank()) && g < first_group(comm.rank() + 1)) {
      for (std::int64_t i = 3 * node; i < 3 * (node + sizes[std::size_t(g)]); ++i)
        x.push_back(value(i));
      begin.push_back(begin.back() + sizes[std::size_t(g)]);
    }
    node += sizes[std::size_t(g)];
  }
  x.push_back(std::nan(""));
  const GroupSums<Exec> sums(exec, DeviceComm<Exec>(comm), begin);
  const auto values = upload(exec, "test::x", x);
  return sums.dot(exec, values, values);
}

OSSATURA_RANKS_TEST("Sums of groups have the bits of one process", "[cut]") {
  const TestType exec;
  const double alone = sum_squares(exec, Communicator()),
               together = sum_squares(exec, Communicator::world());
  CHECK(alone == together);
  // Against a compensated sum, of positive terms.
  double sum = 0, rest = 0;
  std::int64_t n = 0;
  for (const int size : group_sizes())
    n += 3 * size;
  for (std::int64_t i = 0; i < n; ++i) {
    const double term = value(i) * value(i) - rest, next = sum + term;
    rest = (next - sum) - term;
    sum = next;
  }
  CHECK(std::abs(alone - sum) <= 1e-14 * sum);
#if !defined(KOKKOS_ENABLE_CUDA)
  // The same bits by Serial and OpenMP with any number of threads.
  CHECK(alone == sum_squares(Serial(), Communicator()));
#endif
}

} // namespace
