// SPDX-License-Identifier: Apache-2.0
// A JsonPlace is a value inside a JSON file together with its place, so that every message can say
// "scene.json: objects[1].material.young: ...".
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/base/require.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

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
  double fraction(const std::string& expected) const;     ///< greater than 0 and less than 1
  /// A whole number of at least `least` and at most `most`.
  int whole(int least, int most, const std::string& expected) const;
  /// A list of at least one such number, each of which is there once.
  std::vector<int> different_wholes(int least, int most, const std::string& expected) const;
  bool boolean() const;
  std::string text(const std::string& expected) const;
  /// Lists of n.
  template<std::size_t n>
  std::array<double, n> numbers(const std::string& expected) const {
    return list<n, double>(expected, [&](const JsonPlace& p) { return p.number(expected); });
  }
  template<std::size_t n>
  std::array<double, n> positives(const std::string& expected) const {
    const auto values = numbers<n>(expected);
    for (const double value : values)
      if (!(value > 0))
        fail_value(expected);
    return values;
  }
  template<std::size_t n>
  std::array<int, n> wholes(int least, int most, const std::string& expected) const {
    return list<n, int>(expected,
                        [&](const JsonPlace& p) { return p.whole(least, most, expected); });
  }
  /// One of a few names, and what it stands for.
  std::string one_of(const std::vector<std::string>& names) const;
  template<class Value>
  Value choice(const Names<Value>& choices = name_table<Value>) const {
    std::vector<std::string> names;
    for (const Named<Value>& one : choices)
      names.emplace_back(one.name);
    const auto place = std::find(names.begin(), names.end(), one_of(names));
    return choices.begin()[place - names.begin()].value;
  }

  /// Throws "WHERE: VALUE: expected EXPECTED".
  [[noreturn]] void fail_value(const std::string& expected) const;

private:
  JsonPlace(const Json& json, std::string file, std::string path)
      : json_(&json)
      , file_(std::move(file))
      , path_(std::move(path)) {}
  template<std::size_t n, class Value, class Read>
  std::array<Value, n> list(const std::string& expected, const Read& read) const {
    const std::vector<JsonPlace> places = items(expected);
    if (places.size() != n)
      fail_value(expected);
    std::array<Value, n> values{};
    for (std::size_t i = 0; i < n; ++i)
      values[i] = read(places[i]);
    return values;
  }
  JsonPlace member(const std::string& name) const {
    return {(*json_)[name], file_, path_.empty() ? name : path_ + '.' + name};
  }

  const Json* json_;
  std::string file_, path_;
};

} // namespace ossatura
