// SPDX-License-Identifier: Apache-2.0
// JSON files that users write by hand.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace femura {

/// The document in the file at `path`. Throws InputError: with line and column where the text is
/// not JSON, and with the name where an object has it twice.
nlohmann::ordered_json read_json(const std::string& path);

/// The same for files that programs write, with many names, which are found fast and lose their
/// order.
nlohmann::json read_large_json(const std::string& path);

} // namespace femura
