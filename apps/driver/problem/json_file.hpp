// SPDX-License-Identifier: Apache-2.0
// These functions read JSON files that users write by hand, and print JSON as text.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace ossatura {

/// The document in the file at `path`. Throws InputError: with line and column where the text is
/// not JSON, and with the name where an object has it twice; and where lists and objects are nested
/// deeper than anything of ours.
nlohmann::ordered_json read_json(const std::string& path);

/// The same for files that programs write, with many names, which are found fast and lose their
/// order.
nlohmann::json read_large_json(const std::string& path);

/// The text at a JSON pointer, or an empty one where there is none.
std::string text_at(const nlohmann::ordered_json& json, const std::string& pointer);

/// JSON as text; with an indent, over several lines. Names of files that are not UTF-8 have U+FFFD
/// where they are not.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

} // namespace ossatura
