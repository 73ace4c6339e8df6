// SPDX-License-Identifier: Apache-2.0
// A region poll lets a program interrupt the library at the start of a timed region.
#pragma once

namespace ossatura {

/// `poll` is called before each region of region_timers() is entered, and may throw; null: none.
void set_region_poll(void (*poll)());

} // namespace ossatura
