// SPDX-License-Identifier: Apache-2.0
// This file measures the rows of `ossatura pfem table3`.
#include "apps/driver/interrupt.hpp"
#include "apps/pfem/table3_command.hpp"
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/pfem/model.hpp>
#include <ossatura/solvers/pfem/stiffness.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

/// Elements of one order and room for the matrices of some of them.
template<class Exec>
class Workset {
public:
  Workset(const Exec& exec, int order, std::int64_t num_elem)
      : exec_(exec)
      , batch_(make_batch(exec, order, num_elem)) {
    const std::int64_t entries = matrix_entries(MatrixStorage::packed, batch_.num_dofs());
    const std::int64_t most =
        (BackendTraits<Exec>::is_device ? 1024 : 64) * (std::int64_t(1) << 20);
    room_ = std::clamp<std::int64_t>(most / entries, 1, num_elem);
    matrix_ = make_zeros<double>(exec, room_ * entries, "ossatura::table3::matrix");
  }

  const HexaBatch<Exec>& batch() const { return batch_; }

  /// Seconds for the first `count` matrices.
  double seconds(StiffnessMethod method, std::int64_t count) const {
    throw_if_interrupted();
    fence(exec_, "ossatura::table3::begin");
    const Stopwatch watch;
    for (std::int64_t begin = 0; begin < count; begin += room_)
      form_stiffness(exec_, method, batch_, MatrixStorage::packed, begin,
                     std::min(begin + room_, count), matrix_);
    fence(exec_, "ossatura::table3::end");
    return watch.seconds();
  }

  /// The matrix of one element.
  std::vector<double> matrix(StiffnessMethod method, std::int64_t elem) const {
    form_stiffness(exec_, method, batch_, MatrixStorage::packed, elem, elem + 1, matrix_);
    std::vector<double> all = download(exec_, matrix_);
    all.resize(std::size_t(matrix_entries(MatrixStorage::packed, batch_.num_dofs())));
    return all;
  }

private:
  static HexaBatch<Exec> make_batch(const Exec& exec, int order, std::int64_t num_elem) {
    CurvedHexaMesh mesh;
    const int length = int(std::min<std::int64_t>(num_elem, 2000)), // the first of a square
        width = int((num_elem + length - 1) / length);
    mesh.mesh = make_hexa_box({length, width, 1}, {double(length), double(width), 1});
    mesh.mesh.node.resize(std::size_t(8 * num_elem));
    HierarchicOptions options;
    options.scaling = ModeScaling::paper;
    options.rule = QuadratureRule::paper;
    ElasticityField elasticity;
    elasticity.value = isotropic_elasticity(1, 0.3);
    return make_hexa_batch(exec, mesh, HexaSpace::trunk, order, elasticity, options);
  }

  Exec exec_;
  HexaBatch<Exec> batch_;
  std::int64_t room_ = 1;
  Array<double, Exec> matrix_;
};

struct Reference {
  std::vector<double> matrix;
  double seconds = 0; ///< of one matrix
  std::int64_t elements = 0;
};

/// Scheme AI as the paper's program for one core has it: a loop over elements.
template<class Exec>
Reference measure_reference(const Exec& exec, const Table3Options& options, int order) {
  const std::int64_t most =
      options.reference_elements > 0 ? options.reference_elements : options.elements;
  const Workset<Exec> workset(exec, order, most);
  Reference reference;
  reference.matrix = workset.matrix(StiffnessMethod::ai, 0);
  reference.elements = options.reference_elements > 0 ? most : 1;
  double seconds = workset.seconds(StiffnessMethod::ai, reference.elements);
  while (options.reference_elements == 0 && seconds < 0.5 && reference.elements < most) {
    reference.elements = std::min(2 * reference.elements, most);
    seconds = workset.seconds(StiffnessMethod::ai, reference.elements);
  }
  reference.seconds = seconds / double(reference.elements);
  return reference;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double one = std::abs(a[i] - b[i]);
    difference = one <= difference ? difference : one; // NaN is larger than any
    largest = std::max(largest, std::abs(b[i]));
  }
  return difference / largest;
}

template<class Exec>
void measure_methods(const Exec& exec, const Table3Options& options, const Reference& reference,
                     Table3Row& row) {
  const Workset<Exec> workset(exec, row.order, options.elements);
  std::vector<StiffnessMethod> methods = {StiffnessMethod::ai, StiffnessMethod::aii,
                                          StiffnessMethod::sum_factorised};
  if constexpr (BackendTraits<Exec>::is_device)
    methods.push_back(StiffnessMethod::tensor_cores);
  for (const StiffnessMethod method : methods) {
    Table3Time time{method, {}, 0, 0};
    const MethodSupport support = supports(exec, method, workset.batch());
    time.refusal = support.supported ? std::string() : support.reason;
    if (support.supported) {
      for (const std::int64_t elem : {std::int64_t(0), options.elements - 1})
        time.difference = std::max(
            time.difference, largest_difference(workset.matrix(method, elem), reference.matrix));
      time.seconds = workset.seconds(method, options.elements);
      for (int again = 0; again < 4 && time.seconds < 0.5; ++again)
        time.seconds = std::min(time.seconds, workset.seconds(method, options.elements));
    }
    row.times.push_back(time);
  }
}

} // namespace

Table3Row measure_table3(const Table3Options& options, int order) {
  Table3Row row;
  row.order = order;
  row.points = quadrature_points(QuadratureRule::paper, order);
  row.dofs = 3 * num_hierarchic_modes(HexaSpace::trunk, order);
  const Reference reference = with_backend(
      "serial", [&](const auto& exec) { return measure_reference(exec, options, order); });
  row.reference_elements = reference.elements;
  row.reference_seconds = reference.seconds * double(options.elements);
  with_backend(options.common.backend, [&](const auto& exec) {
    measure_methods(exec, options, reference, row);
    return 0;
  });
  return row;
}

} // namespace ossatura
