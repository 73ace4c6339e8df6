// SPDX-License-Identifier: Apache-2.0
// These rows time assembly: from element matrices of random numbers to the matrix of a soft body,
// as in every step of the solver:
//   soft_assembly/<method>/<backend>/f64/<mesh>:<n>
// Methods:
//   elements               the element map; with the mass and the right-hand side
//   coo_blocks             the CooMap of 3 x 3 blocks, from values that are there
//   coo_blocks_collect     and with writing these from the element matrices
//   coo_scalars, coo_scalars_collect   the same with a triplet for each scalar
//   coo_system             matrix and right-hand side from triplets of scalars in one pass
//   petsc                  the loop of PETSc's MatSetValuesCOO over our map, 64-bit offsets
//   eigen, eigen_collect   setFromTriplets on one thread of the host, and with writing the list
// soft_assembly_setup/<what>/...: from indices to a map that is ready, on the backend, and _host:
// sorted on the host; matches: the comparison that finds a changed pattern.
// soft_multiply/<method>/...: the product of the matrix with a vector. Every row is verified
// against another method before it is timed; maps and element matrices are kept from row to row.
// Data that fits into a cache is there: rows repeat the work on the same arrays, as a step finds
// what its elements have written.
#include "bench/harness/compare_vectors.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/host/triplets_eigen.hpp"
#include "bench/softbody/mesh.hpp"
#include <ossatura/kernels/algebra/sparse/block_multiply.hpp>
#include <ossatura/kernels/softbody/assembly/make_element_map.hpp>
#include <ossatura/kernels/softbody/assembly/published/assemble_system.hpp>
#include <ossatura/kernels/softbody/assembly/published/element_triplets.hpp>
#include <ossatura/kernels/softbody/assembly/published/make_coo_map.hpp>

