// SPDX-License-Identifier: Apache-2.0
// The compliance of contacts by way of their nodes, on cores: against the one of the inverse factor
// in double precision, and in the same bits whatever came before.
#include <ossatura/solvers/softbody/contact/compliance.hpp>

#include "tests/backend_test.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/solvers/factor/host_factor_products.hpp>
#include <ossatura/solvers/softbody/factor/refresh.hpp>
#include <ossatura/solvers/softbody/model.hpp>
#include <ossatura/solvers/softbody/system.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using namespace ossatura;

double uniform(std::mt19937& random) {
  return random() / 2147483648. - 1;
}

/// A box of 294 nodes with its factor and the inverse of that.
template<class Exec>
struct Factored {
  SoftNumbering numbering;
  std::unique_ptr<FactorRefreshing<Exec>> factor;

  explicit Factored(const Exec& exec) {
    SoftScene scene;
    scene.objects.resize(1);
    scene.objects[0].name = "box";
    scene.objects[0].mesh = make_hexa_box({6, 5, 6}, {1, 0.8, 1});
    scene.objects[0].material.young = 1e4;
    scene.objects[0].density = 1000;
    numbering = number_scene(scene);
    const std::int64_t n = 3 * std::int64_t(numbering.num_nodes);
    SoftSystem<Exec> system(exec, scene, numbering, SoftAssembly::elements);
    const auto x = upload(exec, "test::x", numbering.point);
    const auto zero = make_zeros<double>(exec, n, "test::zero");
    const auto b = make_zeros<double>(exec, n, "test::b");
    const SoftCoefficients c{1, 1e-4, 0, 1e-2};
    system.collect(exec, c, x, zero);
    system.compress(exec, c, zero, zero, b);
    SoftOptions options;
    options.refresh = FactorRefresh::sync;
    options.apply = FactorApply::inverse;
    options.storage = FactorStorage::fp64;
    options.place = FactorPlace::host;
    options.bands = 1;
    options.warp = false;
    factor = std::make_unique<FactorRefreshing<Exec>>(exec, numbering.pattern, system.matrix(),
                                                      NodeRotations<Exec>(), options);
    factor->update(exec, system.matrix(), x, true);
  }
  const InverseFactor<Exec, double>& inverse() {
    return *std::get<const InverseFactor<Exec, double>*>(factor->preconditioner().inverse());
  }
};

/// Of every `every`-th node from `first` on, each third with a triangle, and some held.
template<class Exec>
ContactPairs<Exec> random_pairs(const Exec& exec, int num_nodes, int first, int every) {
  std::mt19937 random(3);
  std::vector<ContactPair> pairs;
  for (int node = first; node < num_nodes; node += every) {
    ContactPair pair{};
    pair.slot = node;
    double length = 0;
    for (int d = 0; d < 3; ++d) {
      pair.frame[d] = uniform(random);
      length += pair.frame[d] * pair.frame[d];
    }
    for (int d = 0; d < 3; ++d)
      pair.frame[d] /= std::sqrt(length);
    make_tangents(pair.frame, pair.frame + 3, pair.frame + 6);
    for (int k = 0; k < 4; ++k) {
      const bool there = k == 0 || pairs.size() % 3 == 2;
      pair.node[k] = k == 0 ? node : there ? int(random() % unsigned(num_nodes)) : -1;
      pair.weight[k] = k == 0 ? 1 : -0.2 * k;
      pair.free |= (there && pair.node[k] % 5 != 4 ? 1 : 0) << k;
    }
    pairs.push_back(pair);
  }
  ContactPairs<Exec> result;
  result.num_pairs = int(pairs.size());
  result.pair = upload(exec, "test::pairs", pairs);
  return result;
}

template<class Exec>
std::vector<double> values(const Exec& exec, const Compliance<Exec>& compliance) {
  const std::vector<double> padded = ossatura::download(exec, compliance.value);
  std::vector<double> result;
  for (int i = 0; i < 3 * compliance.num_pairs; ++i)
    result.insert(result.end(), padded.begin() + std::ptrdiff_t(i) * compliance.stride,
                  padded.begin() + std::ptrdiff_t(i) * compliance.stride +
                      3 * compliance.num_pairs);
  return result;
}

