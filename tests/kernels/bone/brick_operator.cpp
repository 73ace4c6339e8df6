// SPDX-License-Identifier: Apache-2.0
// The brick operator with more than 2^31 degrees of freedom; voxel_operators.cpp has the rest.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/last_voxel.hpp"
#include <ossatura/kernels/bone/brick/operator.hpp>

#include <type_traits>

namespace {

using namespace ossatura;

OSSATURA_BACKEND_TEST("Marching through bricks reaches the last nodes", "[brick_operator]") {
  // The arrays are reserved addresses of the host.
  if constexpr (std::is_same_v<TestType, ossatura::test::Host>) {
    const ossatura::test::LastVoxel last;
    OSSATURA_NEEDS(last.ok());
    const TestType exec;
    const BrickOperator<TestType> brick(exec, last.grid, last.lame, last.edge);
    brick.apply(exec, last.x.array<TestType>(), last.y.array<TestType>());
    exec.fence();
    last.check_result(last.y);
  } else {
    SUCCEED("on the default host backend alone");
  }
}

} // namespace
