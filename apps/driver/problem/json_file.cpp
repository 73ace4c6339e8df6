// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/json_file.hpp"

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <set>
#include <vector>

namespace ossatura {

namespace {

constexpr std::uint64_t largest_file = std::uint64_t(1) << 28; // bytes; written by hand
constexpr std::size_t deepest = 100; // messages that quote a value print it recursively

/// The library's message from the place on: "line 3, column 5: ...".
std::string message_of(const std::exception& error) {
  const std::string text = error.what();
  const std::size_t line = text.find("line ");
  const std::size_t bracket = text.find("] ");
  if (line != std::string::npos)
    return text.substr(line);
  return bracket == std::string::npos ? text : text.substr(bracket + 2);
}

/// Looks for names that an object has twice, and for what is too deep to be printed in messages.
class NameCheck : public nlohmann::json_sax<nlohmann::json> {
public:
  explicit NameCheck(const std::string& path)
      : path_(path) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second)
      fail<InputError>(path_, ": the name ", nlohmann::json(name).dump(), " is there twice");
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    fail<InputError>(path_, ": not JSON: ", message_of(error));
  }

private:
  bool open() {
    if (names_.size() == deepest)
      fail<InputError>(path_, ": lists and objects are nested deeper than ", deepest, " levels");
    names_.emplace_back();
    return true;
  }
  bool close() {
    names_.pop_back();
    return true;
  }

  std::string path_;
  std::vector<std::set<std::string>> names_; // of the lists and objects that are open
};

} // namespace

nlohmann::ordered_json read_json(const std::string& path) {
  using Json = nlohmann::ordered_json;
  const std::vector<unsigned char> text = read_all(path, largest_file);
  std::vector<std::set<std::string>> names; // of the objects that are open
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > int(deepest))
      fail<InputError>(path, ": lists and objects are nested deeper than ", deepest, " levels");
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

nlohmann::json read_large_json(const std::string& path) {
  // In two passes: the one that calls back looks through an object at the end of each of its
  // members, the square of their number.
  const std::vector<unsigned char> text = read_all(path, largest_file);
  NameCheck check(path);
  nlohmann::json::sax_parse(text.begin(), text.end(), &check);
  return nlohmann::json::parse(text.begin(), text.end());
}

std::string text_at(const nlohmann::ordered_json& json, const std::string& pointer) {
  const nlohmann::ordered_json::json_pointer place(pointer);
  return json.contains(place) && json[place].is_string() ? json[place].get<std::string>() : "";
}

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace ossatura