template<class Exec>
std::vector<double> from_nodes(const Exec& exec, const ContactPairs<Exec>& pairs,
                               NodeCompliance<Exec>& nodes, const Array<double, Exec>& rotation) {
  ComplianceSpace<Exec> space;
  Compliance<Exec> compliance;
  make_compliance(exec, pairs, nodes, rotation, 0.25, space, compliance);
  return values(exec, compliance);
}

template<class Exec>
void check_nodes(const Exec& exec) {
  Factored<Exec> factored(exec);
  const int num_nodes = factored.numbering.num_nodes;
  std::vector<double> turned;
  for (int i = 0; i < num_nodes; ++i) {
    const double c = std::cos(0.3 * i), s = std::sin(0.3 * i);
    for (const double r : {c, -s, 0., s, c, 0., 0., 0., 1.})
      turned.push_back(r);
  }
  const auto rotation = upload(exec, "test::rotation", turned);
  const MadeFactor<Exec>& made = factored.factor->made();
  NodeCompliance<Exec> grown(factored.numbering.pattern);
  grown.use(made.factor, made.diagonal);
  for (const int every : {31, 7, 2}) { // nodes come in between those that there are
    const auto pairs = random_pairs(exec, num_nodes, every / 2, every);
    for (const auto& axes : {Array<double, Exec>(), rotation}) {
      ComplianceSpace<Exec> space;
      Compliance<Exec> expected;
      make_compliance(exec, pairs, factored.inverse(), axes, 0.25, space, expected);
      const std::vector<double> exact = values(exec, expected);
      const std::vector<double> found = from_nodes(exec, pairs, grown, axes);
      double worst = 0, largest = 0;
      for (std::size_t i = 0; i < exact.size(); ++i) {
        worst = std::max(worst, std::abs(found[i] - exact[i]));
        largest = std::max(largest, std::abs(exact[i]));
      }
      CHECK(largest > 0);
      CHECK(worst < 1e-6 * largest);
      NodeCompliance<Exec> fresh(factored.numbering.pattern);
      fresh.use(made.factor, made.diagonal);
      CHECK(from_nodes(exec, pairs, fresh, axes) == found);
      const std::size_t n = 3 * std::size_t(pairs.num_pairs);
      bool symmetric = true;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j)
          symmetric = symmetric && found[i * n + j] == found[j * n + i];
      CHECK(symmetric);
    }
  }
}

template<class Scalar>
void check_product(int m, int n, int k) {
  std::mt19937 random(7);
  const int ldp = m + 2, ldq = n + 1, ldo = n + 3;
  std::vector<Scalar> p(std::size_t(k) * ldp), q(std::size_t(k) * ldq);
  for (std::vector<Scalar>* entries : {&p, &q})
    for (Scalar& entry : *entries)
      entry = Scalar(int(random() % 17) - 8); // sums are exact
  constexpr bool adds = std::is_same_v<Scalar, double>;
  std::vector<Scalar> out(std::size_t(m) * ldo, Scalar(99)), expected = out;
  for (int r = 0; r < m; ++r)
    for (int c = 0; c < n; ++c) {
      Scalar sum = adds ? 99 : 0;
      for (int l = 0; l < k; ++l)
        sum += p[std::size_t(l * ldp + r)] * q[std::size_t(l * ldq + c)];
      expected[std::size_t(r * ldo + c)] = sum;
    }
  if constexpr (adds)
    add_transposed_product(m, n, k, p.data(), ldp, q.data(), ldq, out.data(), ldo);
  else
    transposed_product(m, n, k, p.data(), ldp, q.data(), ldq, out.data(), ldo);
  CHECK(out == expected);
  const std::vector<Scalar> x = expected;
  subtract_scaled(int(x.size()) - 1, Scalar(2), x.data(), out.data());
  for (std::size_t i = 0; i + 1 < x.size(); ++i) // and leaves the last one alone
    expected[i] -= 2 * x[i];
  CHECK(out == expected);
}

} // namespace

OSSATURA_BACKEND_TEST("The compliance by way of the nodes is that of the inverse factor",
                      "[contact_compliance]") {
  if constexpr (!BackendTraits<TestType>::is_device)
    check_nodes(TestType());
  else
    SUCCEED("devices take it from the inverse factor");
}

OSSATURA_BACKEND_TEST("Products in vectors of any processor are those of plain loops",
                      "[contact_compliance]") {
  for (const int n : {1, 3, 16, 47, 48, 71})
    for (const int m : {1, 5, 9, 48}) {
      check_product<double>(m, n, 13);
      check_product<float>(m, n, 13);
    }
}
