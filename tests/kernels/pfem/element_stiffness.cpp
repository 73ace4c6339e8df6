// SPDX-License-Identifier: Apache-2.0
// Stiffness matrices of hierarchical hexahedra: every method against the oracle, the closed form of
// the cube, traces and norms computed with numpy, rank and rigid bodies.
#include "tests/backend_test.hpp"
#include "tests/reference/hierarchic_element.hpp"
#include "tests/reference/symmetric_eigenvalues.hpp"
#include <ossatura/core/machine/instruction_set.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/pfem/meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/pfem/model.hpp>
#include <ossatura/solvers/pfem/stiffness.hpp>

#include <algorithm>
#include <set>

namespace {

using namespace ossatura;
using Numbers = std::vector<double>;

/// The unit cube with three vertices moved, once or twice: the second time with another frame.
CurvedHexaMesh bent_hexa(bool both = false) {
  CurvedHexaMesh mesh;
  mesh.mesh = make_hexa_box({1, 1, 1}, {1, 1, 1});
  const auto move = [&](const double(&from)[3], const double(&to)[3]) {
    for (std::size_t k = 0; k < 8; ++k)
      if (std::equal(from, from + 3, &mesh.mesh.point[3 * k]))
        std::copy_n(to, 3, &mesh.mesh.point[3 * k]);
  };
  move({1, 1, 1}, {1.2, 1.1, 1.3});
  move({1, 0, 0}, {0.9, -0.1, 0.05});
  move({0, 1, 1}, {0.05, 1.15, 0.9});
  if (both) { // turned about the z axis
    const std::vector<std::int32_t> node = mesh.mesh.node;
    for (const std::size_t k : {1u, 2u, 3u, 0u, 5u, 6u, 7u, 4u})
      mesh.mesh.node.push_back(node[k]);
  }
  return mesh;
}

CurvedHexaMesh sheared_box(const int (&cells)[3]) {
  CurvedHexaMesh mesh;
  mesh.mesh = make_hexa_box(cells, {1.5, 1, 0.7});
  shear(mesh.mesh, {0.3, -0.2, 0.4});
  return mesh;
}

CurvedHexaMesh unit_cube() {
  CurvedHexaMesh mesh;
  mesh.mesh = make_hexa_box({1, 1, 1}, {1, 1, 1});
  return mesh;
}

ElasticityField steel(double poisson = 0.3) {
  return {isotropic_elasticity(1, poisson), {}};
}

/// Anisotropic, and another one at each x: the identity and dyads of vectors that turn.
Numbers elasticity_at(const double* x) {
  Numbers d(36, 0);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      d[6 * i + j] =
          (i == j ? 1 : 0) +
          0.5 * std::sin(1.0 + double(i) + x[0]) * std::sin(1.0 + double(j) + x[0]) +
          (0.3 + x[1] * x[1]) * std::cos(2.0 * double(i) + x[2]) * std::cos(2.0 * double(j) + x[2]);
  return d;
}

void upper_triangle(const Numbers& d, double (&upper)[21]) {
  for (int i = 0; i < 6; ++i)
    for (int j = i; j < 6; ++j)
      upper[elasticity_entry(i, j)] = d[std::size_t(6 * i + j)];
}

ElasticityField varying_elasticity() {
  ElasticityField field;
  field.at_point = [](std::int64_t, const double(&x)[3], double(&d)[21]) {
    upper_triangle(elasticity_at(x), d);
  };
  return field;
}

Numbers corners(const ElementMesh& mesh, std::size_t e) {
  Numbers x;
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t c = 0; c < 3; ++c)
      x.push_back(mesh.point[3 * std::size_t(mesh.node[8 * e + a]) + c]);
  return x;
}

