// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/model.hpp>

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/check_batch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace ossatura {

std::vector<double> isotropic_elasticity(double young, double poisson) {
  OSSATURA_REQUIRE(young > 0 && std::isfinite(young), "a Young's modulus of " << young);
  OSSATURA_REQUIRE(poisson > -1 && poisson < 0.5,
                   "a Poisson's ratio of " << poisson << "; it is in (-1, 0.5)");
  const double mu = young / (2 * (1 + poisson)),
               lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  std::vector<double> d(std::size_t(elasticity_entries), 0.0);
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j)
      d[std::size_t(elasticity_entry(i, j))] = lambda + (i == j ? 2 * mu : 0);
    d[std::size_t(elasticity_entry(3 + i, 3 + i))] = mu;
  }
  return d;
}

namespace {

/// The positions of a batch's points.
class PointsOfElements {
public:
  PointsOfElements(const CurvedHexaMesh& mesh, const GaussRule& rule)
      : map_(mesh.map != nullptr ? mesh.map : make_trilinear_map(mesh.mesh))
      , rule_(rule) {}

  /// visit(q, x) for all points of an element.
  template<class Visit>
  void for_each(std::int64_t elem, const Visit& visit) const {
    double x[3], jacobian[9];
    std::size_t q = 0;
    for (const double xi : rule_.point)
      for (const double eta : rule_.point)
        for (const double zeta : rule_.point) {
          map_->evaluate(elem, {xi, eta, zeta}, x, jacobian);
          visit(q++, x);
        }
  }

private:
  std::shared_ptr<const HexaMap> map_;
  const GaussRule& rule_;
};

void require_lengths(const ElementMesh& mesh, const ElasticityField& elasticity) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa,
                   "elements are of shape " << name_of(mesh.shape) << ", not hexa");
  OSSATURA_REQUIRE(mesh.num_elem() > 0, "a mesh without elements");
  if (elasticity.at_point)
    return;
  const std::size_t one = std::size_t(elasticity_entries), each = one * mesh.num_elem(),
                    given = elasticity.value.size();
  OSSATURA_REQUIRE(given == one || given == each, "elasticity of " << given << " numbers; " << one
                                                                   << " for all elements or "
                                                                   << each << ", one D each");
}

/// D of the elements of a batch, or none: one for all.
std::vector<double> elasticity_of(const ElasticityField& elasticity, const std::vector<int>& elem,
                                  const PointsOfElements& points, std::size_t num_points) {
  constexpr std::size_t one = std::size_t(elasticity_entries);
  if (!elasticity.at_point) {
    if (elasticity.value.size() == one)
      return elasticity.value;
    std::vector<double> d;
    d.reserve(one * elem.size());
    for (const int e : elem) {
      const auto from = elasticity.value.begin() + std::ptrdiff_t(one) * e;
      d.insert(d.end(), from, from + std::ptrdiff_t(one));
    }
    return d;
  }
  std::vector<double> d(one * num_points * elem.size());
  for (std::size_t k = 0; k < elem.size(); ++k)
    points.for_each(elem[k], [&](std::size_t q, const double(&x)[3]) {
      double at[elasticity_entries];
      elasticity.at_point(elem[k], x, at);
      std::copy_n(at, one, d.begin() + std::ptrdiff_t(one * (k * num_points + q)));
    });
  return d;
}

/// The elements `elem` of the mesh, without index lists and checks.
template<class Exec>
HexaBatch<Exec> make_batch(const Exec& exec, const CurvedHexaMesh& mesh, HexaSpace space, int order,
                           const std::vector<int>& elem, const ElasticityField& elasticity,
                           const HierarchicOptions& options) {
  const std::vector<HierarchicMode> modes = hierarchic_modes(space, order);
  const int along = options.points == 0 ? quadrature_points(options.rule, order) : options.points;
  OSSATURA_REQUIRE(along >= 1 && along <= max_hexa_points,
                   along << " points along an axis; 1 to " << max_hexa_points);
  const BasisTables tables = make_basis_tables(order, along, options.scaling);
  HexaBatch<Exec> batch;
  batch.space = space;
  batch.scaling = options.scaling;
  batch.order = order;
  batch.points = along;
  batch.num_modes = int(modes.size());
  batch.num_elem = std::int64_t(elem.size());

  std::vector<double> corner;
  corner.reserve(24 * elem.size());
  for (const int e : elem)
    for (std::size_t a = 0; a < 8; ++a) {
      const auto x =
          mesh.mesh.point.begin() + 3 * std::ptrdiff_t(mesh.mesh.node[8 * std::size_t(e) + a]);
      corner.insert(corner.end(), x, x + 3);
    }
  const std::size_t num_points = std::size_t(batch.num_points());
  if (mesh.map != nullptr) {
    std::vector<double> jacobian(9 * num_points * elem.size());
    evaluate_at_grid(*mesh.map, elem.data(), elem.size(), tables.rule.point, nullptr,
                     jacobian.data());
    batch.jacobian = upload(exec, "ossatura::hexa_batch::jacobian", jacobian);
  }
  const std::vector<double> d =
      elasticity_of(elasticity, elem, PointsOfElements(mesh, tables.rule), num_points);
  if (elasticity.at_point) {
    batch.point_stride = elasticity_entries;
    batch.elem_stride = elasticity_entries * std::int64_t(num_points);
  } else if (elasticity.value.size() > std::size_t(elasticity_entries)) {
    batch.elem_stride = elasticity_entries;
  }
  std::vector<int> mode;
  for (const HierarchicMode& m : modes)
    mode.insert(mode.end(), {m.index[0], m.index[1], m.index[2]});
  batch.corner = upload(exec, "ossatura::hexa_batch::corner", corner);
  batch.elasticity = upload(exec, "ossatura::hexa_batch::elasticity", d);
  batch.elem = upload(exec, "ossatura::hexa_batch::elem", elem);
  batch.point = upload(exec, "ossatura::hexa_batch::point", tables.rule.point);
  batch.weight = upload(exec, "ossatura::hexa_batch::weight", tables.rule.weight);
  batch.value = upload(exec, "ossatura::hexa_batch::value", tables.value);
  batch.derivative = upload(exec, "ossatura::hexa_batch::derivative", tables.derivative);
  batch.mode = upload(exec, "ossatura::hexa_batch::mode", mode);
  return batch;
}

