// SPDX-License-Identifier: Apache-2.0
// LabelOptions say of what the labels of a mask are made: bone by laws of their own, and pads.
#pragma once

#include <ossatura/kernels/image/material_law.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>

namespace CLI {
class App;
}

namespace ossatura {

struct BoneOptions;

/// The material of one label.
struct LabelEntry {
  double modulus;                ///< MPa
  std::optional<double> poisson; ///< else --poisson
};

/// The law of the bone with one label; numbers that are not given are those of the options with
/// their names.
struct LabelLawChoice {
  MaterialKind kind = MaterialKind::constant; ///< no table
  std::optional<double> modulus, slope, intercept, coefficient, exponent, lower, upper, poisson;
};

struct LabelOptions {
  std::map<int, LabelLawChoice> laws; ///< --label-laws
  std::map<int, LabelEntry> pads;     ///< --pads, which are no bone
};

void add_label_options(CLI::App& app, BoneOptions& options);

/// Throws UsageError for values out of range, and for labels that contradict each other.
void check_label_options(const CLI::App& app, const BoneOptions& options);

/// Whether --law or the law of a label is of this kind.
bool has_law(const BoneOptions& options, MaterialKind kind);

/// Whether --law is one of these kinds, or the law of a label that does not give this number, so
/// that the option with its name has an effect.
bool falls_back(const BoneOptions& options, const std::set<MaterialKind>& kinds,
                std::optional<double> LabelLawChoice::*number);

/// The kind of --law; nothing where it is not given.
std::optional<MaterialKind> kind_of_law(const BoneOptions& options);

/// Whether bone has a law of its own with every label, so that none is needed for others.
bool has_label_laws_alone(const BoneOptions& options);

} // namespace ossatura
