// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/output/prediction.hpp"

#include <ossatura/core/mesh/hexa/entities.hpp>
#include <ossatura/kernels/topopt/lattice_order.hpp>
#include <ossatura/solvers/topopt/frequencies/families.hpp>
#include <ossatura/solvers/topopt/frequencies/frequencies.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace ossatura {

namespace {

/// Smoothed aggregation at its peak, while a prolongator and coarse matrices are made: measured on
/// boxes of 400 to 18 000 nodes, 2 to 20 elements thick, as 140 to 200 bytes for each block of the
/// matrix; in mixed precision on cantilevers of 2 : 1 : 1 as 166 with 59 000 nodes, 131 to 155 with
/// 450 000, 122 with 2 M and 107 with 30 M. An aggregate has about 24 nodes.
double aggregation_bytes(const HexaSolverOptions& options, double real, double num_nodes,
                         double num_blocks) {
  double coarse = 6 * num_nodes / 24;
  while (coarse > options.aggregation.max_coarse_dofs)
    coarse /= 20;
  const double of_large = std::min(1.0, 0.57 + 25 / std::cbrt(num_nodes));
  return std::max((155 + 5 * real) * of_large * num_blocks, coarse * coarse * (8 + real));
}

double preconditioner_bytes(HexaPreconditioner preconditioner, const HexaSolverOptions& options,
                            double num_nodes, double num_blocks) {
  const double real = options.precision == Precision::fp64 ? 8 : 4;
  const double blocks = 6 * real * num_nodes;
  switch (preconditioner) {
  case HexaPreconditioner::jacobi:
  case HexaPreconditioner::block_jacobi:
    return blocks;
  case HexaPreconditioner::chebyshev:
    return blocks + 4 * 3 * real * num_nodes;
  case HexaPreconditioner::amg:
    break;
  }
  return blocks + aggregation_bytes(options, real, num_nodes, num_blocks);
}

/// Pairs of nodes that an element has both of, each node with itself among them: those on edges,
/// across faces and across elements.
double count_blocks(const ElementMesh& mesh) {
  const HexaEntities entities = make_hexa_entities(mesh);
  return double(mesh.num_points()) +
         2 * (double(entities.num_edges) + 2. * entities.num_faces + 4 * double(mesh.num_elem()));
}

/// The same of solid elements of any kinds, node by node.
double count_blocks(const SolidMesh& mesh) {
  std::vector<std::size_t> begin(mesh.num_points() + 1);
  for (const std::int32_t n : mesh.node)
    ++begin[std::size_t(n) + 1];
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    begin[n + 1] += begin[n];
  std::vector<std::int32_t> elem(mesh.node.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (const std::int32_t n : mesh.nodes_of(e))
      elem[next[std::size_t(n)]++] = std::int32_t(e);
  double count = 0;
  std::vector<std::int32_t> row;
  for (std::size_t n = 0; n < mesh.num_points(); ++n) {
    row.clear();
    for (std::size_t k = begin[n]; k < begin[n + 1]; ++k) {
      const NodeRange nodes = mesh.nodes_of(std::size_t(elem[k]));
      row.insert(row.end(), nodes.begin(), nodes.end());
    }
    std::sort(row.begin(), row.end());
    count += double(std::unique(row.begin(), row.end()) - row.begin());
  }
  return count;
}

/// Between corners, over all edges of all elements.
double mean_edge(const DesignProblem& problem) {
  double length = 0, count = 0;
  const auto add = [&](std::int32_t one, std::int32_t other) {
    const auto a = problem.point(one), b = problem.point(other);
    length += std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    ++count;
  };
  for (std::size_t e = 0; e < problem.num_elem(); ++e) {
    const NodeRange nodes = problem.nodes_of(e);
    const SolidShape& shape = problem.solids ? shape_of(problem.solids->kind[e]) : hexa_shape;
    for (int k = 0; k < shape.num_edges; ++k)
      add(nodes[std::size_t(shape.edge[k][0])], nodes[std::size_t(shape.edge[k][1])]);
  }
  return length / count;
}

/// Entries of the cone filter for an element, from a sample.
double filter_entries(const TopoptModel& model) {
  const DesignFilter filter = model.options.filter;
  if (filter != DesignFilter::density && filter != DesignFilter::sensitivity)
    return 0;
  const std::size_t num_elem = model.problem.num_elem();
  std::vector<std::array<double, 3>> centre;
  for (std::size_t e = 0; e < num_elem; ++e)
    centre.push_back(model.problem.centre_of(e));
  const double radius =
      model.options.radius > 0 ? model.options.radius : 1.5 * mean_edge(model.problem);
  const std::size_t step = std::max<std::size_t>(1, num_elem / 100);
  double samples = 0, entries = 0;
  for (std::size_t e = 0; e < num_elem; e += step, ++samples)
    for (const auto& other : centre)
      entries += std::hypot(centre[e][0] - other[0], centre[e][1] - other[1],
                            centre[e][2] - other[2]) < radius;
  return entries / samples;
}

/// Of limits: gradients, and what stresses and mass take, by places of elements and by node.
double bytes_of_limits(const TopoptModel& model) {
  const std::vector<DesignLimit>& limits = model.problem.limits;
  if (limits.empty())
    return 0;
  const auto has = [&](DesignLimitKind kind) {
    return std::any_of(limits.begin(), limits.end(),
                       [kind](const DesignLimit& one) { return one.kind == kind; });
  };
  const bool is_volume = model.options.objective == DesignObjective::volume;
  const double rows = double(limits.size()) + (is_volume ? 0 : 1) +
                      (has(DesignLimitKind::stress) ? 3 : 0) + (has(DesignLimitKind::mass) ? 1 : 0);
  const double places =
      double(model.options.grid == DesignGrid::voxels ? model.num_nodes() : model.num_elem());
  return 8 * rows * places + (has(DesignLimitKind::stress) ? 24 * double(model.num_nodes()) : 0);
}

/// Bodies of families of modes beside that of the design.
unsigned count_other_bodies(const TopoptModel& model) {
  return count_frequencies(model.problem, model.options) > 0 ? count_families(model.problem) - 1
                                                             : 0;
}

/// Mass matrices with their lists of nodes, which voxels do without, and what finds the modes: 11
/// vectors for each mode of a block (solvers/krylov/lobpcg.hpp,
/// solvers/topopt/frequencies/frequencies.cpp).
double bytes_of_frequencies(const TopoptModel& model) {
  const DesignProblem& problem = model.problem;
  const int count = count_frequencies(problem, model.options);
  if (count == 0)
    return 0;
  const bool on_voxels = model.options.grid == DesignGrid::voxels;
  double matrices = 0;
  for (std::size_t e = 0; !on_voxels && e < problem.num_elem(); ++e) {
    const double n = double(problem.nodes_of(e).size());
    matrices += 8 * n * (n + 1) / 2 + 12 * n + 12;
  }
  const double vectors = 11. * block_of_frequencies(count) * count_families(problem);
  const double places = double(on_voxels ? problem.num_nodes() : problem.num_elem());
  return matrices + 24 * places + 24 * vectors * double(problem.num_nodes());
}

/// Forces by node of each element, and energies, of each load case with temperatures.
double bytes_of_temperatures(const TopoptModel& model) {
  const DesignProblem& problem = model.problem;
  const auto cases =
      std::count_if(problem.cases.begin(), problem.cases.end(),
                    [](const DesignLoadCase& one) { return !one.loads.warming.empty(); });
  const std::size_t slots = problem.solids ? problem.solids->node.size() : problem.mesh.node.size();
  return double(cases) *
         (24 * double(slots) + 8 * double(model.num_elem()) + 24 * double(model.num_nodes()));
}

/// Loads on voxels that are vectors, of the nodes that a process sees, or are by element:
/// expansion, warming and energies of temperatures; densities, masses and work of gravity and
/// rotation.
double bytes_of_voxel_loads(const TopoptModel& model, double seen) {
  double vectors = 0, by_element = 0;
  bool is_moved = false;
  for (const DesignLoadCase& one : model.problem.cases) {
    const bool is_warm = !one.loads.warming.empty(), moves = !one.loads.displacements.empty();
    vectors += (is_warm || !one.loads.body.empty() ? 1 : 0) + (moves ? 1 : 0);
    by_element += is_warm ? 3 : 0;
    is_moved = is_moved || moves;
  }
  by_element += model.problem.has_body_loads() ? 3 : 0;
  return 24 * seen * (vectors + (is_moved ? 1 : 0)) + 8 * double(model.num_nodes()) * by_element;
}

/// Bytes of the mesh and the design. Of elements their nodes both ways, centres and volumes, a
/// dozen numbers of the design, those of moving asymptotes and the filter; of nodes their points
/// and a dozen vectors, and three more for each case.
double bytes_of_design(const TopoptModel& model, double num_solves) {
  const double of_elem = 193 + 12 * filter_entries(model) +
                         (model.options.method == DesignMethod::mma ? 48 : 0) +
                         (model.options.robust > 0 ? 8 : 0);
  return double(model.num_elem()) * of_elem +
         double(model.num_nodes()) * (29 + 24 * (12.5 + 3 * num_solves)) + bytes_of_limits(model) +
         bytes_of_temperatures(model) + bytes_of_frequencies(model);
}

/// The arrays of solvers/solids/solver.cpp: gradients at quadrature points, the matrix in double
/// and in the precision of the preconditioner.
TopoptPrediction predict_on_solids(const TopoptModel& model, double num_solves, bool on_device) {
  const SolidMesh& mesh = *model.problem.solids;
  const HexaSolverOptions& solver = model.options.solver;
  const double nodes = double(model.num_nodes()), blocks = count_blocks(mesh);
  TopoptPrediction prediction;
  prediction.choice.kind = HexaOperatorKind::bsr;
  prediction.choice.reason = "the matrix of other elements than hexahedra of eight nodes is "
                             "assembled";
  const double matrix = memory_of(HexaOperatorKind::bsr).bytes(8, 0, blocks, nodes);
  prediction.operators.push_back({HexaOperatorKind::bsr, matrix});
  // Measured on boxes of 2500 to 31 000 nodes at its peak, in mixed precision: 4.2 to 8.2 kB a node
  // of C3D4 and C3D6, 1.5 kB of C3D10 and C3D15; 1.3 to 1.5 times as much in double.
  const auto second_order = std::count_if(mesh.kind.begin(), mesh.kind.end(), is_second_order);
  const double share = double(second_order) / double(mesh.kind.size());
  const double multigrid =
      nodes * (7000 - 5400 * share) * (solver.precision == Precision::mixed ? 1 : 1.4);
  prediction.preconditioners.push_back({HexaPreconditioner::amg, multigrid});
  double geometry = 0;
  for (const SolidKind kind : mesh.kind)
    geometry += 8. * (3 * nodes_per_elem(kind) + 1) * points_per_elem(kind) + 20 +
                12. * (nodes_per_elem(kind) - 8); // the nodes of eight are in bytes_of_design
  prediction.design_bytes = bytes_of_design(model, num_solves) + geometry;
  const double in_single = solver.precision == Precision::mixed ? 36 * blocks : 0;
  prediction.device_bytes =
      prediction.design_bytes + (matrix + in_single + multigrid) * (1 + count_other_bodies(model));
  prediction.host_growth = on_device ? nodes * 24 : prediction.device_bytes;
  return prediction;
}

/// The part of all nodes that a rank sees: its share, as if that were a cube, with a rim of two.
double part_of_rank(const TopoptModel& model) {
  const int ranks = model.options.ranks ? model.options.ranks->size() : 1;
  if (ranks == 1)
    return 1;
  const double nodes = double(model.num_nodes());
  return std::min(1.0, std::pow(std::cbrt(nodes / ranks) + 4, 3) / nodes);
}

/// The arrays of solvers/topopt/bodies/voxels.cpp and of the optimiser, by nodes, which places of
/// elements are numbered by, too. Grid, moduli and levels of the solver are 11 to 12 bytes for a
/// degree of freedom of a solid body (docs/performance/topopt.md), its vectors without
/// displacements 16 in lean precision. Results on their way take a part of a vector.
TopoptPrediction predict_on_voxels(const TopoptModel& model, double num_solves, bool on_device,
                                   bool brings_vectors) {
  const bool is_cut = model.options.ranks.has_value();
  const double nodes = double(model.num_nodes()), seen = part_of_rank(model) * nodes,
               dofs = 3 * seen;
  const Precision precision = model.options.voxels.precision;
  const double vectors = precision == Precision::lean    ? 16
                         : precision == Precision::mixed ? 28
                                                         : 32;
  TopoptPrediction prediction;
  prediction.voxel_bytes = dofs * (12 + vectors) + std::min(dofs * 8, 3 * 8.0 * lattice_part);
  if (!on_device && !is_cut) // tables of `offset`, and a vector of the cycle that it does not save
    AnyVoxelOperators::find(
        default_voxel_operator<Kokkos::DefaultHostExecutionSpace>, [&](auto entry) {
          using Operator = typename decltype(entry)::type;
          prediction.voxel_bytes += Operator::bytes_kept(nodes, double(model.num_elem())) +
                                    dofs * (precision == Precision::fp64 ? 8 : 4);
        });
  // By element: variables, density, sums of the filter's rows, role; eight of moving asymptotes,
  // and filtered densities that are projected. By degree of freedom: the displacements of each
  // solve. All else is in the solver's vectors, or lists of few entries.
  const DesignOptions& o = model.options;
  const bool keeps_filtered =
      (o.projection && (o.filter == DesignFilter::density || o.process.any())) ||
      o.process.shapes();
  const double of_elem = 2 * 8 + (o.filter == DesignFilter::none ? 0 : 8) + 1 +
                         (keeps_filtered ? 8 : 0) + (o.process.overhang && o.projection ? 8 : 0) +
                         (o.robust > 0 ? 8 : 0) + (o.method == DesignMethod::mma ? 8 * 8 : 0);
  prediction.design_bytes = nodes * of_elem + dofs * 8 * num_solves + bytes_of_limits(model) +
                            bytes_of_frequencies(model) + bytes_of_voxel_loads(model, seen);
  prediction.voxel_bytes *= 1 + count_other_bodies(model);
  // What else is in the solver's vectors, marks of elements, and forces as vectors.
  if (is_cut)
    prediction.design_bytes += nodes * (3 * 8 + 4) + seen * (8 + 24 * num_solves);
  prediction.device_bytes = prediction.voxel_bytes + prediction.design_bytes;
  // Vectors for files, places of a mesh by its order, and bits of the lattice at work.
  const double of_node = (model.problem.lattice ? 1 : 8) + (brings_vectors ? 24 : 0);
  prediction.host_growth = nodes * of_node + (on_device ? 0 : prediction.device_bytes);
  return prediction;
}

/// Solves of a step: those of load cases, and adjoints of mechanisms and limits.
double count_solves(const TopoptModel& model) {
  const double num_cases = double(model.problem.cases.size());
  double count = num_cases + (model.options.objective == DesignObjective::mechanism ? 1 : 0);
  for (const DesignLimit& limit : model.problem.limits)
    count += limit.kind == DesignLimitKind::displacement                    ? 1
             : limit.kind == DesignLimitKind::stress && limit.load_case < 0 ? num_cases
             : limit.kind == DesignLimitKind::stress                        ? 1
                                                                            : 0;
  return count;
}

TopoptPrediction predict_without_bound(const TopoptModel& model, bool on_device,
                                       bool brings_vectors) {
  const double num_solves = count_solves(model);
  if (model.options.grid == DesignGrid::voxels)
    return predict_on_voxels(model, num_solves, on_device, brings_vectors);
  if (model.problem.solids)
    return predict_on_solids(model, num_solves, on_device);
  const double elements = double(model.num_elem()), nodes = double(model.num_nodes());
  const double blocks = count_blocks(model.problem.mesh);
  const HexaSolverOptions& solver = model.options.solver;
  TopoptPrediction prediction;
  prediction.choice = choose_hexa_operator(model.problem.mesh);
  const HexaOperatorKind kind =
      solver.kind == HexaOperatorKind::automatic ? prediction.choice.kind : solver.kind;
  double chosen = 0;
  for (const HexaOperatorKind one : hexa_operator_kinds) {
    prediction.operators.push_back({one, memory_of(one).bytes(8, elements, blocks, nodes)});
    if (one == kind)
      chosen += prediction.operators.back().kept;
  }
  // The preconditioners that take products have an operator of their own in single precision.
  if (solver.precision == Precision::mixed &&
      (solver.preconditioner == HexaPreconditioner::chebyshev ||
       solver.preconditioner == HexaPreconditioner::amg))
    chosen += memory_of(kind).bytes(4, elements, blocks, nodes);
  for (const auto one : {HexaPreconditioner::jacobi, HexaPreconditioner::block_jacobi,
                         HexaPreconditioner::chebyshev, HexaPreconditioner::amg}) {
    prediction.preconditioners.push_back({one, preconditioner_bytes(one, solver, nodes, blocks)});
    if (one == solver.preconditioner)
      chosen += prediction.preconditioners.back().kept;
  }
  prediction.design_bytes = bytes_of_design(model, num_solves);
  prediction.device_bytes = prediction.design_bytes + chosen * (1 + count_other_bodies(model));
  prediction.host_growth = on_device ? nodes * 24 : prediction.device_bytes;
  return prediction;
}

} // namespace

TopoptPrediction predict_topopt(const TopoptModel& model, bool on_device, bool brings_vectors,
                                bool has_bound) {
  TopoptPrediction prediction = predict_without_bound(model, on_device, brings_vectors);
  if (!has_bound)
    return prediction;
  // Densities of its own, and on a mesh three numbers more for each element.
  const double bytes = model.options.grid == DesignGrid::voxels ? 8 * double(model.num_nodes())
                                                                : 32 * double(model.num_elem());
  prediction.design_bytes += bytes;
  prediction.device_bytes += bytes;
  prediction.host_growth += on_device ? 0 : bytes;
  return prediction;
}

} // namespace ossatura
