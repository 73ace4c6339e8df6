// SPDX-License-Identifier: Apache-2.0
// A material law turns grey values, densities or labels into Young's modulus and Poisson's ratio.
//
// [1] B. Helgason et al., "Mathematical relationships between bone density and mechanical
//     properties: a literature review", Clin. Biomech. 23 (2008) 135-146.
//     doi:10.1016/j.clinbiomech.2007.08.024 (power laws in use, with their densities)
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/array.hpp>
#include <ossatura/kernels/image/label_selection.hpp>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace ossatura {

enum class MaterialKind {
  modulus,  ///< the image holds the modulus: E = modulus_factor * g; negative values are an error
  window,   ///< E = modulus; with `lower` a threshold
  linear,   ///< E = intercept + slope * g
  power,    ///< E = coefficient * (density / reference_density)^exponent
  constant, ///< E = modulus whatever the value; 0 = void
  table     ///< by integer label; label 0 is void unless it is in the table
};

struct LabelMaterial {
  int label;
  double modulus; ///< MPa, 0 = void
  double poisson = 0.3;
};

/// A law for one grey value g. Only the members that `kind` names are used. In every law but the
/// table and the constant, grey values outside lower <= g <= upper are void.
struct MaterialLaw {
  MaterialKind kind = MaterialKind::modulus;
  double modulus_factor = 1; ///< MPa per unit of the image; 1000 for an image in GPa
  double lower = -std::numeric_limits<double>::infinity(); ///< grey value, as above
  double upper = std::numeric_limits<double>::infinity();  ///< grey value, as above
  double modulus = 1000;                                   ///< window and constant, MPa
  double intercept = 0;                                    ///< linear, MPa
  double slope = 1;                                        ///< linear, MPa per grey value
  double density_intercept = 0; ///< power: density = density_intercept + density_slope * g
  double density_slope = 1;
  double reference_density = 1; ///< power, in the unit of the density
  double coefficient = 1000;    ///< power, MPa
  double exponent = 2;          ///< power, as in [1]: 1 to 3
  double cutoff = 0;            ///< linear and power: E up to this many MPa is void
  double poisson = 0.3;         ///< all but table
  std::vector<LabelMaterial> table;
};

/// The results of apply_material_law other than the moduli.
template<class Exec>
struct MaterialField {
  double poisson = 0.3;             ///< of all solid voxels, if `poisson_image` is empty
  Array<float, Exec> poisson_image; ///< [nx * ny * nz] if the materials differ in it, else empty
  std::int64_t num_solid = 0;       ///< voxels with E > 0
  std::int64_t num_clamped = 0;     ///< negative by the linear law or in density, made void
  std::int64_t num_left_out = 0;    ///< voxels that would be solid, but are not selected
  double minimum = 0;               ///< of E > 0, in MPa; 0 if nothing is solid
  double maximum = 0;
};

namespace detail {

enum class VoxelMaterial { solid_or_void, clamped, bad };

/// A law without a table at one voxel, callable on host and device.
struct LawPoint {
  MaterialKind kind;
  double lower, upper;
  double a, b, c, d, e; ///< constants in the order of their use below
  double cutoff;

