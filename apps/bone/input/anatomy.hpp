// SPDX-License-Identifier: Apache-2.0
// AnatomyOptions say what plates touch of a bone that has no flat ends: its visible surface, or
// what a mask labels.
#pragma once

#include <ossatura/kernels/bone/loads/mechanical_test.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ossatura {

struct BoneOptions;

/// One value for the lower plate, and one for the upper.
template<class T>
struct PlatePair {
  T lower{}, upper{};

  T& of(bool is_upper) { return is_upper ? upper : lower; }
  const T& of(bool is_upper) const { return is_upper ? upper : lower; }
};

/// A cap on one end.
struct CapOptions {
  double thickness = 0;  ///< mm, beyond the outermost bone
  double modulus = 2500; ///< MPa; of PMMA, as parosol-py has it
  double poisson = 0.3;
};

struct AnatomyOptions {
  PlatePair<bool> visible;                  ///< --surface; else flat
  PlatePair<std::optional<double>> depth;   ///< --surface-depth, mm; may be infinite
  PlatePair<std::vector<int>> labels;       ///< --plate-labels; empty: any
  PlatePair<std::optional<CapOptions>> cap; ///< --cap; its depth is `depth`, or 0

  bool has_caps() const { return cap.lower || cap.upper; }
};

void add_anatomy_options(CLI::App& app, BoneOptions& options);

/// Throws UsageError for options that have no effect together.
void check_anatomy_options(const CLI::App& app, const BoneOptions& options);

/// The labels of the mask that plates, --fix and --force name.
std::set<int> support_labels(const BoneOptions& options);

/// What the plates touch; `voxels` has support_labels().
void set_plate_contacts(const BoneOptions& options, const LabelVoxels& voxels,
                        MechanicalTest& test);

} // namespace ossatura
