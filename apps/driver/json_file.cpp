// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/json_file.hpp"

#include "core/io/input_file.hpp"
#include "core/require.hpp"

#include <set>
#include <vector>

namespace femura {

namespace {

constexpr std::uint64_t largest_file = std::uint64_t(1) << 28; // bytes; written by hand

/// The library's message from the place on: "line 3, column 5: ...".
std::string message_of(const std::exception& error) {
  const std::string text = error.what();
  const std::size_t line = text.find("line ");
  const std::size_t bracket = text.find("] ");
  if (line != std::string::npos)
    return text.substr(line);
  return bracket == std::string::npos ? text : text.substr(bracket + 2);
}

} // namespace

nlohmann::ordered_json read_json(const std::string& path) {
  using Json = nlohmann::ordered_json;
  const std::vector<unsigned char> text = read_all(path, largest_file);
  std::vector<std::set<std::string>> names; // of the objects that are open
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start)
      names.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      names.pop_back();
    else if (event == Json::parse_event_t::key &&
             !names.back().insert(parsed.get<std::string>()).second)
      fail<InputError>(path, ": the name ", parsed.dump(), " is there twice");
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const nlohmann::json::exception& error) {
    fail<InputError>(path, ": not JSON: ", message_of(error));
  }
}

} // namespace femura
