// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/labels/options.hpp"

#include "apps/bone/input/condition_syntax.hpp"
#include "apps/bone/input/options.hpp"
#include "apps/driver/options/check.hpp"
#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/option_kinds.hpp"
#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

using Items = std::vector<std::string>;
using Number = std::optional<double> LabelLawChoice::*;

const std::vector<std::pair<std::string, MaterialKind>>& label_kinds() {
  static const std::vector<std::pair<std::string, MaterialKind>> kinds = {
      {"constant", MaterialKind::constant},
      {"threshold", MaterialKind::window},
      {"linear", MaterialKind::linear},
      {"power", MaterialKind::power},
      {"modulus", MaterialKind::modulus}};
  return kinds;
}

std::string name_of_kind(MaterialKind kind) {
  for (const auto& [name, known] : label_kinds())
    if (known == kind)
      return name;
  return "labels";
}

struct NamedNumber {
  const char* name;
  Number number;
  std::set<MaterialKind> kinds; ///< that have it
};

const std::vector<NamedNumber>& label_numbers() {
  const std::set<MaterialKind> graded = {MaterialKind::window, MaterialKind::linear,
                                         MaterialKind::power, MaterialKind::modulus},
                               all = {MaterialKind::constant, MaterialKind::window,
                                      MaterialKind::linear, MaterialKind::power,
                                      MaterialKind::modulus};
  static const std::vector<NamedNumber> numbers = {
      {"modulus", &LabelLawChoice::modulus, {MaterialKind::constant, MaterialKind::window}},
      {"slope", &LabelLawChoice::slope, {MaterialKind::linear, MaterialKind::power}},
      {"intercept", &LabelLawChoice::intercept, {MaterialKind::linear, MaterialKind::power}},
      {"coefficient", &LabelLawChoice::coefficient, {MaterialKind::power}},
      {"exponent", &LabelLawChoice::exponent, {MaterialKind::power}},
      {"lower", &LabelLawChoice::lower, graded},
      {"upper", &LabelLawChoice::upper, graded},
      {"poisson", &LabelLawChoice::poisson, all}};
  return numbers;
}

void set_number(const std::string& text, const std::string& item, LabelLawChoice& law) {
  const auto [name, value] = split_at(item, '=', "NAME=X, such as slope=3.2");
  Items known;
  for (const NamedNumber& one : label_numbers()) {
    if (one.kinds.count(law.kind) == 0)
      continue;
    known.emplace_back(one.name);
    if (name != one.name)
      continue;
    if (law.*one.number)
      throw std::invalid_argument("'" + text + "': " + name + " is given twice");
    law.*one.number = parse_number<double>(value);
    return;
  }
  throw std::invalid_argument("'" + text + "': " + name_of_kind(law.kind) + " has no '" + name +
                              "', but " + joined(known, ", ") + did_you_mean(name, known));
}

/// LABEL=LAW[:NAME=X:...], such as "1=power:coefficient=6850:exponent=1.49".
std::pair<int, LabelLawChoice> parse_label_law(const std::string& text) {
  const auto [label, rest] =
      split_at(text, '=', "LABEL=LAW[:NAME=X:...], such as 1=linear:slope=3.2");
  const Items parts = split_list(rest, ':');
  const std::string name = parts.empty() ? "" : parts.front();
  Items known;
  LabelLawChoice law;
  bool found = false;
  for (const auto& [kind_name, kind] : label_kinds()) {
    known.push_back(kind_name);
    if (kind_name == name) {
      law.kind = kind;
      found = true;
    }
  }
  if (!found)
    throw std::invalid_argument("'" + text + "': there is no law '" + name + "'; there are " +
                                joined(known, ", ") + did_you_mean(name, known));
  for (std::size_t i = 1; i < parts.size(); ++i)
    set_number(text, parts[i], law);
  return {parse_number<int>(label), law};
}

void check_modulus(const std::string& option, double modulus) {
  if (!(modulus >= 1e-30 && modulus <= 1e30))
    fail<UsageError>(option, ": a modulus of ", modulus, " MPa; 1e-30 to 1e30 are taken");
}

void check_ratio(const std::string& option, double poisson) {
  if (!(poisson >= -0.999 && poisson <= 0.499999))
    fail<UsageError>(option, ": Poisson's ratio of ", poisson, "; -0.999 to 0.499999 are taken");
}

void check_law(int label, const LabelLawChoice& law, const BoneOptions& o) {
  const std::string option = "--label-laws " + std::to_string(label) + '=' + name_of_kind(law.kind);
  for (const NamedNumber& one : label_numbers())
    if (const auto& number = law.*one.number; number && !std::isfinite(*number) &&
                                              one.number != &LabelLawChoice::lower &&
                                              one.number != &LabelLawChoice::upper)
      fail<UsageError>(option, ": ", one.name, " is no finite number");
  if (law.modulus)
    check_modulus(option, *law.modulus);
  if (law.poisson)
    check_ratio(option, *law.poisson);
  for (const auto& [name, number] :
       {std::pair<const char*, std::optional<double>>("coefficient", law.coefficient),
        {"exponent", law.exponent}})
    if (number && !(*number > 0))
      fail<UsageError>(option, ": ", name, " of ", *number, "; greater than 0");
  const double lower = law.lower.value_or(o.lower), upper = law.upper.value_or(o.upper);
  if (!(lower <= upper) && law.kind != MaterialKind::constant)
    fail<UsageError>(option, ": lower ", lower, " is above upper ", upper, ": no voxel is bone");
  if (law.kind == MaterialKind::window && std::isinf(lower) && std::isinf(upper))
    fail<UsageError>(option, " needs lower, upper or both; constant is bone of one modulus "
                             "whatever its value");
}

