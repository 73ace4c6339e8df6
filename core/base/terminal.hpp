// SPDX-License-Identifier: Apache-2.0
// is_terminal tells whether a person looks at a stream.
#pragma once

#include <cstdio>

namespace ossatura {

/// Whether what is written to `stream` can be rewritten in place: a terminal that is not TERM=dumb.
bool is_terminal(std::FILE* stream);

} // namespace ossatura
