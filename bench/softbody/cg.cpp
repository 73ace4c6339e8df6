// SPDX-License-Identifier: Apache-2.0
// These rows time a step of a soft body with a fixed number of iterations of conjugate gradients
// without preconditioner, from element maths to new positions (figures 6 and 7 of Zeng and
// Courtecuisse, arXiv 2306.05893):
//   soft_cg/<law>/<way>/<backend>/f64/<model>:<iterations>
// Ways:
//   assembled                 through the element map, products by 3 x 3 blocks
//   kokkos_kernels            the same, products by the spmv of Kokkos Kernels on scalars
//   eigen                     setFromTriplets and Eigen's product, one thread of the host
//   matrix_free_atomics       corotational tetrahedra from their frames, added with atomics
//   matrix_free_gather        the same, written for each node of an element and gathered
//   element_matrices_atomics, _gather   elements of any law by their stored matrices
// All but the product are the kernels of the solver, recorded as a graph on devices.
// `per_iteration_us` is that of the iterations alone. Rows without a way are in step.cpp: the same
// step by the solver as users have it. Verified: right-hand side and product against those of the
// assembled matrix.
#include "bench/harness/compare_vectors.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/host/triplets_eigen.hpp"
#include "bench/softbody/matrix_free.hpp"
#include "bench/softbody/problem.hpp"
#include <ossatura/core/base/names.hpp>
#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/algebra/sparse/block_multiply.hpp>
#include <ossatura/kernels/softbody/assembly/make_element_map.hpp>
#include <ossatura/kernels/softbody/assembly/published/element_triplets.hpp>
#include <ossatura/kernels/softbody/elements/motion.hpp>
#include <ossatura/solvers/softbody/model.hpp>
#include <ossatura/solvers/softbody/published/kokkos_kernels_product.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace ossatura::bench {

namespace {

enum class CgWay {
  assembled,
  kokkos_kernels,
  eigen,
  matrix_free_atomics,
  matrix_free_gather,
  element_matrices_atomics,
  element_matrices_gather
};

constexpr Names<CgWay> names_of(CgWay) {
  return {{CgWay::assembled, "assembled"},
          {CgWay::kokkos_kernels, "kokkos_kernels"},
          {CgWay::eigen, "eigen"},
          {CgWay::matrix_free_atomics, "matrix_free_atomics"},
          {CgWay::matrix_free_gather, "matrix_free_gather"},
          {CgWay::element_matrices_atomics, "element_matrices_atomics"},
          {CgWay::element_matrices_gather, "element_matrices_gather"}};
}

template<class Exec>
BlockMatrix<Exec> without_entries(const Exec& exec, int num_rows) {
  BlockMatrix<Exec> matrix;
  matrix.num_rows = num_rows;
  matrix.row_begin = make_zeros<int>(exec, num_rows + 1, "ossatura::bench::row_begin");
  return matrix;
}

/// A body in motion, one way to take its steps.
template<class Exec>
class CgStep {
public:
  CgStep(const Exec& exec, SoftModel model, SoftLaw law, CgWay way)
      : way_(way)
      , options_(soft_options(model))
      , scene_(soft_scene(model, law))
      , numbering_(number_scene(scene_)) {
    const ElementMesh& mesh = numbering_.mesh[0];
    const int n = numbering_.num_nodes;
    elements_ = make_soft_elements(exec, mesh, scene_.objects[0].material, numbering_.factor[0]);
    groups_ = {{mesh.shape, std::vector<int>(mesh.node.begin(), mesh.node.end())}};
    map_ = make_element_map(exec, n, groups_, numbering_.fixed, matrix_);
    stiffness_ = make_zeros<double>(exec, 9 * map_.num_pairs, "ossatura::bench::stiffness");
    force_ = make_zeros<double>(exec, 3 * map_.num_slots, "ossatura::bench::force");
    frame_ = make_zeros<double>(exec, uses_frames() ? 17 * std::int64_t(elements_.num_elem) : 0,
                                "ossatura::bench::frame");
    slots_ = make_zeros<double>(exec, 3 * map_.num_slots, "ossatura::bench::slots");
    inverted_ = make_zeros<int>(exec, 1, "ossatura::bench::inverted");
    mass_ = upload(exec, "ossatura::bench::mass", numbering_.mass);
    load_ = upload(exec, "ossatura::bench::load", numbering_.load);
    x_ = upload(exec, "ossatura::bench::x", numbering_.point);
    v_ = upload(exec, "ossatura::bench::v", numbering_.velocity);
    damped_ = make_zeros<double>(exec, 3 * std::int64_t(n), "ossatura::bench::damped");
    // Without entries b - A x is b, as it is where a solve starts from zero.
    cg_ = make_resident_cg(exec, is_assembled() ? matrix_ : without_entries(exec, n), 0);
    if (way == CgWay::kokkos_kernels)
      product_ = make_kokkos_kernels_multiply(exec, matrix_);
    if (adds_atomically()) {
      cg_.num_pq_parts = node_parts() + element_parts();
      cg_.pq_parts = make_zeros<double>(exec, cg_.num_pq_parts, "ossatura::bench::pq");
    }
    if (way == CgWay::eigen) {
      const TripletIndices triplets = element_triplets(groups_, 1);
      triplets_ =
          make_zeros<double>(exec, std::int64_t(triplets.i.size()), "ossatura::bench::triplets");
      eigen_ = std::make_unique<EigenAssembly>(3 * n, triplets.i, triplets.j);
    }
    fence(exec, "ossatura::bench::CgStep");
  }

