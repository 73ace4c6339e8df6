// SPDX-License-Identifier: Apache-2.0
// A model that the command line alone describes, such as a generated one, has no file with anything
// wrong in it: what is refused of it are options that do not go together.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>

namespace ossatura {

/// Runs `body`, which makes or checks a model and writes nothing, and returns its result. Where no
/// file has a part in the model, an InputError becomes a UsageError.
template<class Body>
auto blame_options_unless(bool has_file, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const InputError& error) {
    if (has_file || device_failure() != nullptr) // which may be why something is wrong
      throw;
    fail<UsageError>(error.what());
  }
}

} // namespace ossatura