template<class Exec>
void require_stiffness(const Exec& exec, const std::vector<HexaBatch<Exec>>& batches) {
  int inverted = no_element, soft = no_element;
  for (const HexaBatch<Exec>& batch : batches) {
    inverted = std::min(inverted, find_inverted_element(exec, batch));
    soft = std::min(soft, find_bad_elasticity(exec, batch));
  }
  OSSATURA_REQUIRE(inverted == no_element,
                   "element " << inverted
                              << " is inverted: its Jacobian is not positive at every quadrature "
                                 "point");
  OSSATURA_REQUIRE(soft == no_element,
                   "element " << soft << " has an elasticity that is not positive definite");
}

} // namespace

template<class Exec>
HierarchicModel<Exec> make_hierarchic_model(const Exec& exec, const CurvedHexaMesh& mesh,
                                            const HierarchicNumbering& numbering,
                                            const ElasticityField& elasticity,
                                            const HierarchicOptions& options) {
  require_lengths(mesh.mesh, elasticity);
  const std::size_t num_elem = mesh.mesh.num_elem();
  OSSATURA_REQUIRE(numbering.order.size() == num_elem && numbering.begin.size() == num_elem + 1,
                   "a numbering of " << numbering.order.size() << " elements for a mesh of "
                                     << num_elem);
  HierarchicModel<Exec> model;
  model.num_modes = numbering.num_modes;
  std::array<std::vector<int>, max_hexa_order + 1> elem_of_order;
  for (std::size_t e = 0; e < num_elem; ++e) {
    OSSATURA_REQUIRE(numbering.order[e] >= 1 && int(numbering.order[e]) <= max_hexa_order,
                     "element " << e << " of order " << int(numbering.order[e]));
    elem_of_order[numbering.order[e]].push_back(int(e));
  }
  for (int order = 1; order <= max_hexa_order; ++order) {
    const std::vector<int>& elem = elem_of_order[std::size_t(order)];
    if (elem.empty())
      continue;
    HexaBatch<Exec> batch =
        make_batch(exec, mesh, numbering.space, order, elem, elasticity, options);
    std::vector<int> signed_mode;
    signed_mode.reserve(elem.size() * std::size_t(batch.num_modes));
    for (const int e : elem) {
      const std::int64_t first = numbering.begin[std::size_t(e)],
                         last = numbering.begin[std::size_t(e) + 1];
      OSSATURA_REQUIRE(last - first == batch.num_modes,
                       "element " << e << " has " << last - first << " modes in the numbering and "
                                  << batch.num_modes << " by its order");
      signed_mode.insert(signed_mode.end(), numbering.signed_mode.begin() + first,
                         numbering.signed_mode.begin() + last);
    }
    batch.signed_mode = upload(exec, "ossatura::hexa_batch::signed_mode", signed_mode);
    model.batch.push_back(batch);
  }
  require_stiffness(exec, model.batch);
  return model;
}

template<class Exec>
HexaBatch<Exec> make_hexa_batch(const Exec& exec, const CurvedHexaMesh& mesh, HexaSpace space,
                                int order, const ElasticityField& elasticity,
                                const HierarchicOptions& options) {
  require_lengths(mesh.mesh, elasticity);
  std::vector<int> elem(mesh.mesh.num_elem());
  std::iota(elem.begin(), elem.end(), 0);
  const HexaBatch<Exec> batch = make_batch(exec, mesh, space, order, elem, elasticity, options);
  require_stiffness<Exec>(exec, {batch});
  return batch;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template HierarchicModel<Exec> make_hierarchic_model<Exec>(                                      \
      const Exec&, const CurvedHexaMesh&, const HierarchicNumbering&, const ElasticityField&,      \
      const HierarchicOptions&);                                                                   \
  template HexaBatch<Exec> make_hexa_batch<Exec>(const Exec&, const CurvedHexaMesh&, HexaSpace,    \
                                                 int, const ElasticityField&,                      \
                                                 const HierarchicOptions&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