  /// Compares the system of the next step with the assembled one; the relative difference.
  double difference(const Exec& exec) {
    prepare(exec);
    const auto b = make_zeros<double>(exec, std::int64_t(cg_.b.extent(0)), "ossatura::bench::b");
    const auto q = make_zeros<double>(exec, std::int64_t(cg_.b.extent(0)), "ossatura::bench::q");
    evaluate(exec);
    assemble(exec, b);
    std::vector<double> direction(q.extent(0), 0.0);
    for (std::size_t i = 0; i < direction.size(); ++i)
      if (!numbering_.fixed[i / 3]) // as in a solve
        direction[i] = std::sin(double(i * i + 1));
    upload_to(exec, direction, cg_.z);
    Kokkos::deep_copy(exec, cg_.flags, 0);
    multiply(exec, 0);
    ossatura::multiply(exec, matrix_, cg_.z, q);
    const double of_b = relative_difference(exec, cg_.b, b);
    const double of_q = relative_difference(exec, cg_.q, q);
    const std::vector<double> parts = download(exec, cg_.pq_parts);
    double sum = 0;
    for (int k = 0; k < cg_.num_pq_parts; ++k)
      sum += parts[std::size_t(k)];
    const double exact = dot(exec, cg_.z, q);
    return std::max({of_b, of_q, std::abs(sum - exact) / exact});
  }

  /// Returns the seconds of the iterations where `wait`, which waits before them.
  double step(const Exec& exec, int iterations, bool wait) {
    prepare(exec);
    Kokkos::deep_copy(exec, cg_.x, 0.0);
    cg_residual(exec, cg_, 1e-15, {}, Array<double, Exec>());
    if (wait)
      fence(exec, "ossatura::bench::before_iterations");
    const Stopwatch watch;
    for (int k = 0; k < iterations; k += 2)
      graph_.run(exec, [&] {
        for (int parity = 0; parity < 2; ++parity) {
          cg_identity(exec, cg_);
          multiply(exec, parity);
          cg_resident_step(exec, cg_, parity, {}, Array<double, Exec>());
        }
      });
    look_ = look_at_cg(exec, cg_);
    const double seconds = watch.seconds();
    move_nodes(exec, options_.time_step, x_, v_, cg_.x, v_, x_);
    fence(exec, "ossatura::bench::step");
    return seconds;
  }

  int iterations() const { return look_.iterations; }
  bool is_sound(const Exec& exec) const {
    return count_non_finite(exec, x_) == 0 && look_.stop != 2;
  }

private:
  using Frames = TetraFrames<Exec>;

