// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/json_place.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/suggest.hpp"

#include <cmath>
#include <unordered_set>

namespace ossatura {

namespace {

std::string listed(const std::vector<std::string>& names) {
  return '"' + joined(names, "\", \"") + '"';
}

/// At most a line of a value, for messages.
std::string shown(const nlohmann::ordered_json& json) {
  constexpr std::size_t longest = 60;
  const std::string text = json.dump();
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

} // namespace

void JsonPlace::fail_value(const std::string& expected) const {
  fail<InputError>(where(), ": ", shown(*json_), ": expected ", expected);
}

void JsonPlace::require_object(const std::vector<std::string>& names) const {
  if (!json_->is_object())
    fail_value("an object with " + listed(names));
  for (const auto& member : json_->items())
    if (std::count(names.begin(), names.end(), member.key()) == 0)
      fail<InputError>(where(), ": unknown key ", Json(member.key()).dump(), "; there are ",
                       listed(names), did_you_mean(member.key(), names));
}

std::optional<JsonPlace> JsonPlace::find(const std::string& name) const {
  if (!has(name))
    return {};
  return member(name);
}

JsonPlace JsonPlace::at(const std::string& name, const std::string& expected) const {
  if (!has(name))
    fail<InputError>(where(), ": \"", name, "\" is missing: ", expected);
  return member(name);
}

std::string JsonPlace::only_name(const std::vector<std::string>& names) const {
  std::string found;
  for (const std::string& name : names)
    if (has(name)) {
      if (!found.empty())
        fail<InputError>(where(), ": both \"", found, "\" and \"", name, "\": leave one out");
      found = name;
    }
  if (found.empty())
    fail<InputError>(where(), ": expected one of ", listed(names));
  return found;
}

std::vector<JsonPlace> JsonPlace::items(const std::string& expected) const {
  if (!json_->is_array())
    fail_value(expected);
  std::vector<JsonPlace> list;
  for (std::size_t i = 0; i < json_->size(); ++i)
    list.push_back({(*json_)[i], file_, path_ + '[' + std::to_string(i) + ']'});
  return list;
}

double JsonPlace::number(const std::string& expected) const {
  if (!json_->is_number() || !std::isfinite(json_->get<double>()))
    fail_value(expected);
  return json_->get<double>();
}

double JsonPlace::positive(const std::string& expected) const {
  const double value = number(expected);
  if (!(value > 0))
    fail_value(expected);
  return value;
}

double JsonPlace::not_negative(const std::string& expected) const {
  const double value = number(expected);
  if (!(value >= 0))
    fail_value(expected);
  return value;
}

double JsonPlace::fraction(const std::string& expected) const {
  const double value = number(expected);
  if (!(value > 0 && value < 1))
    fail_value(expected);
  return value;
}

int JsonPlace::whole(int least, int most, const std::string& expected) const {
  if (!json_->is_number_integer() || json_->get<double>() < least || json_->get<double>() > most)
    fail_value(expected);
  return json_->get<int>();
}

std::vector<int> JsonPlace::different_wholes(int least, int most,
                                             const std::string& expected) const {
  std::vector<int> numbers;
  std::unordered_set<int> found;
  for (const JsonPlace& item : items(expected)) {
    numbers.push_back(item.whole(least, most, expected));
    if (!found.insert(numbers.back()).second)
      fail<InputError>(item.where(), ": ", numbers.back(),
                       " is there twice: a list has each number once");
  }
  if (numbers.empty())
    fail_value(expected);
  return numbers;
}

bool JsonPlace::boolean() const {
  if (!json_->is_boolean())
    fail_value("true or false");
  return json_->get<bool>();
}

std::string JsonPlace::text(const std::string& expected) const {
  if (!json_->is_string() || json_->get_ref<const std::string&>().empty())
    fail_value(expected);
  return json_->get<std::string>();
}

std::string JsonPlace::one_of(const std::vector<std::string>& names) const {
  const std::string name = json_->is_string() ? json_->get<std::string>() : "";
  if (std::count(names.begin(), names.end(), name) == 0)
    fail<InputError>(where(), ": ", json_->dump(), " is not one of ", listed(names),
                     json_->is_string() ? did_you_mean(name, names) : "");
  return name;
}

} // namespace ossatura
