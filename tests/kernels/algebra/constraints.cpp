// SPDX-License-Identifier: Apache-2.0
// Constraints by hand.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

OSSATURA_BACKEND_TEST("Constraints list their nodes and clear their components alone",
                      "[constraints]") {
  const TestType exec;
  const auto held = make_constraints(
      exec, upload(exec, "test::mask", std::vector<std::uint8_t>{0, 5, 0, 7, 2, 0}));
  CHECK(held.num_dofs == 6);
  CHECK(host_values(held.node) == std::vector<int>{1, 3, 4});
  const auto x = upload(exec, "test::x", std::vector<double>(18, 3));
  clear(exec, held, x);
  exec.fence();
  CHECK(host_values(x) ==
        std::vector<double>{3, 3, 3, 0, 3, 0, 3, 3, 3, 0, 0, 0, 3, 0, 3, 3, 3, 3});
}

} // namespace
