// SPDX-License-Identifier: Apache-2.0
// The executable sets up its process before anything else happens in it, and may end it at once.
#pragma once

namespace ossatura {

/// To be the first call of main():
/// - descriptors 0 to 2 that are closed become ones that cannot be written, so that no output file
///   gets one of their numbers and the log or the table in it;
/// - writing to a closed pipe or beyond a limit of size is an error to report, not the end by a
///   signal with results lost;
/// - HDF5 locks no files: not all file systems can, and ours have names of their own until they are
///   done;
/// - a CUDA context has two queues, unless the environment says how many: more take time to make;
/// - where the C++ runtime finds no memory, the process ends there, with the exit code for it;
/// - abort() ends it with a documented exit code, and no temporary files stay behind.
void prepare_process();

/// Where a control group limits the memory, as in containers and batch jobs, lets allocations
/// beyond it fail: else the kernel kills the process, without a word. To be called when threads
/// have their stacks. Nothing in builds with CUDA, whose driver maps more than it takes.
void keep_within_memory();

/// ": the control group ..." for messages, where that limited the memory; else empty.
const char* memory_limit();

/// What follows it in messages.
constexpr const char* memory_remedy = "; --dry-run says what a run takes, and "
                                      "docs/troubleshooting.md (Out of memory) what takes less";

/// Ends the process at once, without destructors; other threads stop, and its temporary files go.
/// Takes no memory.
[[noreturn]] void end_process(int code) noexcept;

/// Starts the executable again, once, in the same process, with what runtimes read before main():
/// - waiting threads of OpenMP spin for microseconds rather than milliseconds before they sleep,
///   unless the environment says how they wait (OMP_WAIT_POLICY, GOMP_SPINCOUNT);
/// - memory comes in huge pages, unless GLIBC_TUNABLES is set;
/// - in builds with CUDA the first GPU alone is visible, unless an argument or the environment may
///   name another, or a launcher has started several processes.
/// Does nothing where the arguments ask for a text alone.
void restart_with_environment(int argc, char* argv[]);

} // namespace ossatura