/// Labels 0 and those of several meanings.
void check_labels(const BoneOptions& o) {
  const auto is_bone = [&](int label) {
    return std::find(o.mask_labels.begin(), o.mask_labels.end(), label) != o.mask_labels.end();
  };
  for (const auto& [label, law] : o.labels_of_mask.laws) {
    if (label == 0 || (!o.mask_labels.empty() && !is_bone(label)))
      fail<UsageError>("--label-laws: label ", label, " is no bone, as --mask-labels ",
                       label == 0 ? "never has 0" : "does not have it",
                       ": add it there, or leave it out");
    if (o.labels_of_mask.pads.count(label) > 0)
      fail<UsageError>("label ", label,
                       " is in --label-laws, which are of bone, and in --pads, "
                       "which are none: leave one out");
  }
  for (const auto& [label, pad] : o.labels_of_mask.pads)
    if (label == 0 || is_bone(label))
      fail<UsageError>("--pads: label ", label,
                       label == 0 ? " is what is not segmented"
                                  : " is bone, as --mask-labels has it: leave one out, and see "
                                    "--label-laws for bone of its own law");
}

} // namespace

void add_label_options(CLI::App& app, BoneOptions& options) {
  LabelOptions& o = options.labels_of_mask;
  add_list(app, "--label-laws", "LABEL=LAW[:NAME=X:...],...",
           "Laws of the bone with these labels of --mask, in place of --law: threshold, linear, "
           "power, modulus, or constant, which is bone of that modulus whatever the value. "
           "NAME is what the law has of modulus, slope, intercept, coefficient, exponent, lower, "
           "upper and poisson; what is not named is as the option says: "
           "1=linear:slope=8:lower=500,2=constant:modulus=17000",
           [&o](const Items& items) {
             for (const std::string& item : items)
               if (!o.laws.insert(parse_label_law(item)).second)
                 throw std::invalid_argument("label of '" + item + "' is listed twice");
           });
  add_list(app, "--pads", "LABEL=MPA[:NU],...",
           "Labels of --mask that are no bone, but pads, pots, cement or implants of this modulus "
           "whatever the value: 5=2500:0.3. They stay elastic, and statistics, failure and "
           "remodelling leave them out",
           [&o](const Items& items) {
             for (const std::string& item : items)
               if (!o.pads.insert(parse_label(item)).second)
                 throw std::invalid_argument("label of '" + item + "' is listed twice");
           });
}

void check_label_options(const CLI::App& app, const BoneOptions& options) {
  const LabelOptions& o = options.labels_of_mask;
  require_effect(
      app, {{"--label-laws", !options.mask.empty(), "--mask, which has the labels"},
            {"--label-laws", options.law != GreyLaw::labels,
             "grey values, and --law labels is for an image of labels: say all in --labels"},
            {"--pads", !options.mask.empty(), "--mask, which has the labels"},
            {"--pads", options.law != GreyLaw::labels,
             "grey values, and --law labels is for an image of labels: say all in --labels"}});
  for (const auto& [label, law] : o.laws)
    check_law(label, law, options);
  for (const auto& [label, pad] : o.pads) {
    const std::string option = "--pads " + std::to_string(label);
    check_modulus(option, pad.modulus);
    if (pad.poisson)
      check_ratio(option, *pad.poisson);
  }
  check_labels(options);
  if (has_label_laws_alone(options))
    for (const int label : options.mask_labels)
      if (o.laws.count(label) == 0)
        fail<UsageError>("label ", label,
                         " of --mask-labels has no law: give it one in "
                         "--label-laws, or --law for those that have none");
}

std::optional<MaterialKind> kind_of_law(const BoneOptions& options) {
  switch (options.law) {
  case GreyLaw::by_format:
    break;
  case GreyLaw::modulus:
    return MaterialKind::modulus;
  case GreyLaw::threshold:
    return MaterialKind::window;
  case GreyLaw::linear:
    return MaterialKind::linear;
  case GreyLaw::power:
    return MaterialKind::power;
  case GreyLaw::labels:
    return MaterialKind::table;
  }
  return {};
}

bool has_law(const BoneOptions& options, MaterialKind kind) {
  return kind_of_law(options) == kind ||
         std::any_of(options.labels_of_mask.laws.begin(), options.labels_of_mask.laws.end(),
                     [&](const auto& of) { return of.second.kind == kind; });
}

bool falls_back(const BoneOptions& options, const std::set<MaterialKind>& kinds, Number number) {
  const std::optional<MaterialKind> law = kind_of_law(options);
  if (law && kinds.count(*law) > 0)
    return true;
  return std::any_of(
      options.labels_of_mask.laws.begin(), options.labels_of_mask.laws.end(),
      [&](const auto& of) { return kinds.count(of.second.kind) > 0 && !(of.second.*number); });
}

bool has_label_laws_alone(const BoneOptions& options) {
  return options.law == GreyLaw::by_format && !options.labels_of_mask.laws.empty();
}

} // namespace ossatura