/// Square matrices of the elements begin .. end - 1, the first one behind the other.
template<class Exec>
std::vector<Numbers> form(StiffnessMethod method, const HexaBatch<Exec>& batch,
                          MatrixStorage storage, std::int64_t begin, std::int64_t end) {
  const Exec exec;
  const std::size_t n = std::size_t(batch.num_dofs()),
                    entries = std::size_t(matrix_entries(storage, batch.num_dofs()));
  const Array<double, Exec> matrix =
      upload(exec, "matrix", Numbers(entries * std::size_t(end - begin), 1e300));
  form_stiffness(exec, method, batch, storage, begin, end, matrix);
  const Numbers formed = download(exec, matrix);
  std::vector<Numbers> square;
  for (std::size_t k = 0; k < std::size_t(end - begin); ++k) {
    const double* from = formed.data() + k * entries;
    if (storage == MatrixStorage::full) {
      square.emplace_back(from, from + entries);
      continue;
    }
    square.emplace_back(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        square[k][n * i + j] = square[k][n * j + i] = *from++;
  }
  return square;
}

template<class Exec>
Numbers form_one(const CurvedHexaMesh& mesh, HexaSpace space, int order,
                 const ElasticityField& elasticity, const HierarchicOptions& options,
                 StiffnessMethod method = StiffnessMethod::sum_factorised) {
  const HexaBatch<Exec> batch = make_hexa_batch(Exec(), mesh, space, order, elasticity, options);
  return form(method, batch, MatrixStorage::packed, 0, 1)[0];
}

double difference(const Numbers& a, const Numbers& b) {
  double largest = 0, change = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    change = std::max(change, std::isfinite(a[i]) ? std::abs(a[i] - b[i]) : 1e300);
  }
  return change / largest;
}

HierarchicOptions paper_scaling(int points = 0) {
  return {ModeScaling::paper, QuadratureRule::order_plus_1, points};
}

double trace(const Numbers& k, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += k[n * i + i];
  return sum;
}

double frobenius(const Numbers& k) {
  double sum = 0;
  for (double x : k)
    sum += x * x;
  return std::sqrt(sum);
}

struct Space {
  HexaSpace space;
  int order, points;
  ModeScaling scaling;
};

const Space spaces[] = {{HexaSpace::trunk, 1, 2, ModeScaling::paper},
                        {HexaSpace::trunk, 2, 3, ModeScaling::orthonormal},
                        {HexaSpace::trunk, 3, 4, ModeScaling::paper},
                        {HexaSpace::trunk, 4, 5, ModeScaling::orthonormal},
                        {HexaSpace::tensor, 2, 4, ModeScaling::orthonormal}};

template<class Exec>
void check_methods(const CurvedHexaMesh& mesh, const Space& s, const ElasticityField& elasticity,
                   const std::vector<Numbers>& expected, std::size_t num_methods) {
  const HexaBatch<Exec> batch = make_hexa_batch(Exec(), mesh, s.space, s.order, elasticity,
                                                {s.scaling, QuadratureRule::paper, s.points});
  std::size_t tried = 0;
  for (const StiffnessMethod method : all_stiffness_methods) {
    if (!supports(Exec(), method, batch).supported)
      continue;
    tried += method != StiffnessMethod::tensor_cores;
    INFO(name_of(method) << ", order " << s.order << ", " << name_of(s.space));
    for (const MatrixStorage storage : {MatrixStorage::packed, MatrixStorage::full}) {
      const std::vector<Numbers> formed = form(method, batch, storage, 0, batch.num_elem);
      for (std::size_t e = 0; e < expected.size(); ++e)
        CHECK(difference(formed[e], expected[e]) < 1e-13);
    }
    const std::vector<Numbers> last =
        form(method, batch, MatrixStorage::packed, batch.num_elem - 1, batch.num_elem);
    CHECK(difference(last[0], expected.back()) < 1e-13);
  }
  CHECK(tried == num_methods);
}

OSSATURA_BACKEND_TEST("Every method forms the stiffness of the oracle: D that varies by point",
                      "[element_stiffness]") {
  const CurvedHexaMesh mesh = bent_hexa(true);
  for (const Space& s : spaces) {
    std::vector<Numbers> expected;
    for (std::size_t e = 0; e < 2; ++e)
      expected.push_back(reference::HierarchicElement{
          corners(mesh.mesh, e), s.order, s.points, s.space == HexaSpace::trunk,
          s.scaling == ModeScaling::orthonormal, elasticity_at}
                             .stiffness());
    check_methods<TestType>(mesh, s, varying_elasticity(), expected, 6);
    CurvedHexaMesh mapped = mesh;
    mapped.map = make_trilinear_map(mesh.mesh);
    if (s.order == 3)
      check_methods<TestType>(mapped, s, varying_elasticity(), expected, 6);
  }
}

