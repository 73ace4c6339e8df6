// SPDX-License-Identifier: Apache-2.0
// Material laws by hand, and the voxels they refuse.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/label_laws.hpp>

#include <cmath>
#include <random>
#include <string>

namespace {

using namespace ossatura;
using ossatura::test::device_image;
using ossatura::test::host_values;

template<class Exec>
struct Applied {
  std::vector<float> modulus;
  std::vector<float> poisson;
  MaterialField<Exec> field;
};

template<class Exec>
Applied<Exec> apply(const MaterialLaw& law, const std::vector<float>& grey) {
  const Exec exec;
  const auto image = device_image(exec, {int(grey.size()), 1, 1}, grey);
  Applied<Exec> applied;
  applied.field = apply_material_law(exec, law, image);
  applied.modulus = host_values(image);
  applied.poisson = host_values(applied.field.poisson_image);
  return applied;
}

template<class Exec>
std::string refusal(const MaterialLaw& law, std::array<int, 3> shape,
                    const std::vector<float>& grey) {
  const Exec exec;
  try {
    apply_material_law(exec, law, device_image(exec, shape, grey));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

OSSATURA_BACKEND_TEST("An image of moduli is scaled to MPa", "[material]") {
  MaterialLaw law;
  law.modulus_factor = 1000;
  law.poisson = 0.25;
  const auto applied = apply<TestType>(law, {0, 6.8f, 17, 0.5f});
  CHECK(applied.modulus == std::vector<float>{0, float(1000 * double(6.8f)), 17000, 500});
  CHECK(applied.field.num_solid == 3);
  CHECK(applied.field.minimum == 500);
  CHECK(applied.field.maximum == 17000);
  CHECK(applied.field.poisson == 0.25);
  CHECK(applied.poisson.empty());
}

OSSATURA_BACKEND_TEST("A window includes both its ends and a threshold its grey value",
                      "[material]") {
  MaterialLaw law;
  law.kind = MaterialKind::window;
  law.lower = 100;
  law.upper = 200;
  law.modulus = 6829;
  const std::vector<float> grey{99.99f, 100, 150, 200, 200.1f, -5};
  CHECK(apply<TestType>(law, grey).modulus == std::vector<float>{0, 6829, 6829, 6829, 0, 0});
  law.upper = INFINITY;
  CHECK(apply<TestType>(law, grey).modulus == std::vector<float>{0, 6829, 6829, 6829, 6829, 0});
  CHECK(apply<TestType>(law, grey).field.num_solid == 4);
}

OSSATURA_BACKEND_TEST("A linear law ends at void and below its cut-off", "[material]") {
  MaterialLaw law;
  law.kind = MaterialKind::linear;
  law.intercept = -100;
  law.slope = 2;
  law.cutoff = 10;
  const auto applied = apply<TestType>(law, {0, 49, 50, 55, 55.5f, 100});
  CHECK(applied.modulus == std::vector<float>{0, 0, 0, 0, 11, 100});
  CHECK(applied.field.num_clamped == 2);
  CHECK(applied.field.num_solid == 2);
  CHECK(applied.field.minimum == 11);
  CHECK(applied.field.maximum == 100);
}

OSSATURA_BACKEND_TEST("A power law goes through its calibrated density", "[material]") {
  MaterialLaw law;
  law.kind = MaterialKind::power;
  law.density_intercept = -0.5;
  law.density_slope = 0.001;
  law.reference_density = 1.2;
  law.coefficient = 10500;
  law.exponent = 2.29;
  law.cutoff = 1;
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-1000, 3000);
  std::vector<float> grey(5000);
  for (float& g : grey)
    g = uniform(random);
  const auto applied = apply<TestType>(law, grey);
  double worst = 0;
  std::int64_t clamped = 0;
  for (std::size_t i = 0; i < grey.size(); ++i) {
    const double density = -0.5 + 0.001 * grey[i];
    clamped += density < 0;
    double expected = density > 0 ? 10500 * std::pow(density / 1.2, 2.29) : 0;
    expected = expected > 1 ? expected : 0;
    worst = std::max(worst, std::abs(applied.modulus[i] - expected) / (1 + expected));
  }
  CHECK(worst < 1e-6); // storage in float
  CHECK(applied.field.num_clamped == clamped);
}

OSSATURA_BACKEND_TEST("A label table gives each label its material", "[material]") {
  MaterialLaw law;
  law.kind = MaterialKind::table;
  law.table = {{7, 17000, 0.3}, {-2, 500, 0.2}, {3, 0, 0.3}, {100, 1000, 0.45}};
  const auto applied = apply<TestType>(law, {0, 7, -2, 3, 100, 7});
  CHECK(applied.modulus == std::vector<float>{0, 17000, 500, 0, 1000, 17000});
  REQUIRE(applied.poisson.size() == 6);
  CHECK(applied.poisson[1] == 0.3f);
  CHECK(applied.poisson[2] == 0.2f);
  CHECK(applied.poisson[4] == 0.45f);
  CHECK(applied.field.num_solid == 4);
  for (LabelMaterial& row : law.table)
    row.poisson = 0.35;
  const auto uniform = apply<TestType>(law, {0, 7, -2, 3, 100, 7});
  CHECK(uniform.poisson.empty());
  CHECK(uniform.field.poisson == 0.35);
}

OSSATURA_BACKEND_TEST(
    "Voxels without a material are refused with the first of them and their number", "[material]") {
  MaterialLaw law;
  std::vector<float> grey(4 * 3 * 2, 1.0f);
  grey[1 + 4 * (2 + 3 * 1)] = std::nanf("");
  CHECK(contains(refusal<TestType>(law, {4, 3, 2}, grey), "voxel (1, 2, 1)"));
  grey[3] = -1;
  CHECK(contains(refusal<TestType>(law, {4, 3, 2}, grey), "voxel (3, 0, 0)"));
  CHECK(contains(refusal<TestType>(law, {4, 3, 2}, grey), "2 voxels"));
  grey.assign(24, 5e37f);
  law.modulus_factor = 1000;
  CHECK(contains(refusal<TestType>(law, {4, 3, 2}, grey), "infinite"));

  law = MaterialLaw();
  law.kind = MaterialKind::table;
  law.table = {{1, 1000, 0.3}};
  grey.assign(24, 1.0f);
  CHECK(refusal<TestType>(law, {4, 3, 2}, grey).empty());
  grey[4] = 42;
  grey[9] = 43;
  const std::string unknown = refusal<TestType>(law, {4, 3, 2}, grey);
  CHECK(contains(unknown, "label 42"));
  CHECK(contains(unknown, "voxel (0, 1, 0)"));
  CHECK(contains(unknown, "2 voxels"));
  grey[2] = 0.5f;
  CHECK(contains(refusal<TestType>(law, {4, 3, 2}, grey), "no integer"));
}

OSSATURA_BACKEND_TEST("Laws without meaning are refused", "[material]") {
  const auto refused = [](const MaterialLaw& law) {
    CHECK_THROWS_AS(apply<TestType>(law, {1.0f}), UsageError);
  };
  MaterialLaw law;
  law.poisson = 0.5;
  refused(law);
  law = MaterialLaw();
  law.modulus_factor = 0;
  refused(law);
  law = MaterialLaw();
  law.kind = MaterialKind::window;
  law.lower = 1;
  law.upper = 0;
  refused(law);
  law = MaterialLaw();
  law.kind = MaterialKind::linear;
  law.slope = std::nan("");
  refused(law);
  law.slope = 1;
  law.cutoff = -1;
  refused(law);
  law = MaterialLaw();
  law.kind = MaterialKind::power;
  law.reference_density = 0;
  refused(law);
  law = MaterialLaw();
  law.kind = MaterialKind::table;
  refused(law);
  law.table = {{1, 10, 0.3}, {2, 10, 0.3}, {1, 20, 0.3}};
  refused(law);
  law.table = {{1, -10, 0.3}};
  refused(law);
  law.table = {{1, 10, -1}};
  refused(law);
}

MaterialLaw constant_law(double modulus, double poisson) {
  MaterialLaw law;
  law.kind = MaterialKind::constant;
  law.modulus = modulus;
  law.poisson = poisson;
  return law;
}

/// Linear with the label 3, a power with -2, constant with 7, and of a window with all others.
struct LabelLaws {
  MaterialLaw others;
  std::vector<LabelLaw> laws{{7, constant_law(2500, 0.4)}, {-2, {}}, {3, {}}};

  LabelLaws() {
    others.kind = MaterialKind::window;
    others.modulus = 100;
    others.lower = 0;
    laws[1].law.kind = MaterialKind::power;
    laws[1].law.coefficient = 6850;
    laws[1].law.exponent = 1.49;
    laws[1].law.density_slope = 0.001;
    laws[1].law.poisson = 0.2;
    laws[2].law.kind = MaterialKind::linear;
    laws[2].law.intercept = -100;
    laws[2].law.slope = 2;
    laws[2].law.upper = 1500;
  }

  double modulus(float label, double grey) const {
    if (label == 7)
      return 2500;
    if (label == -2)
      return grey > 0 ? 6850 * std::pow(0.001 * grey, 1.49) : 0;
    if (label == 3)
      return grey <= 1500 ? std::max(0.0, 2 * grey - 100) : 0;
    return grey >= 0 ? 100 : 0;
  }
};

OSSATURA_BACKEND_TEST("Each label has its law, and voxels without one that of the others",
                      "[material]") {
  const TestType exec;
  const LabelLaws of;
  std::mt19937 random(8);
  std::uniform_real_distribution<float> uniform(-500, 2000);
  std::vector<float> grey(4000), label(grey.size());
  for (std::size_t i = 0; i < grey.size(); ++i) {
    grey[i] = uniform(random);
    label[i] = std::vector<float>{0, 7, -2, 3, 5}[random() % 5];
  }
  grey[0] = std::nanf(""); // a pad has no value
  label[0] = 7;
  const std::array<int, 3> shape{20, 20, 10};
  const auto image = device_image(exec, shape, grey);
  const auto field =
      apply_label_laws(exec, of.others, of.laws, device_image(exec, shape, label), image);
  const std::vector<float> moduli = host_values(image), ratios = host_values(field.poisson_image);
  REQUIRE(ratios.size() == grey.size());
  double worst = 0, least = 1e9, most = 0;
  std::int64_t clamped = 0, solid = 0;
  for (std::size_t i = 0; i < grey.size(); ++i) {
    const double expected = of.modulus(label[i], double(grey[i]));
    worst = std::max(worst, std::abs(double(moduli[i]) - expected) / (1 + expected));
    CHECK(ratios[i] == (label[i] == 7 ? 0.4f : label[i] == -2 ? 0.2f : 0.3f));
    clamped += (label[i] == -2 && grey[i] < 0) || (label[i] == 3 && grey[i] < 50);
    solid += expected > 0;
    least = expected > 0 ? std::min(least, expected) : least;
    most = std::max(most, expected);
  }
  CHECK(worst < 1e-6); // storage in float
  CHECK(field.num_clamped == clamped);
  CHECK(field.num_solid == solid);
  CHECK(field.minimum == Approx(least).epsilon(1e-6));
  CHECK(field.maximum == Approx(most).epsilon(1e-6));

  std::vector<LabelLaw> alike = of.laws;
  for (LabelLaw& one : alike)
    one.law.poisson = of.others.poisson;
  const auto again = device_image(exec, shape, grey);
  const auto uniform_ratio =
      apply_label_laws(exec, of.others, alike, device_image(exec, shape, label), again);
  CHECK(uniform_ratio.poisson_image.extent(0) == 0);
  CHECK(uniform_ratio.poisson == 0.3);
  CHECK(host_values(again) == moduli);
}

OSSATURA_BACKEND_TEST("What is not selected is void, whatever its value", "[material]") {
  const TestType exec;
  const std::vector<float> grey{5, -4, std::nanf(""), 300, 7, 2}, label{1, 0, 3, 0, 2, 3};
  const std::array<int, 3> shape{6, 1, 1};
  const VoxelArray<TestType> labels = device_image(exec, shape, label);
  const auto select = [&](const std::vector<int>& listed, bool takes_listed) {
    return LabelSelection<TestType>{labels, upload(exec, "listed", listed), takes_listed};
  };
  struct Case {
    std::vector<int> listed;
    bool takes_listed;
    std::vector<float> modulus;
    std::int64_t num_solid, num_left_out;
    double maximum;
  };
  const std::vector<Case> cases{{{1, 2}, true, {5, 0, 0, 0, 7, 0}, 2, 2, 7},
                                {{3}, false, {5, 0, 0, 0, 7, 0}, 2, 2, 7},
                                {{1, 3}, false, {0, 0, 0, 0, 7, 0}, 1, 3, 7},
                                {{}, true, {0, 0, 0, 0, 0, 0}, 0, 4, 0}};
  const std::vector<LabelLaw> laws{{2, constant_law(7, 0.2)}};
  for (const Case& of : cases)
    for (const bool by_label : {false, true}) {
      const auto image = device_image(exec, shape, grey);
      const auto selection = select(of.listed, of.takes_listed);
      const auto field = by_label ? apply_label_laws(exec, {}, laws, labels, image, {}, selection)
                                  : apply_material_law(exec, {}, image, {}, selection);
      CHECK(host_values(image) == of.modulus);
      CHECK(field.num_solid == of.num_solid);
      CHECK(field.num_left_out == of.num_left_out);
      CHECK(field.maximum == of.maximum);
    }
  CHECK_THROWS_WITH(
      apply_material_law(exec, {}, device_image(exec, shape, grey), {}, select({3}, true)),
      ContainsSubstring("voxel (2, 0, 0) is not a finite number (nan); 1 voxels"));
  MaterialLaw table;
  table.kind = MaterialKind::table;
  table.table = {{5, 1000, 0.3}, {7, 2000, 0.2}};
  const auto image = device_image(exec, shape, grey);
  const auto field = apply_material_law(exec, table, image, {}, select({1, 2}, true));
  CHECK(host_values(image) == std::vector<float>{1000, 0, 0, 0, 2000, 0});
  CHECK(host_values(field.poisson_image) == std::vector<float>{0.3f, 0.3f, 0.3f, 0.3f, 0.2f, 0.3f});
}

OSSATURA_BACKEND_TEST("Laws of labels that contradict each other are refused", "[material]") {
  const TestType exec;
  const auto refused = [&](const MaterialLaw& others, const std::vector<LabelLaw>& laws,
                           const std::vector<float>& grey) {
    const std::array<int, 3> shape{int(grey.size()), 1, 1};
    const std::vector<float> label(grey.size(), 1.0f);
    try {
      apply_label_laws(exec, others, laws, device_image(exec, shape, label),
                       device_image(exec, shape, grey));
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const MaterialLaw one = constant_law(1000, 0.3);
  CHECK(contains(refused(one, {{1, one}, {2, one}, {1, one}}, {5}), "label 1 has two laws"));
  MaterialLaw table;
  table.kind = MaterialKind::table;
  table.table = {{1, 1000, 0.3}};
  CHECK(contains(refused(one, {{1, table}}, {5}), "no table"));
  CHECK(contains(refused(one, {{1, constant_law(-1, 0.3)}}, {5}), "constant modulus -1"));
  CHECK(contains(refused(one, {{1, {}}}, {5, -4, 7}), "voxel (1, 0, 0) with the value -4"));
  CHECK(
      contains(refused(one, {{1, {}}}, {5, 6, std::nanf("")}), "voxel (2, 0, 0) is not a finite"));
  CHECK(refused(one, {{1, one}}, {5, -4, std::nanf("")}).empty());
}

} // namespace