  bool is_assembled() const { return way_ == CgWay::assembled || way_ == CgWay::kokkos_kernels; }
  bool uses_frames() const {
    return way_ == CgWay::matrix_free_atomics || way_ == CgWay::matrix_free_gather;
  }
  bool adds_atomically() const {
    return way_ == CgWay::matrix_free_atomics || way_ == CgWay::element_matrices_atomics;
  }
  int node_parts() const {
    return (numbering_.num_nodes + detail::cg_nodes - 1) / detail::cg_nodes;
  }
  int element_parts() const {
    return (elements_.num_elem + matrix_free_elems - 1) / matrix_free_elems;
  }
  double mass_scale() const { return 1 + options_.time_step * options_.rayleigh_mass; }
  double stiffness_scale() const {
    return options_.time_step * (options_.time_step + options_.rayleigh_stiffness);
  }
  double force_scale() const { return options_.time_step + options_.rayleigh_stiffness; }

  void evaluate(const Exec& exec) {
    Kokkos::deep_copy(exec, inverted_, 0);
    evaluate_soft_elements(exec, elements_, x_, v_, force_scale(), stiffness_scale(),
                           {force_, stiffness_}, inverted_);
  }
  void assemble(const Exec& exec, const Array<double, Exec>& b) const {
    assemble_step(exec, map_, stiffness_, force_, mass_, mass_scale(), load_,
                  options_.rayleigh_mass, v_, matrix_, b);
  }

  /// Everything before the iterations.
  void prepare(const Exec& exec) {
    if (uses_frames()) {
      detail::SoftInput input = detail::soft_input(elements_, x_);
      input.v = {v_};
      input.force_scale = force_scale();
      input.stiffness_scale = stiffness_scale();
      Kokkos::parallel_for("ossatura::bench::make_frames", range(exec, elements_.num_elem),
                           MakeFrames<Exec>{input, frame_, force_});
    } else {
      evaluate(exec);
    }
    if (is_assembled()) {
      assemble(exec, cg_.b);
      if (product_)
        product_->update(exec, matrix_);
      return;
    }
    Kokkos::parallel_for("ossatura::bench::damped_load", range(exec, load_.extent(0)),
                         DampedLoad<Exec>{load_, mass_, v_, damped_, options_.rayleigh_mass});
    assemble_forces(exec, map_, force_, damped_, cg_.b);
    if (way_ == CgWay::eigen) {
      collect_triplets(exec, groups_, stiffness_, triplets_);
      fence(exec, "ossatura::bench::triplets");
      eigen_->collect(triplets_.data());
      eigen_->compress();
    }
  }

  void multiply(const Exec& exec, int parity) {
    const MatrixFreeNodes<Exec> rest{detail::cg_arrays(cg_, parity), map_.fixed, mass_,
                                     mass_scale()};
    if (way_ == CgWay::assembled)
      return cg_product(exec, cg_, parity);
    if (product_)
      return cg_product(exec, cg_, parity, *product_);
    if (adds_atomically()) {
      detail::launch_cg("ossatura::bench::start_product", exec, node_parts(), 256,
                        StartProduct<Exec>{rest});
      return multiply_elements<true>(exec, rest);
    }
    cg_direction(exec, cg_, parity);
    FinishProduct<Exec> finish{rest, map_.around_begin, map_.slot, slots_};
    if (way_ == CgWay::eigen) {
      fence(exec, "ossatura::bench::direction");
      eigen_->multiply(cg_.p[parity].data(), cg_.q.data());
      finish.slot = {};
    } else {
      multiply_elements<false>(exec, rest);
    }
    detail::launch_cg("ossatura::bench::finish_product", exec,
                      detail::num_row_parts(numbering_.num_nodes), 128, finish);
  }

  template<bool atomics>
  void multiply_elements(const Exec& exec, const MatrixFreeNodes<Exec>& rest) const {
    const std::int64_t n = elements_.num_elem;
    if (uses_frames())
      return launch<atomics>(exec, rest, Frames{n, elements_.node, frame_});
    switch (elements_.shape) {
    case ElementShape::triangle:
      return launch<atomics>(exec, rest, ElementMatrices<Exec, 3>{n, elements_.node, stiffness_});
    case ElementShape::tetra:
      return launch<atomics>(exec, rest, ElementMatrices<Exec, 4>{n, elements_.node, stiffness_});
    case ElementShape::hexa:
      return launch<atomics>(exec, rest, ElementMatrices<Exec, 8>{n, elements_.node, stiffness_});
    }
  }
  template<bool atomics, class Product>
  void launch(const Exec& exec, const MatrixFreeNodes<Exec>& rest, const Product& product) const {
    detail::launch_cg(
        "ossatura::bench::multiply_elements", exec, element_parts(), matrix_free_elems,
        MultiplyElements<Exec, Product, atomics>{product, rest, slots_, node_parts()});
  }

