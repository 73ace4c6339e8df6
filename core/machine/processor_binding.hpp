// SPDX-License-Identifier: Apache-2.0
// OpenMP may bind its threads to processors (OMP_PROC_BIND, OMP_PLACES); GCC's binds the first one
// before main(). Threads and processes start with the processors of the thread that starts them.
#pragma once

namespace ossatura {

/// Processors that OpenMP binds threads to: those of all its places, which are what affinity and
/// OMP_PLACES left to this process. 0 where it does not bind them, where they all stay with the
/// first (OMP_PROC_BIND=master), and in builds without OpenMP.
int bound_processors();

/// Lets the calling thread run on the processors of all places, where OpenMP binds threads; else
/// does nothing. To be the first call of a thread that is not one of OpenMP's.
void unbind_thread();

} // namespace ossatura
