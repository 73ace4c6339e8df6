// SPDX-License-Identifier: Apache-2.0
// A SoftSystem assembles the linear system of a step from the elements of all objects.
#pragma once

#include <ossatura/kernels/softbody/assembly/make_element_map.hpp>
#include <ossatura/kernels/softbody/assembly/published/assemble_system.hpp>
#include <ossatura/kernels/softbody/assembly/published/element_triplets.hpp>
#include <ossatura/kernels/softbody/assembly/published/make_coo_map.hpp>
#include <ossatura/solvers/softbody/model.hpp>
#include <ossatura/solvers/softbody/options.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace ossatura {

/// Factors of a system: A = mass M + stiffness K, b = load - f - damping_stiffness K v -
/// damping_mass M v. In the first Newton iteration damping_stiffness holds the step, h + beta.
struct SoftCoefficients {
  double mass = 1, stiffness = 1, damping_mass = 0, damping_stiffness = 0;
  double spared_tension = 0; ///< by density, 1 / s^2, see elements/turning_stiffness.hpp
  double last_step = 0;      ///< s, likewise
};

/// Of the first Newton iteration of a step h. Where it is the only one, it takes the tension of the
/// last step, which is taken as that long, beyond what has (omega h)^2 = 1/4.
inline SoftCoefficients step_coefficients(const SoftOptions& options, double h) {
  SoftCoefficients c{1 + h * options.rayleigh_mass, h * (h + options.rayleigh_stiffness),
                     options.rayleigh_mass, options.rayleigh_stiffness + h};
  if (options.newton_iterations == 1) {
    c.spared_tension = 0.5 / c.stiffness;
    c.last_step = h;
  }
  return c;
}

template<class Exec>
class SoftSystem {
public:
  SoftSystem(const Exec& exec, const SoftScene& scene, const SoftNumbering& numbering,
             SoftAssembly assembly)
      : assembly_(assembly)
      , mass_(upload(exec, "ossatura::soft::mass", numbering.mass))
      , inverted_(make_zeros<int>(exec, 1, "ossatura::soft::inverted")) {
    std::int64_t num_pairs = 0, num_slots = 0;
    for (std::size_t k = 0; k < scene.objects.size(); ++k) {
      const ElementMesh& mesh = numbering.mesh[k];
      elements_.push_back(make_soft_elements(exec, mesh, scene.objects[k].material,
                                             numbering.factor[k],
                                             "object '" + scene.objects[k].name + "': "));
      density_.push_back(scene.objects[k].node_mass > 0 ? 0 : scene.objects[k].density);
      groups_.push_back({mesh.shape, std::vector<int>(mesh.node.begin(), mesh.node.end())});
      num_pairs += std::int64_t(mesh.num_elem()) * pairs_per_elem(mesh.shape);
      num_slots += std::int64_t(mesh.node.size());
    }
    energy_ = decltype(energy_)("ossatura::soft::energy", elements_.size());
    map_ = make_element_map(exec, numbering.num_nodes, groups_, numbering.fixed, matrix_);
    stiffness_ = make_zeros<double>(exec, 9 * num_pairs, "ossatura::soft::stiffness");
    force_ = make_zeros<double>(exec, 3 * num_slots, "ossatura::soft::force");
    if (assembly == SoftAssembly::triplets) {
      const TripletIndices triplets = element_triplets(groups_);
      coo_ = make_coo_map(exec, 3, numbering.num_nodes, triplets.i, triplets.j, numbering.fixed);
      triplet_ =
          make_zeros<double>(exec, 9 * std::int64_t(triplets.i.size()), "ossatura::soft::triplets");
      node_force_ = make_zeros<double>(exec, 3 * std::int64_t(numbering.num_nodes),
                                       "ossatura::soft::node_force");
    }
  }

  const BlockMatrix<Exec>& matrix() const { return matrix_; }
  const Array<double, Exec>& mass() const { return mass_; }
  const std::vector<SoftElements<Exec>>& elements() const { return elements_; } ///< by object
  const ElementMap<Exec>& map() const { return map_; } ///< its slots are those of elements()

