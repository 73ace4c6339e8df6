// SPDX-License-Identifier: Apache-2.0
// Timed regions as places where a program may end what is going on.
#pragma once

namespace ossatura {

/// `poll` is called before each region of region_timers() is entered, and may throw; null: none.
void set_region_poll(void (*poll)());

} // namespace ossatura
