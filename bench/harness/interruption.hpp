// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end a run after the present row.
#pragma once

namespace ossatura::bench {

/// From here on the first SIGINT or SIGTERM is only noted; the second ends the process at once.
void note_interruption();

/// "SIGINT" or "SIGTERM" once one has been noted; until then null.
const char* interruption();

} // namespace ossatura::bench