  /// Other moduli of an object; its law and thickness stay. For the next collect().
  void set_moduli(std::size_t object, const SoftMaterial& material) {
    SoftElements<Exec>& elements = elements_[object];
    detail::set_soft_coefficients(elements.shape, material, elements.coefficient);
  }

  /// Element matrices and forces at x, v. Does not fence.
  void collect(const Exec& exec, const SoftCoefficients& c, const Array<double, Exec>& x,
               const Array<double, Exec>& v) {
    Kokkos::deep_copy(exec, inverted_, 0);
    velocity_ = v;
    const bool scaled = assembly_ == SoftAssembly::elements;
    std::int64_t pair = 0, slot = 0;
    for (std::size_t k = 0; k < elements_.size(); ++k) {
      SoftElements<Exec>& elements = elements_[k];
      elements.spared_tension = c.spared_tension * density_[k];
      elements.last_step = c.last_step;
      const std::int64_t pairs =
          9 * std::int64_t(elements.num_elem) * pairs_per_elem(elements.shape);
      const std::int64_t slots =
          3 * std::int64_t(elements.num_elem) * nodes_per_elem(elements.shape);
      const ElementSystem<Exec> own{
          Kokkos::subview(force_, std::make_pair(slot, slot + slots)),
          Kokkos::subview(stiffness_, std::make_pair(pair, pair + pairs))};
      evaluate_soft_elements(exec, elements, x, v, scaled ? c.damping_stiffness : 0,
                             scaled ? c.stiffness : 1, own, inverted_);
      pair += pairs;
      slot += slots;
    }
    if (!scaled)
      collect_triplets(exec, groups_, stiffness_, triplet_);
  }

  /// The matrix and b of what was collected. Does not fence.
  void compress(const Exec& exec, const SoftCoefficients& c, const Array<double, Exec>& load,
                const Array<double, Exec>& v, const Array<double, Exec>& b) {
    if (assembly_ == SoftAssembly::elements) {
      assemble_step(exec, map_, stiffness_, force_, mass_, c.mass, load, c.damping_mass, v, matrix_,
                    b);
      return;
    }
    gather_node_forces(exec, map_, force_, node_force_);
    SystemTerms<Exec> terms;
    terms.lumped_mass = mass_;
    terms.stiffness = triplet_;
    terms.load = load;
    terms.force = node_force_;
    terms.v = v;
    terms.mass_scale = c.mass;
    terms.stiffness_scale = c.stiffness;
    terms.mass_damping = c.damping_mass;
    terms.stiffness_damping = c.damping_stiffness;
    assemble_system(exec, *coo_, terms, matrix_.value, b);
  }

  /// v of the last collect.
  const Array<double, Exec>& velocity() const { return velocity_; }

  /// Elements inside out at the last collect, [1].
  const Array<int, Exec>& inverted() const { return inverted_; }

  /// Elastic energy, J, of all objects. Fences once, for what was launched before, too.
  double elastic_energy(const Exec& exec, const Array<double, Exec>& x) const {
    for (std::size_t k = 0; k < elements_.size(); ++k)
      soft_energy(exec, elements_[k], x, Kokkos::subview(energy_, k));
    fence(exec, "ossatura::soft::elastic_energy");
    double energy = 0;
    for (std::size_t k = 0; k < elements_.size(); ++k)
      energy += energy_(k);
    return energy;
  }

private:
  SoftAssembly assembly_;
  std::vector<SoftElements<Exec>> elements_;
  std::vector<double> density_; ///< kg / m^3 by object; 0 where nodes have masses of their own
  std::vector<ElementGroup> groups_;
  ElementMap<Exec> map_;
  BlockMatrix<Exec> matrix_;
  std::optional<CooMap<Exec>> coo_;
  Array<double, Exec> mass_, stiffness_, force_, triplet_, node_force_, velocity_;
  Array<int, Exec> inverted_;
  Kokkos::View<double*, Kokkos::SharedHostPinnedSpace> energy_; ///< of objects
};

} // namespace ossatura
