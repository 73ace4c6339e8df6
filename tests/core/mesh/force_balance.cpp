// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/force_balance.hpp>

#include "tests/catch.hpp"

using namespace ossatura;

TEST_CASE("a lever in balance has no error, and one out of balance its part", "[force_balance]") {
  // 3 N at 1 m and 1 N at 3 m of the support, which carries both; by hand.
  ForceBalance lever;
  lever.add({-1, 0, 0}, {0, -3, 0}, {0, -0.1, 0});
  lever.add({3, 0, 0}, {0, -1, 0}, {0, 0.3, 0});
  lever.add({0, 0, 0}, {0, 4, 0}, {0, 0, 0});
  CHECK(lever.force_error() == 0);
  CHECK(lever.moment_error() == 0);
  CHECK(lever.force_scale == 8);
  CHECK(lever.moment_scale == 6);
  CHECK(lever.work_scale == Approx(0.6));
  CHECK(lever.energy_error() < 1e-15); // it turns without work
  lever.energy = 0.5;
  CHECK(lever.energy_error() == Approx(1));
  lever.add({0, 2, 0}, {1, 0, 0}, {1, 0, 0});
  CHECK(lever.energy_error() < 1e-15);
  CHECK(lever.force_error() == Approx(1. / 9));
  CHECK(lever.moment_error() == Approx(2. / 8));
}

TEST_CASE("a balance of nothing holds, and one of no numbers does not", "[force_balance]") {
  ForceBalance balance;
  CHECK(balance.force_error() == 0);
  CHECK(balance.moment_error() == 0);
  CHECK(balance.energy_error() == 0);
  balance.add({1, 0, 0}, {0, std::nan(""), 1}, {0, 0, 1});
  CHECK_FALSE(balance.force_error() <= 1);
  CHECK_FALSE(balance.moment_error() <= 1);
  CHECK_FALSE(balance.energy_error() <= 1);
}

TEST_CASE("the bound of balances follows the tolerance between its ends", "[force_balance]") {
  CHECK(balance_bound(1e-6) == Approx(1e-3));
  CHECK(balance_bound(0.5) == 0.1);
  CHECK(balance_bound(1e-15) == 1e-5);
}