#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#endif

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace ossatura::bench {

namespace {

/// Element matrices, and what goes with them.
template<class Exec>
struct SoftData {
  int num_nodes;
  std::vector<ElementGroup> groups;
  Array<double, Exec> stiffness, force, mass, load, v;
  BlockMatrix<Exec> matrix; ///< by the element map
  ElementMap<Exec> map;
  Array<double, Exec> b;

  SoftData(const Exec& exec, const SoftMeshName& name) {
    const ElementMesh& mesh = cached_soft_mesh(name);
    num_nodes = int(mesh.num_points());
    groups = {{mesh.shape, mesh.node}};
    map = make_element_map(exec, num_nodes, groups, {}, matrix);
    unsigned seed = 0;
    const auto random = [&](std::int64_t n) {
      const auto x = make_uninitialized<double>(exec, n, "ossatura::bench::soft_data");
      fill_random(exec, ++seed, x);
      return x;
    };
    stiffness = random(9 * map.num_pairs);
    force = random(3 * map.num_slots);
    mass = random(num_nodes);
    load = random(3 * num_nodes);
    v = random(3 * num_nodes);
    b = make_uninitialized<double>(exec, 3 * num_nodes, "ossatura::bench::b");
    assemble(exec, 0);
    fence(exec, "ossatura::bench::SoftData");
  }
  void assemble(const Exec& exec, double mass_scale) const {
    assemble_step(exec, map, stiffness, force, mass, mass_scale, load, 0.1, v, matrix, b);
  }
};

/// Its triplets, of blocks (3) or scalars (1).
template<class Exec>
struct SoftTriplets {
  TripletIndices indices;
  CooMap<Exec> map;
  Array<double, Exec> triplets, value;

  SoftTriplets(const Exec& exec, const SoftData<Exec>& data, int block_size)
      : indices(element_triplets(data.groups, block_size))
      , map(make_coo_map(exec, block_size, data.num_nodes * (block_size == 3 ? 1 : 3), indices.i,
                         indices.j, {})) {
    const std::int64_t square = block_size * block_size;
    triplets = make_uninitialized<double>(exec, square * map.num_triplets, "ossatura::bench::coo");
    value = make_zeros<double>(exec, square * map.num_entries(), "ossatura::bench::coo_value");
    collect_triplets(exec, data.groups, data.stiffness, triplets);
    fence(exec, "ossatura::bench::SoftTriplets");
  }
  double scalars() const { return double(triplets.extent(0)); }
  double entries() const { return double(value.extent(0)); }
  /// Values, sources and the matrix with its pattern.
  double bytes() const {
    return 8 * scalars() + 4 * double(map.source.extent(0)) + 8 * entries() +
           4 * double(map.num_entries());
  }
};

/// Kept from row to row of a mesh, the matrix assembled anew for each: a row must not be verified
/// with what another has left.
template<class Exec>
const SoftData<Exec>& soft_data(const Exec& exec, const SoftMeshName& name) {
  static Kept<std::pair<std::string, int>, SoftData<Exec>> kept;
  const SoftData<Exec>& data =
      kept.get({name.name, name.n}, [&] { return std::make_unique<SoftData<Exec>>(exec, name); });
  Kokkos::deep_copy(exec, data.matrix.value, 0);
  data.assemble(exec, 0);
  return data;
}

/// Kept likewise, the sums zero.
template<class Exec>
const SoftTriplets<Exec>& soft_triplets(const Exec& exec, const SoftMeshName& name,
                                        int block_size) {
  static Kept<std::tuple<std::string, int, int>, SoftTriplets<Exec>> kept;
  const SoftTriplets<Exec>& triplets = kept.get({name.name, name.n, block_size}, [&] {
    return std::make_unique<SoftTriplets<Exec>>(exec, soft_data(exec, name), block_size);
  });
  Kokkos::deep_copy(exec, triplets.value, 0);
  return triplets;
}

/// Values of the blocks in the order of scalar rows.
template<class Exec>
Array<double, Exec> scalar_values(const Exec& exec, const BlockMatrix<Exec>& matrix) {
  return to_csr(exec, matrix).value;
}

/// Fails the row unless both are the same up to rounding.
template<class Exec>
bool verified(benchmark::State& state, const Exec& exec, const Array<double, Exec>& value,
              const Array<double, Exec>& expected) {
  const double difference =
      value.extent(0) == expected.extent(0) ? relative_difference(exec, value, expected) : INFINITY;
  if (!(difference <= rounding_bound<double>))
    fail_benchmark(state, "the result differs from that of another method by " +
                              std::to_string(difference));
  return difference <= rounding_bound<double>;
}

/// Times calls of `work` without waiting between them, as a step makes its launches, on devices;
/// one by one on cores.
template<class Exec, class Work>
void time_and_report(benchmark::State& state, const Exec& exec, const SoftData<Exec>& data,
                     double bytes, double flops, const Work& work) {
  constexpr int calls = BackendTraits<Exec>::is_device ? 50 : 1;
  work();
  const double seconds = time_calls(
      state, [&] { return timed(exec, work, calls); }, calls);
  report<Exec, double>(state, {3.0 * data.num_nodes, bytes, flops}, seconds);
  state.counters["elements"] = double(data.map.num_slots) / 4;
  state.counters["blocks"] = data.matrix.num_entries();
}

template<class Exec>
void run_elements(benchmark::State& state, const Exec& exec, const SoftMeshName& name) {
  const SoftData<Exec>& data = soft_data(exec, name);
  const SoftTriplets<Exec>& triplets = soft_triplets(exec, name, 3);
  sum_triplets(exec, triplets.map, triplets.triplets, triplets.value);
  if (!verified(state, exec, data.matrix.value, triplets.value))
    return;
  const ElementMap<Exec>& map = data.map;
  const double bytes = 72.0 * double(map.num_pairs) + (24 + 4 + 4) * double(map.num_slots) +
                       4.0 * double(map.edge_pair.extent(0)) + 12.0 * map.num_edges() +
                       72.0 * data.matrix.num_entries() + (3 * 24 + 8 + 8) * double(data.num_nodes);
  time_and_report(state, exec, data, bytes, 9.0 * double(map.num_pairs),
                  [&] { data.assemble(exec, 1.5); });
}

template<class Exec>
void run_coo(benchmark::State& state, const Exec& exec, const SoftMeshName& name, int block_size,
             bool collect) {
  const SoftData<Exec>& data = soft_data(exec, name);
  const SoftTriplets<Exec>& triplets = soft_triplets(exec, name, block_size);
  const auto work = [&] {
    if (collect)
      collect_triplets(exec, data.groups, data.stiffness, triplets.triplets);
    sum_triplets(exec, triplets.map, triplets.triplets, triplets.value);
  };
  if (collect)
    Kokkos::deep_copy(exec, triplets.triplets, 0);
  work();
  if (!verified(state, exec, triplets.value,
                block_size == 3 ? data.matrix.value : scalar_values(exec, data.matrix)))
    return;
  const double collected = collect ? 72.0 * double(data.map.num_pairs) + 8 * triplets.scalars() : 0;
  time_and_report(state, exec, data, triplets.bytes() + collected, triplets.scalars(), work);
}

template<class Exec>
void run_system(benchmark::State& state, const Exec& exec, const SoftMeshName& name) {
  const SoftData<Exec>& data = soft_data(exec, name);
  const SoftTriplets<Exec>& triplets = soft_triplets(exec, name, 1);
  SystemTerms<Exec> terms;
  terms.stiffness = triplets.triplets;
  terms.mass_scale = 0;
  terms.load = terms.v = data.v;
  terms.stiffness_damping = -1;
  const auto b = make_zeros<double>(exec, 3 * data.num_nodes, "ossatura::bench::b");
  assemble_system(exec, triplets.map, terms, triplets.value, b);
  if (!verified(state, exec, triplets.value, scalar_values(exec, data.matrix)))
    return;
  // b = v + K v
  const auto expected = make_zeros<double>(exec, 3 * data.num_nodes, "ossatura::bench::expected");
  multiply(exec, data.matrix, data.v, expected);
  axpby(exec, 1.0, data.v, 1.0, expected);
  if (!verified(state, exec, b, expected))
    return;
  terms.lumped_mass = make_zeros<double>(exec, 3 * data.num_nodes, "ossatura::bench::mass");
  const double bytes = triplets.bytes() + 4 * 24.0 * data.num_nodes;
  time_and_report(state, exec, data, bytes, triplets.scalars() + 2 * triplets.entries(),
                  [&] { assemble_system(exec, triplets.map, terms, triplets.value, b); });
}

/// As PETSc's MatAddCOOValues: a thread for each entry.
template<class Exec>
struct PetscSums {
  Array<std::int64_t, Exec> begin, source;
  Array<double, Exec> triplets, value;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    double sum = 0;
    for (std::int64_t k = begin(e); k < begin(e + 1); ++k)
      sum += triplets(source(k));
    value(e) = sum;
  }
};

template<class Exec>
void run_petsc(benchmark::State& state, const Exec& exec, const SoftMeshName& name) {
  const SoftData<Exec>& data = soft_data(exec, name);
  const SoftTriplets<Exec>& triplets = soft_triplets(exec, name, 1);
  PetscSums<Exec> sums;
  sums.begin = make_uninitialized<std::int64_t>(exec, triplets.map.source_begin.extent(0), "begin");
  sums.source = make_uninitialized<std::int64_t>(exec, triplets.map.source.extent(0), "source");
  copy(exec, triplets.map.source_begin, sums.begin);
  copy(exec, triplets.map.source, sums.source);
  sums.triplets = triplets.triplets;
  sums.value = triplets.value;
  const auto work = [&] {
    Kokkos::parallel_for("ossatura::bench::petsc", range(exec, triplets.map.num_entries()), sums);
  };
  work();
  if (verified(state, exec, triplets.value, scalar_values(exec, data.matrix)))
    time_and_report(state, exec, data,
                    triplets.bytes() + 4 * triplets.scalars() + 4 * triplets.entries(),
                    triplets.scalars(), work);
}

template<class Exec>
void run_eigen(benchmark::State& state, const Exec& exec, const SoftMeshName& name, bool collect) {
  const SoftData<Exec>& data = soft_data(exec, name);
  const SoftTriplets<Exec>& triplets = soft_triplets(exec, name, 1);
  EigenAssembly eigen(3 * data.num_nodes, triplets.indices.i, triplets.indices.j);
  eigen.collect(triplets.triplets.data());
  eigen.compress();
  if (!verified(state, exec, upload(exec, "ossatura::bench::eigen", eigen.values()),
                scalar_values(exec, data.matrix)))
    return;
  const double bytes = 16 * triplets.scalars() * (collect ? 2 : 1) + 12 * triplets.entries();
  time_and_report(state, exec, data, bytes, triplets.scalars(), [&] {
    if (collect) {
      collect_triplets(exec, data.groups, data.stiffness, triplets.triplets);
      eigen.collect(triplets.triplets.data());
    }
    eigen.compress();
  });
}

template<class Exec>
void run_setup(benchmark::State& state, const Exec& exec, const SoftMeshName& name,
               const std::string& what) {
  const SoftData<Exec>& data = soft_data(exec, name);
  const int block_size = what.find("scalars") == std::string::npos ? 3 : 1;
  const SoftTriplets<Exec>& triplets = soft_triplets(exec, name, block_size);
  const TripletIndices& indices = triplets.indices;
  const auto i = upload(exec, "ossatura::bench::i", indices.i);
  const auto j = upload(exec, "ossatura::bench::j", indices.j);
  CooMap<Exec> map = triplets.map;
  SoftData<Exec> found = data;
  bool found_changes = false;
  const bool of_host = what.find("_host") != std::string::npos;
  const auto work = [&] {
    if (what == "elements")
      found.map = make_element_map(exec, data.num_nodes, data.groups, {}, found.matrix);
    else if (what == "matches")
      found_changes = !map.matches(exec, i, j);
    else if (of_host)
      map = make_coo_map(exec, block_size, map.num_rows, indices.i, indices.j, {});
    else
      map = make_coo_map(exec, block_size, map.num_rows, i, j, {});
  };
  work();
  if (what == "elements") {
    found.assemble(exec, 0);
    if (!verified(state, exec, found.matrix.value, data.matrix.value))
      return;
  } else {
    const auto value =
        make_zeros<double>(exec, std::int64_t(triplets.value.extent(0)), "ossatura::bench::value");
    sum_triplets(exec, triplets.map, triplets.triplets, triplets.value);
    sum_triplets(exec, map, triplets.triplets, value);
    if (!verified(state, exec, value, triplets.value))
      return;
  }
  const double seconds = time_calls(state, [&] { return timed(exec, work); });
  if (found_changes)
    return fail_benchmark(state, "the map does not know its own indices");
  state.counters["elements/s"] = double(data.map.num_slots) / 4 / seconds;
  state.counters["triplets"] = double(map.num_triplets);
}

/// Values and columns once, row offsets, x read, y written; a multiply-add per entry.
double multiply_bytes(double rows, double entries, double index_bytes) {
  return 8 * entries + index_bytes + (8 + 8) * rows;
}

template<class Exec>
void run_multiply(benchmark::State& state, const Exec& exec, const SoftMeshName& name) {
  const SoftData<Exec>& data = soft_data(exec, name);
  const SoftTriplets<Exec>& triplets = soft_triplets(exec, name, 1);
  const auto y = make_zeros<double>(exec, 3 * data.num_nodes, "ossatura::bench::y");
  multiply(exec, data.matrix, data.v, y);
  // The other way to K v: the right-hand side of a pass over triplets.
  SystemTerms<Exec> terms;
  terms.stiffness = triplets.triplets;
  terms.v = data.v;
  terms.stiffness_damping = -1;
  const auto expected = make_zeros<double>(exec, 3 * data.num_nodes, "ossatura::bench::expected");
  assemble_system(exec, triplets.map, terms, triplets.value, expected);
  if (!verified(state, exec, y, expected))
    return;
  const double blocks = data.matrix.num_entries();
  time_and_report(state, exec, data,
                  multiply_bytes(3.0 * data.num_nodes, 9 * blocks, 4 * blocks + 4 * data.num_nodes),
                  18 * blocks, [&] { multiply(exec, data.matrix, data.v, y); });
}

#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
template<class Exec>
void run_kokkos_kernels(benchmark::State& state, const Exec& exec, const SoftMeshName& name) {
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  using Matrix = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
  const SoftData<Exec>& data = soft_data(exec, name);
  const CsrMatrix<Exec> csr = to_csr(exec, data.matrix);
  const Matrix matrix("ossatura::bench::csr", csr.num_rows, csr.num_rows, csr.num_entries(),
                      typename Matrix::values_type(csr.value),
                      typename Matrix::row_map_type(csr.row_begin),
                      typename Matrix::index_type(csr.column));
  const auto y = make_zeros<double>(exec, csr.num_rows, "ossatura::bench::y");
  const auto expected = make_zeros<double>(exec, csr.num_rows, "ossatura::bench::expected");
  multiply(exec, data.matrix, data.v, expected);
  fence(exec, "ossatura::bench::multiply");
  const auto work = [&] { KokkosSparse::spmv("N", 1.0, matrix, data.v, 0.0, y); };
  work();
  if (verified(state, exec, y, expected))
    time_and_report(state, exec, data,
                    multiply_bytes(csr.num_rows, csr.num_entries(),
                                   4.0 * csr.num_entries() + 4.0 * csr.num_rows),
                    2.0 * csr.num_entries(), work);
}
#endif

template<class Exec>
void register_row(const Options& options, const std::string& way, const SoftMeshName& name,
                  const std::function<void(benchmark::State&, const Exec&)>& run) {
  add_row(options, row_name<Exec, double>(way, name.name, name.n),
          [run](benchmark::State& state) { run(state, Exec()); });
}

template<class Exec>
void register_assembly(const Options& options, const SoftMeshName& name) {
  using State = benchmark::State;
  const std::string group = "soft_assembly/";
  register_row<Exec>(options, group + "elements", name,
                     [name](State& s, const Exec& e) { run_elements(s, e, name); });
  for (const int block_size : {3, 1})
    for (const bool collect : {false, true})
      register_row<Exec>(
          options,
          group + (block_size == 3 ? "coo_blocks" : "coo_scalars") + (collect ? "_collect" : ""),
          name, [=](State& s, const Exec& e) { run_coo(s, e, name, block_size, collect); });
  register_row<Exec>(options, group + "coo_system", name,
                     [name](State& s, const Exec& e) { run_system(s, e, name); });
  register_row<Exec>(options, group + "petsc", name,
                     [name](State& s, const Exec& e) { run_petsc(s, e, name); });
  if constexpr (!BackendTraits<Exec>::is_device)
    for (const bool collect : {false, true})
      register_row<Exec>(options, group + (collect ? "eigen_collect" : "eigen"), name,
                         [=](State& s, const Exec& e) { run_eigen(s, e, name, collect); });
}

template<class Exec>
void register_setup(const Options& options, const SoftMeshName& name) {
  for (const char* what :
       {"elements", "coo_blocks", "coo_blocks_host", "coo_scalars", "coo_scalars_host", "matches"})
    register_row<Exec>(
        options, std::string("soft_assembly_setup/") + what, name,
        [=](benchmark::State& s, const Exec& e) { run_setup(s, e, name, std::string(what)); });
}

template<class Exec>
void register_multiply(const Options& options, const SoftMeshName& name) {
  using State = benchmark::State;
  register_row<Exec>(options, "soft_multiply/blocks", name,
                     [name](State& s, const Exec& e) { run_multiply(s, e, name); });
#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
  register_row<Exec>(options, "soft_multiply/csr_kokkos_kernels", name,
                     [name](State& s, const Exec& e) { run_kokkos_kernels(s, e, name); });
#endif
}

} // namespace

void register_soft_assembly(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    for (const SoftMeshName& name : soft_mesh_names(options))
      register_assembly<BackendOf<decltype(backend)>>(options, name);
  });
}

void register_soft_assembly_setup(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    for (const SoftMeshName& name : soft_mesh_names(options))
      register_setup<BackendOf<decltype(backend)>>(options, name);
  });
}

void register_soft_multiply(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    for (const SoftMeshName& name : soft_mesh_names(options))
      register_multiply<BackendOf<decltype(backend)>>(options, name);
  });
}

} // namespace ossatura::bench