  /// Sets `modulus` (MPa).
  KOKKOS_FUNCTION VoxelMaterial operator()(float grey, float& modulus) const {
    const double g = grey;
    modulus = 0;
    if (kind == MaterialKind::constant) {
      modulus = float(a);
      return VoxelMaterial::solid_or_void;
    }
    if (!(g - g == 0)) // not a number or infinite
      return VoxelMaterial::bad;
    if (!(lower <= g && g <= upper))
      return VoxelMaterial::solid_or_void;
    double result = 0;
    bool negative = false;
    switch (kind) {
    case MaterialKind::modulus:
      result = a * g;
      if (result < 0)
        return VoxelMaterial::bad;
      break;
    case MaterialKind::window:
      result = a;
      break;
    case MaterialKind::linear:
      result = a + b * g;
      negative = result < 0;
      break;
    case MaterialKind::power: {
      const double density = (a + b * g) / c;
      negative = density < 0;
      result = density > 0 ? d * pow(density, e) : 0;
      break;
    }
    case MaterialKind::constant:
    case MaterialKind::table:
      break;
    }
    if (!(result <= FLT_MAX))
      return VoxelMaterial::bad;
    modulus = result <= cutoff ? 0.0f : float(result);
    return negative ? VoxelMaterial::clamped : VoxelMaterial::solid_or_void;
  }
};

/// The point of a law, without its table.
inline LawPoint law_point(const MaterialLaw& law) {
  LawPoint point{law.kind, law.lower, law.upper, 0, 0, 0, 0, 0, 0};
  switch (law.kind) {
  case MaterialKind::modulus:
    point.a = law.modulus_factor;
    break;
  case MaterialKind::window:
  case MaterialKind::constant:
    point.a = law.modulus;
    break;
  case MaterialKind::linear:
    point.a = law.intercept;
    point.b = law.slope;
    point.cutoff = law.cutoff;
    break;
  case MaterialKind::power:
    point.a = law.density_intercept;
    point.b = law.density_slope;
    point.c = law.reference_density;
    point.d = law.coefficient;
    point.e = law.exponent;
    point.cutoff = law.cutoff;
    break;
  case MaterialKind::table:
    break;
  }
  return point;
}

/// The law at one voxel, callable on host and device. Tables are views of equal length, labels
/// ascending.
template<class Exec>
struct MaterialPoint {
  LawPoint law;
  Array<int, Exec> label;
  Array<float, Exec> label_modulus;
  Array<float, Exec> label_poisson;

  /// Sets `modulus` (MPa) and, for tables, `entry` (or -1).
  KOKKOS_FUNCTION VoxelMaterial operator()(float grey, float& modulus, int& entry) const {
    entry = -1;
    if (law.kind != MaterialKind::table)
      return law(grey, modulus);
    modulus = 0;
    entry = find_label<Exec>(label, double(grey)); // nowhere, where it is no number
    if (entry < 0)
      return grey == 0 ? VoxelMaterial::solid_or_void : VoxelMaterial::bad;
    modulus = label_modulus(entry);
    return VoxelMaterial::solid_or_void;
  }
};

/// Replaces grey values by moduli; voxels without a material keep their grey value.
template<class Exec>
struct ApplyMaterial {
  MaterialPoint<Exec> law;
  float poisson_of_void;
  LabelSelection<Exec> selection;
  VoxelArray<Exec> image;
  Array<float, Exec> poisson_image; ///< may be empty

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& num_solid,
                                  std::int64_t& num_clamped, std::int64_t& num_left_out,
                                  std::int64_t& num_bad, std::int64_t& first_bad, float& minimum,
                                  float& maximum) const {
    float modulus;
    int entry;
    VoxelMaterial found = law(image.value(i), modulus, entry);
    if (!selection(i)) {
      num_left_out += modulus > 0;
      found = VoxelMaterial::solid_or_void;
      modulus = 0;
    }
    if (found == VoxelMaterial::bad) {
      ++num_bad;
      first_bad = Kokkos::min(first_bad, i);
      return;
    }
    num_clamped += found == VoxelMaterial::clamped;
    image.value(i) = modulus;
    if (poisson_image.extent(0) > 0)
      poisson_image(i) = entry < 0 ? poisson_of_void : law.label_poisson(entry);
    if (modulus > 0) {
      ++num_solid;
      minimum = Kokkos::min(minimum, modulus);
      maximum = Kokkos::max(maximum, modulus);
    }
  }
};

inline void require_poisson(double poisson) {
  if (!(poisson > -1 && poisson < 0.5))
    fail<UsageError>("Poisson's ratio ", poisson, " is not between -1 and 0.5");
}