OSSATURA_BACKEND_TEST("Every method forms the stiffness of the oracle: parallelepipeds of two "
                      "materials",
                      "[element_stiffness]") {
  const CurvedHexaMesh mesh = sheared_box({3, 3, 1});
  const double soft_place[3] = {0.1, 0.2, 0.3}, hard_place[3] = {2, 3, 4};
  const Numbers material[2] = {elasticity_at(soft_place), elasticity_at(hard_place)};
  ElasticityField elasticity;
  for (std::size_t e = 0; e < 9; ++e) {
    double upper[21];
    upper_triangle(material[e % 2], upper);
    elasticity.value.insert(elasticity.value.end(), upper, upper + 21);
  }
  for (const Space& s : spaces) {
    if (s.order == 1 || s.order == 4)
      continue;
    std::vector<Numbers> expected;
    for (std::size_t e = 0; e < 9; ++e)
      expected.push_back(
          e >= 2 ? expected[e % 2]
                 : reference::HierarchicElement{corners(mesh.mesh, e), s.order, s.points,
                                                s.space == HexaSpace::trunk,
                                                s.scaling == ModeScaling::orthonormal,
                                                [&](const double*) { return material[e % 2]; }}
                       .stiffness());
    check_methods<TestType>(mesh, s, elasticity, expected, 8);
  }
}

/// Elements `begin` on of a batch, by the method that is chosen for it, against blocks.
template<class Exec>
void check_chosen_method(const HexaBatch<Exec>& batch, std::int64_t begin, MatrixStorage storage) {
  INFO(name_of(choose_stiffness_method(Exec(), batch))
       << ", order " << batch.order << ", " << name_of(batch.space) << ", " << name_of(storage));
  const auto formed = [&](StiffnessMethod method) {
    return form(method, batch, storage, begin, batch.num_elem);
  };
  const std::vector<Numbers> chosen = formed(StiffnessMethod::automatic),
                             expected = formed(StiffnessMethod::blocked);
  double most = 0;
  for (std::size_t e = 0; e < expected.size(); ++e)
    most = std::max(most, difference(chosen[e], expected[e]));
  CHECK(most < 1e-13);
}

template<class Exec>
void check_chosen_methods(HexaSpace space, int order) {
  for (const ElasticityField& elasticity : {steel(), varying_elasticity()}) {
    const HexaBatch<Exec> batch =
        make_hexa_batch(Exec(), bent_hexa(true), space, order, elasticity, {});
    check_chosen_method(batch, 0, MatrixStorage::packed);
    check_chosen_method(batch, 1, MatrixStorage::full);
  }
}

OSSATURA_BACKEND_TEST("The method chosen forms what blocks do at every order",
                      "[element_stiffness]") {
  for (int order = 2; order <= 5; ++order)
    check_chosen_methods<TestType>(HexaSpace::trunk, order);
  for (int order = 2; order <= 4; ++order)
    check_chosen_methods<TestType>(HexaSpace::tensor, order);
}

OSSATURA_BACKEND_TEST("The method chosen forms what blocks do at high orders",
                      "[element_stiffness][slow]") {
  const bool fast = BackendTraits<TestType>::is_device;
  for (int order = 6; order <= (fast ? 10 : 8); ++order)
    check_chosen_methods<TestType>(HexaSpace::trunk, order);
  for (int order = 5; order <= (fast ? 8 : 5); ++order)
    check_chosen_methods<TestType>(HexaSpace::tensor, order);
}

/// The first elements and those that the teams of a device form behind them.
template<class Exec>
void check_following_elements(int order) {
  const CurvedHexaMesh mesh = !BackendTraits<Exec>::is_device
                                  ? sheared_box({2, 1, 1})
                                  : sheared_box({order < 4 ? 60 : 14, 10, 1});
  check_chosen_method(
      make_hexa_batch(Exec(), mesh, HexaSpace::trunk, order, varying_elasticity(), {}), 0,
      MatrixStorage::packed);
}

OSSATURA_BACKEND_TEST("Elements that follow one another on a team do not disturb one another",
                      "[element_stiffness]") {
  for (int order = 2; order <= (BackendTraits<TestType>::is_device ? 7 : 3); ++order)
    check_following_elements<TestType>(order);
}

