// SPDX-License-Identifier: Apache-2.0
// A region poll lets a program interrupt the library at the start of a timed region, and within
// what takes long without one.
#pragma once

namespace ossatura {

/// `poll` is called before each region of region_timers() is entered, and may throw; null: none.
void set_region_poll(void (*poll)());
/// Calls it where there is one. Of the thread that regions are entered on.
void poll_region();

} // namespace ossatura