inline void require_law_number(const char* name, double value, bool positive) {
  if (!std::isfinite(value) || (positive ? !(value > 0) : false))
    fail<UsageError>("material law: ", name, " = ", value, " is not a ",
                     positive ? "positive" : "finite", " number");
}

template<class Exec>
[[noreturn]] void fail_bad_voxel(const Exec& exec, MaterialKind kind, const VoxelArray<Exec>& image,
                                 std::int64_t voxel, std::int64_t num_bad,
                                 const Communicator& comm) {
  float grey = 0;
  const std::int64_t place = voxel - image.first_voxel();
  const bool is_here = place >= 0 && place < image.num_voxels();
  if (is_here)
    Kokkos::deep_copy(exec, Kokkos::View<float, Kokkos::HostSpace>(&grey),
                      Kokkos::subview(image.value, place));
  exec.fence();
  grey = comm.sum(grey); // one rank has it
  const std::int64_t row = voxel / image.shape[0];
  std::ostringstream where;
  where << "voxel (" << voxel % image.shape[0] << ", " << row % image.shape[1] << ", "
        << row / image.shape[1] << ") ";
  if (!std::isfinite(grey))
    fail<InputError>(where.str(), "is not a finite number (", grey, "); ", num_bad,
                     " voxels have no material; repair the image");
  if (kind == MaterialKind::table && grey != std::floor(grey))
    fail<InputError>(where.str(), "has the value ", grey, ", which is no integer label; ", num_bad,
                     " voxels have no material; a label table needs a label image");
  if (kind == MaterialKind::table)
    fail<InputError>(where.str(), "has the label ", grey, ", which is not in the label table; ",
                     num_bad, " voxels have labels that are not; add them to the table, with",
                     " modulus 0 for void");
  fail<InputError>(where.str(), "with the value ", grey, " would have a negative or infinite",
                   " modulus; ", num_bad, " voxels are like this");
}

/// Makes what was found of the planes that are here that of all, or throws for bad voxels.
template<class Exec>
void finish_field(const Exec& exec, MaterialKind kind, const VoxelArray<Exec>& image,
                  std::int64_t num_bad, std::int64_t first_bad, float minimum, float maximum,
                  const Communicator& comm, MaterialField<Exec>& field) {
  const std::int64_t all_bad = comm.sum(num_bad);
  if (all_bad > 0)
    fail_bad_voxel(exec, kind, image,
                   comm.min(num_bad > 0 ? image.first_voxel() + first_bad
                                        : std::numeric_limits<std::int64_t>::max()),
                   all_bad, comm);
  field.num_solid = comm.sum(field.num_solid);
  field.num_clamped = comm.sum(field.num_clamped);
  field.num_left_out = comm.sum(field.num_left_out);
  if (field.num_solid > 0) {
    field.minimum = comm.min(minimum);
    field.maximum = comm.max(maximum);
  }
}

} // namespace detail

/// Throws UsageError if the law has no meaning.
inline void check(const MaterialLaw& law) {
  using detail::require_law_number;
  if (law.kind != MaterialKind::table)
    detail::require_poisson(law.poisson);
  if (!(law.lower <= law.upper))
    fail<UsageError>("material law: no grey value is between ", law.lower, " and ", law.upper);
  switch (law.kind) {
  case MaterialKind::modulus:
    require_law_number("modulus factor", law.modulus_factor, true);
    break;
  case MaterialKind::window:
    require_law_number("modulus", law.modulus, true);
    break;
  case MaterialKind::constant:
    if (!(law.modulus >= 0 && law.modulus <= FLT_MAX))
      fail<UsageError>("material law: the constant modulus ", law.modulus, " MPa");
    break;
  case MaterialKind::linear:
    require_law_number("intercept", law.intercept, false);
    require_law_number("slope", law.slope, false);
    break;
  case MaterialKind::power:
    require_law_number("density intercept", law.density_intercept, false);
    require_law_number("density slope", law.density_slope, false);
    require_law_number("reference density", law.reference_density, true);
    require_law_number("coefficient", law.coefficient, true);
    require_law_number("exponent", law.exponent, true);
    break;
  case MaterialKind::table: {
    if (law.table.empty())
      fail<UsageError>("material law: the label table is empty");
    std::vector<int> labels;
    for (const LabelMaterial& row : law.table) {
      detail::require_poisson(row.poisson);
      if (!(row.modulus >= 0 && row.modulus <= FLT_MAX))
        fail<UsageError>("material law: label ", row.label, " has the modulus ", row.modulus);
      labels.push_back(row.label);
    }
    std::sort(labels.begin(), labels.end());
    const auto twice = std::adjacent_find(labels.begin(), labels.end());
    if (twice != labels.end())
      fail<UsageError>("material law: label ", *twice, " is in the table twice");
    break;
  }
  }
  if (!(law.cutoff >= 0 && std::isfinite(law.cutoff)))
    fail<UsageError>("material law: cut-off modulus ", law.cutoff, " MPa");
}

