// SPDX-License-Identifier: Apache-2.0
// These functions compute forces, stiffness and energy of the elements of a soft body.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/softbody/elements/hyperelastic_tetra.hpp>
#include <ossatura/kernels/softbody/elements/launch.hpp>
#include <ossatura/kernels/softbody/elements/material.hpp>
#include <ossatura/kernels/softbody/elements/rest.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace ossatura {

/// Elements of one shape and law, ready to be evaluated.
template<class Exec>
struct SoftElements {
  ElementShape shape = ElementShape::tetra;
  SoftLaw law = SoftLaw::corotational;
  SoftRotation rotation = SoftRotation::polar;
  int num_elem = 0;
  double coefficient[3] = {0, 0, 0}; ///< lambda, mu (of plane stress) or c1, c2, bulk
  Array<int, Exec> node;             ///< [num_elem, nodes_per_elem]
  Array<double, Exec> rest;          ///< [numbers, num_elem], see rest.hpp
  double spared_tension = 0;         ///< of solids, Pa / m^2, see turning_stiffness.hpp
  double last_step = 0;              ///< s, likewise
};

/// `node` as in ElementMesh, entries in [0, num_points of `point`); `factor` [num_elem] multiplies
/// the moduli of each element, or is empty; `place` begins messages about elements, as in
/// "object 'liver': tetra 7". Throws std::invalid_argument naming the element for one
/// without volume and for materials that are not positive definite or not made for the shape.
/// Fences.
template<class Exec>
SoftElements<Exec>
make_soft_elements(const Exec& exec, const ElementMesh& mesh, const SoftMaterial& material,
                   const std::vector<double>& factor, const std::string& place = {}) {
  detail::check_soft_material(mesh.shape, material);
  OSSATURA_REQUIRE(mesh.num_elem() <= std::size_t(std::numeric_limits<int>::max()),
                   "too many elements: " << mesh.num_elem());
  SoftElements<Exec> elements;
  elements.shape = mesh.shape;
  elements.law = material.law;
  elements.rotation = material.rotation;
  elements.num_elem = int(mesh.num_elem());
  detail::set_soft_coefficients(mesh.shape, material, elements.coefficient);
  const std::vector<double> rest = detail::make_soft_rest(mesh, material, factor, place);
  elements.node =
      upload(exec, "ossatura::soft_nodes", std::vector<int>(mesh.node.begin(), mesh.node.end()));
  elements.rest = upload(exec, "ossatura::soft_rest", rest);
  return elements;
}

/// The contributions of elements to the system of a step. K_e = d f_e / d x_e, symmetric; f_e is
/// the derivative of the energy (corotational: f_e = R K0 (R^T x - X), and K_e = R K0 R^T with what
/// tension adds, see turning_stiffness.hpp).
template<class Exec>
struct ElementSystem {
  Array<double, Exec> force;     ///< [num_elem, nodes_per_elem, 3]: f_e + force_scale K_e v_e
  Array<double, Exec> stiffness; ///< [num_elem, pairs, 9]: stiffness_scale K_e, row-major blocks
};

namespace detail {

template<class Exec>
SoftInput soft_input(const SoftElements<Exec>& elements, const Array<double, Exec>& x) {
  SoftInput input;
  input.num_elem = elements.num_elem;
  input.node = {elements.node};
  input.rest = {elements.rest};
  input.x = {x};
  input.v = {x};
  for (int i = 0; i < 3; ++i)
    input.coefficient[i] = elements.coefficient[i];
  input.spared_tension = elements.spared_tension;
  input.last_step = elements.last_step;
  return input;
}

/// Calls launch.run<Element>() for the kind of the elements.
template<class Exec, class Launch>
void launch_elements(const SoftElements<Exec>& elements, const Launch& launch) {
  constexpr ElementShape tetra = ElementShape::tetra, triangle = ElementShape::triangle;
  constexpr SoftRotation by_polar = SoftRotation::polar, by_qr = SoftRotation::qr;
  if (elements.num_elem == 0)
    return;
  const bool polar = elements.rotation == by_polar;
  if (elements.law == SoftLaw::stvk)
    launch.template run<HyperelasticTetra<StVenantKirchhoff>>();
  else if (elements.law == SoftLaw::mooney_rivlin)
    launch.template run<HyperelasticTetra<MooneyRivlin>>();
  else if (elements.law == SoftLaw::neo_hookean)
    launch.template run<HyperelasticTetra<StableNeoHookean>>();
  else if (elements.shape == tetra)
    polar ? launch.template run<CorotationalSimplex<tetra, by_polar>>()
          : launch.template run<CorotationalSimplex<tetra, by_qr>>();
  else if (elements.shape == triangle)
    polar ? launch.template run<CorotationalSimplex<triangle, by_polar>>()
          : launch.template run<CorotationalSimplex<triangle, by_qr>>();
  else
    polar ? launch.template run<CorotationalHexa<by_polar>>()
          : launch.template run<CorotationalHexa<by_qr>>();
}

} // namespace detail

/// Fills `system` at positions x and velocities v [num_points, 3]; v is not read where force_scale
/// and last_step are 0. Adds the number of tetrahedra and hexahedra that are inside out, of any
/// law, to inverted(0): numbers stay finite there, see hyperelastic_tetra.hpp for mooney_rivlin.
/// Does not fence.
template<class Exec>
void evaluate_soft_elements(const Exec& exec, const SoftElements<Exec>& elements,
                            const Array<double, Exec>& x, const Array<double, Exec>& v,
                            double force_scale, double stiffness_scale,
                            const ElementSystem<Exec>& system, const Array<int, Exec>& inverted) {
  detail::SoftInput input = detail::soft_input(elements, x);
  input.v = {v};
  input.force_scale = force_scale;
  input.stiffness_scale = stiffness_scale;
  detail::launch_elements(elements, detail::LaunchSystem<Exec>{
                                        exec, input, {system.force, system.stiffness, inverted}});
}

/// Elastic energy, J, to `sum`, where the host reads it after a fence. Does not fence.
template<class Exec>
void soft_energy(const Exec& exec, const SoftElements<Exec>& elements, const Array<double, Exec>& x,
                 const Kokkos::View<double, Kokkos::SharedHostPinnedSpace>& sum) {
  detail::launch_elements(elements,
                          detail::LaunchEnergy<Exec>{exec, detail::soft_input(elements, x), sum});
}

} // namespace ossatura