  CgWay way_;
  SoftOptions options_;
  SoftScene scene_;
  SoftNumbering numbering_;
  SoftElements<Exec> elements_;
  std::vector<ElementGroup> groups_;
  ElementMap<Exec> map_;
  BlockMatrix<Exec> matrix_;
  Array<double, Exec> stiffness_, force_, frame_, slots_, mass_, load_, x_, v_, damped_, triplets_;
  Array<int, Exec> inverted_;
  ResidentCg<Exec> cg_;
  CgLook look_;
  LaunchGraph<Exec> graph_;
  std::unique_ptr<EigenAssembly> eigen_;
  std::unique_ptr<MatrixMultiply<Exec>> product_;
};

template<class Exec>
void run_cg(benchmark::State& state, const Exec& exec, SoftModel model, SoftLaw law, CgWay way,
            int iterations) {
  CgStep<Exec> body(exec, model, law, way);
  const double difference = body.difference(exec);
  if (!(difference <= 1e-11))
    return fail_benchmark(state, "the system differs from the assembled one by " +
                                     std::to_string(1e11 * difference) + "e-11");
  for (int k = 0; k < 2; ++k)
    body.step(exec, iterations, false);
  for (auto _ : state) {
    const Stopwatch watch;
    body.step(exec, iterations, false);
    state.SetIterationTime(watch.seconds());
  }
  const double seconds = body.step(exec, iterations, true);
  if (!body.is_sound(exec))
    return fail_benchmark(state, "a position is not finite, or the matrix is not positive");
  state.counters["pcg_iterations"] = body.iterations();
  state.counters["per_iteration_us"] = 1e6 * seconds / iterations;
  state.counters["difference"] = difference;
}

template<class Exec>
void register_rows(const Options& options, SoftModel model, SoftLaw law, bool is_tetra, int steps) {
  for (const CgWay way : {CgWay::assembled, CgWay::kokkos_kernels, CgWay::eigen,
                          CgWay::matrix_free_atomics, CgWay::matrix_free_gather,
                          CgWay::element_matrices_atomics, CgWay::element_matrices_gather}) {
    const bool frames = way == CgWay::matrix_free_atomics || way == CgWay::matrix_free_gather;
    if ((frames && !(is_tetra && law == SoftLaw::corotational)) ||
        (way == CgWay::eigen && BackendTraits<Exec>::is_device) ||
        (way == CgWay::kokkos_kernels && !has_kokkos_kernels()))
      continue;
    for (const int iterations : {100, 200, 500, 1000})
      add_row(options,
              std::string("soft_cg/") + name_of(law) + '/' + name_of(way) + '/' +
                  BackendTraits<Exec>::name + "/f64/" + name_of(model) + ':' +
                  std::to_string(iterations),
              [=](benchmark::State& state) { run_cg(state, Exec(), model, law, way, iterations); },
              {benchmark::kMicrosecond, steps});
  }
}

template<class Exec>
void register_backend(const Options& options) {
  const int steps = options.quick ? 1 : BackendTraits<Exec>::is_device ? 20 : 3;
  std::vector<SoftModel> models = soft_models(options);
  if (options.quick)
    models.push_back(SoftModel::tetra_box);
  for (const SoftModel model : models) {
    if (model == SoftModel::raptor2)
      continue;
    const bool is_tetra = model <= SoftModel::raptor3 || model == SoftModel::tetra_box;
    register_rows<Exec>(options, model, SoftLaw::corotational, is_tetra, steps);
    if (model == SoftModel::raptor1)
      for (const SoftLaw law : {SoftLaw::mooney_rivlin, SoftLaw::stvk})
        register_rows<Exec>(options, model, law, is_tetra, steps);
  }
}

} // namespace

void register_soft_cg_ways(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_backend<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