/// Replaces every grey value of `image` by its Young's modulus in MPa, 0 = void. The law is
/// evaluated in fp64 and rounded to float; backends may differ in the last bit of a linear or power
/// law. Throws UsageError for a law without meaning, and InputError, naming the first voxel and
/// their number, for voxels that are not finite, whose label is not in the table or no integer, or
/// whose modulus is negative (image of moduli) or infinite; the image is then only partly
/// converted. Voxels that are not selected are void, whatever their value. Of an image whose planes
/// the ranks of `comm` share all call it, and have the numbers of all. Fences.
template<class Exec>
MaterialField<Exec> apply_material_law(const Exec& exec, const MaterialLaw& law,
                                       const VoxelArray<Exec>& image, const Communicator& comm = {},
                                       const LabelSelection<Exec>& selection = {}) {
  check(law);
  MaterialField<Exec> field;
  field.poisson = law.poisson;
  detail::MaterialPoint<Exec> point{detail::law_point(law), {}, {}, {}};
  if (law.kind == MaterialKind::table) {
    std::vector<LabelMaterial> table = law.table;
    std::sort(table.begin(), table.end(),
              [](const LabelMaterial& p, const LabelMaterial& q) { return p.label < q.label; });
    std::vector<int> label;
    std::vector<float> modulus;
    std::vector<float> poisson;
    bool same = true;
    for (const LabelMaterial& row : table) {
      label.push_back(row.label);
      modulus.push_back(float(row.modulus));
      poisson.push_back(float(row.poisson));
      same = same && row.poisson == table.front().poisson;
    }
    field.poisson = table.front().poisson;
    point.label = upload(exec, "ossatura::label", label);
    point.label_modulus = upload(exec, "ossatura::label_modulus", modulus);
    point.label_poisson = upload(exec, "ossatura::label_poisson", poisson);
    if (!same)
      field.poisson_image = Array<float, Exec>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::poisson_image"),
          image.num_voxels());
  }
  std::int64_t num_bad = 0;
  std::int64_t first_bad = 0;
  float minimum = 0;
  float maximum = 0;
  Kokkos::parallel_reduce("ossatura::apply_material_law", range(exec, image.num_voxels()),
                          detail::ApplyMaterial<Exec>{point, float(field.poisson), selection, image,
                                                      field.poisson_image},
                          Kokkos::Sum<std::int64_t>(field.num_solid),
                          Kokkos::Sum<std::int64_t>(field.num_clamped),
                          Kokkos::Sum<std::int64_t>(field.num_left_out),
                          Kokkos::Sum<std::int64_t>(num_bad), Kokkos::Min<std::int64_t>(first_bad),
                          Kokkos::Min<float>(minimum), Kokkos::Max<float>(maximum));
  detail::finish_field(exec, law.kind, image, num_bad, first_bad, minimum, maximum, comm, field);
  return field;
}

} // namespace ossatura
