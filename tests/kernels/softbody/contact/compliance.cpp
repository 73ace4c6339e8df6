// SPDX-License-Identifier: Apache-2.0
// The compliance of contacts against a dense inverse.
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/softbody/contact/compliance.hpp>

#include "tests/backend_test.hpp"
#include "tests/kernels/factor/dense_factor.hpp"
#include "tests/reference/dense_solve.hpp"

#include <algorithm>
#include <random>

namespace {

using namespace ossatura;

double uniform(std::mt19937& random) {
  return random() / 2147483648. - 1;
}

/// Two subtrees of two panels each under a root, and a tree of one panel beside them.
const test::PanelTree tree{{0, 3, 8, 12, 15, 20, 27}, {1, 4, 3, 4, -1, -1}};

bool is_ancestor_or_self(int above, int s) {
  for (; s >= 0; s = tree.parent[s])
    if (s == above)
      return true;
  return false;
}

std::vector<double> random_matrix(std::mt19937& random) {
  const int n = 3 * tree.first.back();
  std::vector<int> panel_of;
  for (std::size_t s = 0; s < tree.parent.size(); ++s)
    panel_of.insert(panel_of.end(), tree.first[s + 1] - tree.first[s], int(s));
  std::vector<double> a(n * n, 0.);
  for (int i = 0; i < n; ++i) {
    a[i * n + i] = 30 + uniform(random);
    for (int j = 0; j < i; ++j)
      if (is_ancestor_or_self(panel_of[i / 3], panel_of[j / 3]) ||
          is_ancestor_or_self(panel_of[j / 3], panel_of[i / 3]))
        a[i * n + j] = a[j * n + i] = uniform(random);
  }
  return a;
}

/// Ascending in the first node; every third with a triangle, some nodes fixed.
std::vector<ContactPair> random_pairs(std::mt19937& random, int num_pairs) {
  const int num_nodes = tree.first.back();
  std::vector<ContactPair> pairs(num_pairs);
  for (int p = 0; p < num_pairs; ++p) {
    ContactPair& pair = pairs[p];
    pair.slot = p;
    const bool triangle = p % 3 == 2;
    double length = 0;
    for (int d = 0; d < 3; ++d) {
      pair.frame[d] = uniform(random);
      length += pair.frame[d] * pair.frame[d];
    }
    for (int d = 0; d < 3; ++d)
      pair.frame[d] /= std::sqrt(length);
    make_tangents(pair.frame, pair.frame + 3, pair.frame + 6);
    for (int k = 0; k < 4; ++k) {
      pair.node[k] = k == 0 ? p * num_nodes / num_pairs : triangle ? int(random() % num_nodes) : -1;
      pair.weight[k] = k == 0 ? 1 : triangle ? -0.2 * k : 0;
      pair.free |= (pair.node[k] >= 0 && pair.node[k] % 5 != 4 ? 1 : 0) << k;
    }
  }
  return pairs;
}

/// H by rows of 3 num_nodes; columns of each node multiplied from the right by its 3 x 3 rotation.
std::vector<double> dense_rows(const std::vector<ContactPair>& pairs,
                               const std::vector<double>& rotation) {
  const int n = 3 * tree.first.back();
  std::vector<double> h(3 * pairs.size() * n, 0.);
  for (std::size_t p = 0; p < pairs.size(); ++p)
    for (int k = 0; k < 4; ++k)
      for (int c = 0; c < 3 && (pairs[p].free >> k & 1); ++c)
        for (int d = 0; d < 3; ++d)
          for (int e = 0; e < 3; ++e) {
            const int node = pairs[p].node[k];
            const double r = rotation.empty() ? d == e : rotation[9 * node + 3 * e + d];
            h[(3 * p + c) * n + 3 * node + d] += pairs[p].weight[k] * pairs[p].frame[3 * c + e] * r;
          }
  return h;
}

template<class Exec>
ContactPairs<Exec> upload_pairs(const Exec& exec, const std::vector<ContactPair>& pairs) {
  ContactPairs<Exec> result;
  result.num_pairs = int(pairs.size());
  result.pair = upload(exec, "test::pairs", pairs);
  return result;
}

template<class Exec>
std::vector<double> values(const Exec& exec, const Compliance<Exec>& compliance) {
  const std::vector<double> padded = ossatura::download(exec, compliance.value);
  const int n = 3 * compliance.num_pairs;
  std::vector<double> result;
  for (int i = 0; i < n; ++i)
    result.insert(result.end(), padded.begin() + std::ptrdiff_t(i) * compliance.stride,
                  padded.begin() + std::ptrdiff_t(i) * compliance.stride + n);
  return result;
}

/// The largest difference from scale H A^-1 H^T, relative to the largest entry.
double difference(const std::vector<double>& compliance, const std::vector<double>& inverse,
                  const std::vector<double>& h, double scale) {
  const int n = 3 * tree.first.back(), rows = int(h.size()) / n;
  double worst = 0, largest = 0;
  for (int i = 0; i < rows; ++i) {
    const std::vector<double> row(h.begin() + i * n, h.begin() + (i + 1) * n);
    const std::vector<double> expected =
        reference::dense_product(h, reference::dense_product(inverse, row));
    for (int j = 0; j < rows; ++j) {
      worst = std::max(worst, std::abs(compliance[i * rows + j] - scale * expected[j]));
      largest = std::max(largest, std::abs(scale * expected[j]));
    }
  }
  return worst / largest;
}

template<class Storage, class Exec>
void check_compliance(const Exec& exec, double tolerance) {
  std::mt19937 random(5);
  const std::vector<double> matrix = random_matrix(random);
  const auto inverse = reference::dense_inverse(matrix, 3 * tree.first.back());
  const auto factor = test::make_dense_factor<Storage>(exec, matrix, tree);
  ComplianceSpace<Exec> space; // kept, as between steps
  Compliance<Exec> compliance;
  for (const int num_pairs : {1, 19, 8, 40, 3}) {
    const auto pairs = random_pairs(random, num_pairs);
    make_compliance(exec, upload_pairs(exec, pairs), factor, Array<double, Exec>(), 0.25, space,
                    compliance);
    const auto first = values(exec, compliance);
    CHECK(difference(first, inverse, dense_rows(pairs, {}), 0.25) < tolerance);
    make_compliance(exec, upload_pairs(exec, pairs), factor, Array<double, Exec>(), 0.25, space,
                    compliance);
    CHECK(values(exec, compliance) == first);
    bool symmetric = true;
    for (int i = 0; i < 3 * num_pairs; ++i)
      for (int j = 0; j < i; ++j)
        symmetric = symmetric && first[i * 3 * num_pairs + j] == first[j * 3 * num_pairs + i];
    CHECK(symmetric);
  }
}

} // namespace

OSSATURA_BACKEND_TEST("The compliance of contacts is that of the dense inverse", "[compliance]") {
  check_compliance<double>(TestType(), 1e-14);
  check_compliance<float>(TestType(), 1e-6);
}

OSSATURA_BACKEND_TEST("The compliance turns with the nodes", "[compliance]") {
  const TestType exec;
  std::mt19937 random(6);
  const std::vector<double> matrix = random_matrix(random);
  const auto inverse = reference::dense_inverse(matrix, 3 * tree.first.back());
  std::vector<double> rotation;
  for (int i = 0; i < tree.first.back(); ++i) {
    const double c = std::cos(0.3 * i), s = std::sin(0.3 * i);
    for (const double r : {c, -s, 0., s, c, 0., 0., 0., 1.})
      rotation.push_back(r);
  }
  const auto pairs = random_pairs(random, 12);
  ComplianceSpace<TestType> space;
  Compliance<TestType> compliance;
  make_compliance(exec, upload_pairs(exec, pairs),
                  test::make_dense_factor<double>(exec, matrix, tree),
                  upload(exec, "test::rotation", rotation), 2., space, compliance);
  CHECK(difference(values(exec, compliance), inverse, dense_rows(pairs, rotation), 2.) < 1e-14);
}
