// SPDX-License-Identifier: Apache-2.0
// A value inside a JSON file together with where it stands, so that every message can say
// "scene.json: objects[1].material.young: ...".
#pragma once

#include "apps/driver/suggest.hpp"
#include "core/require.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace femura {

/// Refers to the document, which must outlive it. All errors are InputError; `expected` in them
/// says what the value should be, with its unit.
class JsonPlace {
public:
  using Json = nlohmann::ordered_json;

  /// The whole document of `file`.
  JsonPlace(const Json& document, std::string file)
      : json_(&document)
      , file_(std::move(file)) {}

  const Json& json() const { return *json_; }
  const std::string& file() const { return file_; }
  /// "FILE: objects[0].mesh", or "FILE" for the whole document.
  std::string where() const { return path_.empty() ? file_ : file_ + ": " + path_; }

  /// Throws unless this is an object whose names are all among `names`, which the message lists.
  void require_object(const std::vector<std::string>& names) const;
  bool has(const std::string& name) const { return json_->is_object() && json_->contains(name); }
  std::optional<JsonPlace> find(const std::string& name) const;
  /// The value of `name`; throws, saying what is expected, where it is missing.
  JsonPlace at(const std::string& name, const std::string& expected) const;
  /// The only name of an object that has exactly one of `names`.
  std::string only_name(const std::vector<std::string>& names) const;
  /// The entries of a list.
  std::vector<JsonPlace> items(const std::string& expected) const;

  double number(const std::string& expected) const;       ///< finite
  double positive(const std::string& expected) const;     ///< greater than 0
  double not_negative(const std::string& expected) const; ///< at least 0
  /// A whole number of at least `least` and at most `most`.
  int whole(int least, int most, const std::string& expected) const;
  bool boolean() const;
  std::string text(const std::string& expected) const;
  template<std::size_t n>
  std::array<double, n> numbers(const std::string& expected) const {
    std::array<double, n> values{};
    const std::vector<JsonPlace> list = items(expected);
    if (list.size() != n)
      fail_value(expected);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = list[i].number(expected);
    return values;
  }
  /// One of a few names.
  template<class Value>
  Value choice(const std::vector<std::pair<const char*, Value>>& choices) const {
    std::vector<std::string> labels;
    std::string listed;
    for (const auto& one : choices) {
      if (json_->is_string() && json_->template get<std::string>() == one.first)
        return one.second;
      labels.push_back(one.first);
      listed += (listed.empty() ? "\"" : ", \"") + labels.back() + '"';
    }
    fail<InputError>(where(), ": ", json_->dump(), " is not one of ", listed,
                     json_->is_string() ? did_you_mean(json_->template get<std::string>(), labels)
                                        : std::string());
  }

  /// Throws "WHERE: VALUE: expected EXPECTED".
  [[noreturn]] void fail_value(const std::string& expected) const;

private:
  JsonPlace(const Json& json, std::string file, std::string path)
      : json_(&json)
      , file_(std::move(file))
      , path_(std::move(path)) {}
  JsonPlace member(const std::string& name) const {
    return {(*json_)[name], file_, path_.empty() ? name : path_ + '.' + name};
  }

  const Json* json_;
  std::string file_, path_;
};

} // namespace femura
