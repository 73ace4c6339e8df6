// SPDX-License-Identifier: Apache-2.0
// A trial read runs another library's reader in a process of its own, because damaged files may
// crash the library.
#pragma once

#include <functional>
#include <string>

namespace ossatura {

/// Calls `read` in a child process, whose memory is a copy of this one's, and throws InputError
/// about `path` if the child dies of a signal or takes longer than `limit_seconds`, and
/// BackendError if it is killed, as the kernel does where memory runs out. What `read` returns or
/// throws there is dropped, and so is what it prints: if the child lives, the caller does the same
/// work here and gets the same outcome. For the HDF5 library (1.10.8, for one), which follows
/// damaged addresses in the metadata of files written without checksums. Returns at once where no
/// child can be had. The child uses host memory only; call this while no other thread reads.
void require_survivable_read(const std::string& path, const std::function<void()>& read,
                             unsigned limit_seconds = 600);

} // namespace ossatura
