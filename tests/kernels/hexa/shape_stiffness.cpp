// SPDX-License-Identifier: Apache-2.0
// Stiffness that is looked up by shapes against that which is formed from the mesh.
#include "tests/backend_test.hpp"
#include "tests/kernels/hexa/hexa_cases.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/hexa/block_matrix.hpp>
#include <ossatura/kernels/hexa/diagonal.hpp>
#include <ossatura/kernels/hexa/shape_stiffness.hpp>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

/// The largest difference over the largest number.
double difference(const std::vector<double>& x, const std::vector<double>& y) {
  REQUIRE(x.size() == y.size());
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, std::abs(y[i]));
    error = std::max(error, std::abs(x[i] - y[i]));
  }
  CHECK(largest > 0);
  return error / largest;
}

/// Cells of three lengths along the first axis.
ElementMesh graded_box() {
  ElementMesh mesh = make_hexa_box({5, 4, 3}, {5, 6, 2});
  const double place[6] = {0, 1, 2, 2.5, 3, 6};
  for (std::size_t i = 0; i < mesh.point.size(); i += 3)
    mesh.point[i] = place[std::lround(mesh.point[i])];
  return mesh;
}

template<class Exec, class Source>
void form(const Exec& exec, const HexaArrays<Exec>& arrays, const Source& source,
          const std::vector<double>& moduli, std::vector<double>& matrix,
          std::vector<double>& blocks) {
  const Graph<Exec> graph = make_hexa_graph(exec, arrays);
  const auto modulus = upload(exec, "test::modulus", moduli);
  const auto a = make_zeros<double>(exec, 9 * graph.num_entries(), "test::a");
  assemble_hexa_blocks<double>(exec, arrays, source, modulus, graph, a);
  const auto inverse = make_zeros<double>(exec, 6 * std::int64_t(arrays.num_nodes), "test::blocks");
  const auto held = make_zeros<std::uint8_t>(exec, arrays.num_nodes, "test::held");
  invert_hexa_blocks(exec, arrays, source, modulus, Array<double, Exec>(), held, true, inverse);
  exec.fence();
  matrix = host_values(a);
  blocks = host_values(inverse);
}

OSSATURA_BACKEND_TEST("Stiffness by shapes is that of the mesh", "[shape_stiffness]") {
  const TestType exec;
  const UnitLame lame = unit_lame(0.3);
  for (const int num_shapes : {1, 3}) {
    const ElementMesh mesh = num_shapes == 1 ? make_hexa_box({5, 4, 3}, {5, 6, 2}) : graded_box();
    const HexaArrays<TestType> arrays = make_hexa_arrays(exec, mesh);
    const CongruenceClasses classes = find_congruence_classes(mesh, int(mesh.num_elem()));
    CHECK(classes.num_classes() == num_shapes);
    const auto shapes = make_shape_stiffness(exec, arrays, lame, classes);
    REQUIRE(shapes.has_value());
    const std::vector<double> moduli = test::random_moduli(mesh.num_elem(), 3);
    std::vector<double> matrix, blocks, expected_matrix, expected_blocks;
    form(exec, arrays, *shapes, moduli, matrix, blocks);
    form(exec, arrays, HexaStiffnessFromMesh<TestType>{arrays, lame}, moduli, expected_matrix,
         expected_blocks);
    CHECK(difference(matrix, expected_matrix) < 1e-13);
    CHECK(difference(blocks, expected_blocks) < 1e-11);
  }
}

OSSATURA_BACKEND_TEST("Many shapes, and elements counted from other corners, have no table",
                      "[shape_stiffness]") {
  const TestType exec;
  for (const ElementMesh& mesh : {test::distorted_box({7, 7, 6}, 4),
                                  test::shuffled(make_hexa_box({4, 4, 4}, {4, 4, 4}), 5)}) {
    const CongruenceClasses classes = find_congruence_classes(mesh, int(mesh.num_elem()));
    CHECK(classes.num_classes() > 0);
    CHECK_FALSE(make_shape_stiffness(exec, make_hexa_arrays(exec, mesh), unit_lame(0.3), classes)
                    .has_value());
  }
}

} // namespace
