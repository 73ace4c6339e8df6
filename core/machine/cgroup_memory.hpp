// SPDX-License-Identifier: Apache-2.0
// Control groups of Linux limit the memory of containers, batch jobs and systemd units;
// cgroup_available_bytes reads the limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ossatura {

/// Bytes that the groups of this process leave it, the tightest of the group and those above it;
/// none where there is no limit. Cached files that the kernel can drop count as left. Reads
/// `root`/proc/self/cgroup, `root`/sys/fs/cgroup/PATH/memory.max of version 2 and
/// `root`/sys/fs/cgroup/memory/PATH/memory.limit_in_bytes of version 1; `root` is for tests. Inside
/// of a container, where PATH may be that of the host, its parents are looked for, too.
std::optional<std::int64_t> cgroup_available_bytes(const std::string& root = {});

} // namespace ossatura