OSSATURA_BACKEND_TEST("Elements of high orders that follow one another do not disturb one another",
                      "[element_stiffness][slow]") {
  const bool many = BackendTraits<TestType>::is_device;
  for (int order = many ? 8 : 4; order <= (many ? 10 : 5); ++order)
    check_following_elements<TestType>(order);
}

OSSATURA_BACKEND_TEST(
    "Factorised sums do not depend on the instruction set or on the other elements",
    "[element_stiffness]") {
  const CurvedHexaMesh mesh = sheared_box({3, 3, 1});
  const HexaBatch<TestType> batch =
      make_hexa_batch(TestType(), mesh, HexaSpace::trunk, 4, varying_elasticity(), {});
  const auto formed = [&](std::int64_t begin, std::int64_t end) {
    return form(StiffnessMethod::sum_factorised, batch, MatrixStorage::packed, begin, end);
  };
  const std::vector<Numbers> expected = formed(0, 9);
  for (const InstructionSet set :
       {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
    limit_instruction_set(set);
    const std::vector<Numbers> all = formed(0, 9), few = formed(4, 7);
    limit_instruction_set(InstructionSet::avx512);
    CHECK(all == expected);
    CHECK(few == std::vector<Numbers>(expected.begin() + 4, expected.begin() + 7));
  }
}

// K = E h / (144 (1 + nu) (1 - 2 nu)) times this, rows and columns by nodes.
OSSATURA_BACKEND_TEST("The stiffness of a cube of order 1 is its closed form",
                      "[element_stiffness]") {
  const int node_of_mode[8] = {0, 4, 3, 7, 1, 5, 2, 6};
  for (const double nu : {0.0, 0.3, 0.45}) {
    const double row[24] = {
        32 - 48 * nu, 6,  6,           -8, 24 * nu - 6, 24 * nu - 6, 12 * nu - 10, -6,
        12 * nu - 3,  4,  6 - 24 * nu, 3,  4,           3,           6 - 24 * nu,  12 * nu - 10,
        12 * nu - 3,  -6, 12 * nu - 8, -3, -3,          12 * nu - 4, 3 - 12 * nu,  3 - 12 * nu};
    const double scale = 1 / (144 * (1 + nu) * (1 - 2 * nu));
    const Numbers k = form_one<TestType>(unit_cube(), HexaSpace::trunk, 1, steel(nu), {});
    std::set<long> values;
    for (std::size_t b = 0; b < 8; ++b)
      for (std::size_t d = 0; d < 3; ++d)
        CHECK(k[3 * b + d] == Approx(scale * row[3 * node_of_mode[b] + int(d)]).margin(1e-15));
    for (double x : k)
      values.insert(std::lround(x / scale * 1e6));
    for (double x : row)
      values.erase(std::lround(x * 1e6));
    CHECK(values.empty()); // the first row has all
    if (nu == 0.3) {
      CHECK(trace(k, 24) == Approx(220.0 / 39).epsilon(1e-12));
      CHECK(frobenius(k) == Approx(1.72402929521).epsilon(1e-11));
      Numbers expected(6, 0.0);
      const std::pair<std::size_t, double> others[] = {{2, 5.0 / 78}, {3, 55.0 / 468},
                                                       {3, 5.0 / 26}, {1, 10.0 / 39},
                                                       {8, 5.0 / 13}, {1, 5.0 / 4}};
      for (const auto& [times, value] : others)
        expected.insert(expected.end(), times, value);
      const Numbers found = reference::symmetric_eigenvalues(k, 24);
      for (std::size_t i = 0; i < 24; ++i)
        CHECK(found[i] == Approx(expected[i]).margin(1e-14));
    }
  }
}

struct Golden {
  int order;
  double trace, frobenius;
  std::size_t nonzeros;
};

void check_golden(const Numbers& k, const Golden& golden) {
  INFO("order " << golden.order);
  const std::size_t n = std::size_t(std::lround(std::sqrt(double(k.size()))));
  const double norm = frobenius(k);
  CHECK(trace(k, n) == Approx(golden.trace).epsilon(2e-11));
  CHECK(norm == Approx(golden.frobenius).epsilon(2e-11));
  if (golden.nonzeros > 0)
    CHECK(std::size_t(std::count_if(k.begin(), k.end(), [&](double x) {
            return std::abs(x) > 1e-12 * norm;
          })) == golden.nonzeros);
}

// Computed with numpy in double precision from the definitions, E = 1, nu = 0.3.
OSSATURA_BACKEND_TEST("Traces, norms and nonzeros of a cube are those computed elsewhere",
                      "[element_stiffness]") {
  const Golden golden[] = {
      {1, 220.0 / 39, 1.72402929521, 576},      {2, 11.6581196581, 2.74250895097, 3408},
      {3, 14.2368742369, 2.83095812399, 6240},  {4, 17.685958486, 3.15929022785, 10092},
      {5, 20.1702889703, 3.24699520045, 15684}, {8, 25.3695963698, 3.37045510819, 40314},
      {9, 26.5967817069, 3.38442779698, 51840}, {10, 27.6726010718, 3.39475320649, 65235}};
  for (const Golden& g : golden) {
    check_golden(form_one<TestType>(unit_cube(), HexaSpace::trunk, g.order, steel(),
                                    paper_scaling(), StiffnessMethod::affine),
                 g);
    if (g.order <= 5)
      check_golden(
          form_one<TestType>(unit_cube(), HexaSpace::trunk, g.order, steel(), paper_scaling()), g);
  }
}

const Golden bent_golden[] = {
    {1, 6.0280268659, 1.8590850215, 0},   {2, 12.4775992336, 2.9665362713, 0},
    {3, 15.2415597971, 3.06311186179, 0}, {4, 18.9348197296, 3.41854630213, 0},
    {5, 21.5952448963, 3.51331398977, 0}, {8, 27.1621055466, 3.64603791699, 0},
    {9, 28.476087403, 3.66102449441, 0},  {10, 29.6280151518, 3.67209624994, 0}};

OSSATURA_BACKEND_TEST("Traces and norms of a bent hexahedron are those computed elsewhere",
                      "[element_stiffness]") {
  for (const Golden& g : bent_golden)
    check_golden(
        form_one<TestType>(bent_hexa(), HexaSpace::trunk, g.order, steel(), paper_scaling()), g);
  CHECK(trace(form_one<TestType>(bent_hexa(), HexaSpace::trunk, 1, steel(), paper_scaling(7)),
              24) == Approx(6.03338226995).epsilon(1e-11));
}

/// The six motions of a rigid body: vertices' displacements, no other mode.
std::vector<Numbers> rigid_motions(const CurvedHexaMesh& mesh, HexaSpace space, int order) {
  const std::vector<HierarchicMode> modes = hierarchic_modes(space, order);
  const Numbers x = corners(mesh.mesh, 0);
  std::vector<Numbers> motions(6, Numbers(3 * modes.size(), 0));
  for (std::size_t a = 0; a < modes.size(); ++a) {
    const HexaEntity entity = entity_of(modes[a]);
    if (entity.dimension > 0)
      continue;
    const double* at = &x[3 * std::size_t(entity.number)];
    for (std::size_t c = 0; c < 3; ++c) {
      motions[c][3 * a + c] = 1;
      motions[3 + c][3 * a + (c + 1) % 3] = -at[(c + 2) % 3];
      motions[3 + c][3 * a + (c + 2) % 3] = at[(c + 1) % 3];
    }
  }
  return motions;
}

template<class Exec>
void check_rank(HexaSpace space, int order) {
  for (const CurvedHexaMesh& mesh : {unit_cube(), bent_hexa()}) {
    INFO("order " << order << ", " << name_of(space));
    const Numbers k = form_one<Exec>(mesh, space, order, steel(), {});
    const std::size_t n = std::size_t(3 * num_hierarchic_modes(space, order));
    const double norm = frobenius(k);
    CHECK(reference::eigenvalues_below(k, n, 1e-10 * norm) == 6);
    CHECK(reference::eigenvalues_below(k, n, -1e-10 * norm) == 0);
    for (const Numbers& motion : rigid_motions(mesh, space, order)) {
      double largest = 0;
      for (std::size_t i = 0; i < n; ++i) {
        double force = 0;
        for (std::size_t j = 0; j < n; ++j)
          force += k[n * i + j] * motion[j];
        largest = std::max(largest, std::abs(force));
      }
      CHECK(largest < 1e-13 * norm);
    }
  }
}

OSSATURA_BACKEND_TEST("Six eigenvalues are zero, of the motions of a rigid body",
                      "[element_stiffness]") {
  for (int order = 1; order <= 5; ++order)
    check_rank<TestType>(HexaSpace::trunk, order);
  check_rank<TestType>(HexaSpace::tensor, 2);
}

OSSATURA_BACKEND_TEST("Six eigenvalues are zero at high orders", "[element_stiffness][slow]") {
  for (int order = 6; order <= 10; order += 2)
    check_rank<TestType>(HexaSpace::trunk, order);
}

OSSATURA_BACKEND_TEST("The paper's rule is singular at order 2, and no other",
                      "[element_stiffness]") {
  const int expected[] = {6, 12, 6, 6, 6};
  for (int order = 1; order <= 5; ++order) {
    const Numbers k = form_one<TestType>(unit_cube(), HexaSpace::trunk, order, steel(),
                                         {ModeScaling::paper, QuadratureRule::paper, 0});
    const std::size_t n = std::size_t(3 * num_hierarchic_modes(HexaSpace::trunk, order));
    CHECK(reference::eigenvalues_below(k, n, 1e-10 * frobenius(k)) == expected[order - 1]);
  }
}

OSSATURA_BACKEND_TEST("p + 1 points are exact for parallelepipeds and not for bent elements",
                      "[element_stiffness]") {
  for (int order = 1; order <= 4; ++order) {
    const auto change = [&](const CurvedHexaMesh& mesh, int points) {
      const auto with = [&](int n) {
        return form_one<TestType>(mesh, HexaSpace::trunk, order, steel(), paper_scaling(n));
      };
      return difference(with(points), with(order + 4));
    };
    CHECK(change(sheared_box({1, 1, 1}), order + 1) < 1e-13);
    CHECK(change(sheared_box({1, 1, 1}), order) > 1e-4);
    CHECK(change(bent_hexa(), order + 1) > 1e-7);
    CHECK(change(bent_hexa(), order + 2) < 0.1 * change(bent_hexa(), order + 1));
  }
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

OSSATURA_BACKEND_TEST("Elements and materials that have no stiffness are refused by number",
                      "[element_stiffness]") {

  const TestType exec;
  const auto refusal = [&](const CurvedHexaMesh& mesh, int order, const ElasticityField& elasticity,
                           HierarchicOptions options = {}) {
    return message_of(
        [&] { make_hexa_batch(exec, mesh, HexaSpace::trunk, order, elasticity, options); });
  };
  CurvedHexaMesh mesh = sheared_box({3, 1, 1});
  CHECK(refusal(mesh, 2, steel()).empty());
  CHECK_THAT(refusal(mesh, 0, steel()), ContainsSubstring("order"));
  CHECK_THAT(refusal(mesh, 11, steel()), ContainsSubstring("order"));
  CHECK_THAT(refusal(mesh, 2, steel(), paper_scaling(15)), ContainsSubstring("15 points"));
  CHECK_THAT(refusal(mesh, 2, {}), ContainsSubstring("elasticity of 0 numbers"));
  CHECK_THAT(refusal(mesh, 2, {Numbers(42, 1.0), {}}),
             ContainsSubstring("elasticity of 42 numbers"));
  CHECK_THAT(refusal({make_cloth(2, 2, 1, 1), nullptr}, 2, steel()), ContainsSubstring("triangle"));

  ElasticityField each;
  const Numbers one = isotropic_elasticity(1, 0.3);
  for (int e = 0; e < 3; ++e)
    each.value.insert(each.value.end(), one.begin(), one.end());
  CHECK(refusal(mesh, 2, each).empty());
  each.value[2 * 21 + 20] = -1e-3; // shear alone
  CHECK_THAT(refusal(mesh, 2, each), ContainsSubstring("element 2 has an elasticity"));
  each.value[21] = std::nan("");
  CHECK_THAT(refusal(mesh, 2, each), ContainsSubstring("element 1 has an elasticity"));
  ElasticityField at_point = varying_elasticity();
  at_point.at_point = [](std::int64_t elem, const double(&x)[3], double(&d)[21]) {
    upper_triangle(elasticity_at(x), d);
    d[0] = elem == 1 && x[2] > 0.5 ? 0 : d[0];
  };
  CHECK_THAT(refusal(mesh, 2, at_point), ContainsSubstring("element 1 has an elasticity"));

  for (std::size_t a = 0; a < 4; ++a)
    std::swap(mesh.mesh.node[16 + a], mesh.mesh.node[20 + a]);
  CHECK_THAT(refusal(mesh, 2, steel()), ContainsSubstring("element 2 is inverted"));
  mesh.map = make_trilinear_map(mesh.mesh);
  CHECK_THAT(refusal(mesh, 2, steel()), ContainsSubstring("element 2 is inverted"));
  CHECK_THAT(message_of([] { isotropic_elasticity(0, 0.3); }), ContainsSubstring("Young"));
  CHECK_THAT(message_of([] { isotropic_elasticity(1, 0.5); }), ContainsSubstring("Poisson"));
}

OSSATURA_BACKEND_TEST("A method that elements cannot have is refused with the reason",
                      "[element_stiffness]") {

  const TestType exec;
  const auto batch_of = [&](const CurvedHexaMesh& mesh, const ElasticityField& elasticity) {
    return make_hexa_batch(exec, mesh, HexaSpace::trunk, 2, elasticity, {});
  };
  CurvedHexaMesh mapped = sheared_box({2, 1, 1});
  mapped.map = make_trilinear_map(mapped.mesh);
  const auto reason = [&](const HexaBatch<TestType>& batch) {
    return supports(exec, StiffnessMethod::affine, batch).reason;
  };
  const HexaBatch<TestType> bent = batch_of(bent_hexa(), steel());
  CHECK(reason(batch_of(sheared_box({2, 1, 1}), steel())).empty());
  CHECK_THAT(reason(batch_of(mapped, steel())), ContainsSubstring("curved"));
  CHECK_THAT(reason(batch_of(unit_cube(), varying_elasticity())), ContainsSubstring("varies"));
  CHECK_THAT(reason(bent), ContainsSubstring("element 0 is no parallelepiped"));
  CHECK_THAT(message_of([&] { form(StiffnessMethod::affine, bent, MatrixStorage::full, 0, 1); }),
             ContainsSubstring("parallelepiped"));
  const Array<double, TestType> matrix = upload<double>(exec, "matrix", Numbers(1829));
  CHECK_THAT(message_of([&] {
               form_stiffness(exec, StiffnessMethod::ai, bent, MatrixStorage::packed, 0, 1, matrix);
             }),
             ContainsSubstring("1830 entries"));
  CHECK_THAT(message_of([&] {
               form_stiffness(exec, StiffnessMethod::ai, bent, MatrixStorage::packed, 0, 2, matrix);
             }),
             ContainsSubstring("of 1"));
}

OSSATURA_BACKEND_TEST("A model has a batch for each order, in the order of the mesh",
                      "[element_stiffness]") {

  const TestType exec;
  const CurvedHexaMesh mesh = sheared_box({3, 1, 1});
  const HexaEntities entities = make_hexa_entities(mesh.mesh);
  HierarchicNumbering numbering =
      make_hierarchic_numbering(mesh.mesh, entities, HexaSpace::trunk, {3, 1, 3});
  const HierarchicModel<TestType> model = make_hierarchic_model(exec, mesh, numbering, steel(), {});
  CHECK(model.num_modes == numbering.num_modes);
  REQUIRE(model.batch.size() == 2);
  CHECK(model.batch[0].order == 1);
  CHECK(download(exec, model.batch[1].elem) == std::vector<int>{0, 2});
  const std::vector<int> modes = download(exec, model.batch[1].signed_mode);
  REQUIRE(modes.size() == 64);
  CHECK(std::equal(modes.begin(), modes.begin() + 32, numbering.signed_mode.begin()));
  CHECK(std::equal(modes.begin() + 32, modes.end(), numbering.signed_mode.begin() + 40));

  numbering.order[1] = 2;
  CHECK_THAT(message_of([&] { make_hierarchic_model(exec, mesh, numbering, steel(), {}); }),
             ContainsSubstring("element 1 has 8 modes in the numbering and 20 by its order"));
  numbering.order.pop_back();
  CHECK_THAT(message_of([&] { make_hierarchic_model(exec, mesh, numbering, steel(), {}); }),
             ContainsSubstring("a numbering of 2 elements"));
}

} // namespace
