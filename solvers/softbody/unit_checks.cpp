// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/unit_checks.hpp>

#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/mechanics/odd_density.hpp>
#include <ossatura/core/mesh/mechanics/odd_gravity.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

constexpr double of_units = 1000; ///< Pa: moduli near 1 stand for units, not for a material

/// Young's modulus of small strains, Pa.
double small_strain_modulus(const SoftMaterial& m) {
  return moduli_of(m.law) == SoftModuli::hooke ? m.young
                                               : 4 * (m.c1 + m.c2) * (1 + poisson_ratio(m));
}

double longest_side(const SoftObject& object) {
  const Box box = bounding_box(object.mesh.point);
  return std::max({box[3] - box[0], box[4] - box[1], box[5] - box[2]});
}

bool is_membrane(const SoftObject& object) {
  return object.mesh.shape == ElementShape::triangle;
}

double length_of(const double* v) {
  return std::hypot(v[0], v[1], v[2]);
}

} // namespace

std::optional<OddSize> find_odd_size(const SoftObject& object) {
  // Meshes in mm are longer. Solids beyond the second are of rubber, wood or steel: an organ in mm
  // is.
  constexpr double greatest_extent = 100, greatest_soft_extent = 5;
  const double extent = longest_side(object);
  const double modulus = small_strain_modulus(object.material);
  const bool is_too_soft = !is_membrane(object) && object.node_mass == 0 &&
                           extent > greatest_soft_extent &&
                           object.density * earth_gravity * extent > modulus;
  if (extent <= greatest_extent && !is_too_soft)
    return {};
  return OddSize{extent, total_mass(object), is_too_soft ? std::optional(modulus) : std::nullopt};
}

double mean_density(const SoftObject& object) {
  return object.node_mass > 0 ? total_mass(object) / rest_volume(object) : object.density;
}

bool is_odd_density(const SoftObject& object) {
  // kg/m^3. Masses of nodes are those of scenes for show, too, such as raptor.json with 1.
  const double lightest = object.node_mass > 0 ? 0.5 : 5, heaviest = 25000;
  const double density = mean_density(object);
  return density > 0 && (density < lightest || density > heaviest) &&
         small_strain_modulus(object.material) > of_units;
}

std::optional<OddModulus> find_odd_modulus(const SoftObject& object, const SoftScene& scene) {
  // The stiffest solids that are hardly heavier than water are hard woods, 2.2e10 Pa; fibres of
  // polyethylene are stiffer, and only cloth is of them. The softest as heavy as metals are rubbers
  // filled with tungsten, 1e6 Pa.
  constexpr double of_diamond = 1.3e12, of_wood = 3e10, of_rubber = 1e6; // Pa
  constexpr double light = 1300, heavy = 6000;                           // kg/m^3
  constexpr double carried = 100;
  if (object.node_mass > 0 || object.density <= 0 || is_odd_density(object) ||
      find_odd_size(object))
    return {};
  const double young = small_strain_modulus(object.material);
  double least = young, largest = young;
  if (!object.factor.empty()) {
    const auto [low, high] = std::minmax_element(object.factor.begin(), object.factor.end());
    least = young * *low;
    largest = young * *high;
  }
  const double rho = object.density;
  if (least > of_diamond || is_too_light(least, rho) ||
      (least > of_wood && rho < light && !is_membrane(object)))
    return OddModulus{OddModulus::Kind::stiff, least, 0};
  if (is_membrane(object))
    return {};
  if (largest < of_rubber && rho > heavy)
    return OddModulus{OddModulus::Kind::soft, largest, 0};
  // An odd gravity is a doubt of its own.
  const double g = std::min(length_of(scene.gravity), earth_gravity);
  const double weight = rho * g * longest_side(object) / largest;
  if (weight > carried)
    return OddModulus{OddModulus::Kind::weak, largest, weight};
  return {};
}

std::optional<double> find_odd_gravity(const SoftScene& scene) {
  const bool is_of_materials =
      std::any_of(scene.objects.begin(), scene.objects.end(), [](const SoftObject& object) {
        return small_strain_modulus(object.material) > of_units;
      });
  return is_of_materials ? find_odd_gravity(scene.gravity) : std::nullopt;
}

std::optional<OddVelocity> find_odd_velocity(const SoftObject& object) {
  constexpr double slowest = 30, fastest = 1000, mach = 10; // m/s, m/s
  const double young = small_strain_modulus(object.material), density = mean_density(object);
  if (object.velocity.empty() || young <= of_units)
    return {};
  const double sound = density > 0 && !is_odd_density(object) ? std::sqrt(young / density) : 0;
  double speed = 0;
  for (std::size_t i = 0; i < object.velocity.size(); i += 3)
    speed = std::max(speed, length_of(&object.velocity[i]));
  const double limit = sound > 0 ? std::clamp(mach * sound, slowest, fastest) : fastest;
  return speed > limit ? std::optional(OddVelocity{speed, sound}) : std::nullopt;
}

std::optional<LongStep> find_long_step(const SoftScene& scene, double time_step) {
  if (scene.obstacles.empty() && !(scene.contact_between_objects && scene.objects.size() > 1))
    return {};
  std::optional<LongStep> worst;
  for (std::size_t k = 0; k < scene.objects.size(); ++k) {
    const SoftObject& object = scene.objects[k];
    const double mass = total_mass(object), extent = longest_side(object);
    if (!object.fixed.empty() || mass <= 0)
      continue;
    const std::size_t n = object.mesh.num_points();
    double motion[3] = {0, 0, 0};
    for (std::size_t d = 0; d < 3; ++d) {
      double force = 0, velocity = 0;
      for (std::size_t i = d; i < object.load.size(); i += 3)
        force += object.load[i];
      for (std::size_t i = d; i < object.velocity.size(); i += 3)
        velocity += object.velocity[i] / double(n);
      motion[d] = time_step * (velocity + time_step * (scene.gravity[d] + force / mass));
    }
    const double moved = length_of(motion);
    if (moved > extent && (!worst || moved * worst->extent > worst->motion * extent))
      worst = LongStep{k, moved, extent};
  }
  return worst;
}

} // namespace ossatura
