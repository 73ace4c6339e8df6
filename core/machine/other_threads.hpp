// SPDX-License-Identifier: Apache-2.0
// A thread that ends the process stops the others first: what one of them does between the last
// look at what is to be cleaned up and the end would stay behind.
#pragma once

namespace ossatura {

/// For the end of the process. All other threads stop where they are, in a handler of SIGUSR2, for
/// good; a second thread that calls this stops as well. Waits at most a tenth of a second for
/// threads that take no signals, as those of drivers. Takes no memory and no lock; safe in a
/// handler of signals. Does nothing but on Linux.
void stop_other_threads() noexcept;

} // namespace ossatura
