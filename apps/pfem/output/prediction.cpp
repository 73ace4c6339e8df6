// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/output/prediction.hpp"

#include "apps/pfem/output/files.hpp"
#include <ossatura/core/pfem/stars.hpp>
#include <ossatura/solvers/pfem/loads.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

/// Modes on the closures of the edges, faces and elements of a mesh.
class ClosureModes {
public:
  ClosureModes(const HexaEntities& entities, const HierarchicNumbering& numbering)
      : entities_(entities)
      , numbering_(numbering) {}

  std::int64_t of_edge(std::size_t e, int edge) const { return 2 + own_edge(e, edge); }
  std::int64_t of_face(std::size_t e, int face) const {
    std::int64_t count = 4 + own_face(e, face);
    for (int edge = 0; edge < 12; ++edge)
      count += touches(hexa_face_frame[face], hexa_edge[edge]) ? own_edge(e, edge) : 0;
    return count;
  }
  std::int64_t of_elem(std::size_t e) const {
    std::int64_t count =
        8 + numbering_.interior_mode_begin[e + 1] - numbering_.interior_mode_begin[e];
    for (int edge = 0; edge < 12; ++edge)
      count += own_edge(e, edge);
    for (int face = 0; face < 6; ++face)
      count += own_face(e, face);
    return count;
  }
  static bool touches(const HexaFace& face, const HexaEdge& edge) {
    int common = 0;
    for (const auto& row : face.node)
      for (const int corner : row)
        common += corner == edge.node[0] || corner == edge.node[1] ? 1 : 0;
    return common == 2;
  }

private:
  std::int64_t own_edge(std::size_t e, int edge) const {
    const auto number = std::size_t(entities_.edge[12 * e + std::size_t(edge)]);
    return numbering_.edge_mode_begin[number + 1] - numbering_.edge_mode_begin[number];
  }
  std::int64_t own_face(std::size_t e, int face) const {
    const auto number = std::size_t(entities_.face[6 * e + std::size_t(face)]);
    return numbering_.face_mode_begin[number + 1] - numbering_.face_mode_begin[number];
  }

  const HexaEntities& entities_;
  const HierarchicNumbering& numbering_;
};

double matrix_bytes(const PfemModel& model) {
  double bytes = 0;
  for (const auto& [order, count] : model.elements_by_order()) {
    const std::int64_t n = 3 * num_hierarchic_modes(model.options.space, order);
    bytes += 8.0 * double(count) * double(matrix_entries(MatrixStorage::packed, n));
  }
  return bytes;
}

/// Matrices of elements that are formed at a time on the way to something else.
double workset_bytes(const PfemModel& model) {
  return std::min(matrix_bytes(model), 268435456.0);
}

/// Elements with their lists of modes, and what curved ones keep for each quadrature point.
double batch_bytes(const PfemModel& model) {
  double bytes = 0;
  for (const auto& [order, count] : model.elements_by_order()) {
    const HierarchicOptions& o = model.options.discretisation;
    const double points = o.points > 0 ? o.points : quadrature_points(o.rule, order);
    const double of_points = model.is_trilinear() ? 0 : 72 * points * points * points;
    bytes += double(count) *
             (8 * 24 + 4 + of_points + 4 * num_hierarchic_modes(model.options.space, order));
  }
  return bytes + 8 * double(model.elasticity.value.size());
}

struct StarBytes {
  double kept = 0, setup = 0;
};

/// Vertex stars keep the inverse for each, packed, and order 1 as an inverse or a hierarchy of
/// smoothed aggregation (as measured for topology optimisation). While they are made there are as
/// many stars in double precision as fit 1 GiB, and matrices of elements.
StarBytes star_bytes(const PfemModel& model) {
  const HierarchicStars stars =
      make_hierarchic_stars(model.shape.mesh, model.numbering, model.held);
  double entries = 0;
  for (std::size_t s = 0; s < std::size_t(stars.num_stars()); ++s)
    entries += double(
        matrix_entries(MatrixStorage::packed, 3 * (stars.mode_begin[s + 1] - stars.mode_begin[s])));
  const HierarchicSolverOptions& o = model.options.solver;
  const double vertices = double(model.num_vertices());
  const bool direct = model.num_vertices() <= o.most_direct_vertices;
  const double inverse = 8 * 9 * vertices * vertices;
  StarBytes bytes;
  bytes.kept = (o.precision == Precision::mixed ? 4 : 8) * entries +
               4 * double(stars.mode.size() + stars.place.size()) +
               (direct ? inverse : 4760 * vertices);
  bytes.setup = std::min(8 * entries, 1073741824.0) + workset_bytes(model) + (direct ? inverse : 0);
  return bytes;
}

} // namespace

double star_seconds(const PfemModel& model, int threads) {
  constexpr double cubes_per_second = 8e9; // of rows, on a core
  const HierarchicStars stars =
      make_hierarchic_stars(model.shape.mesh, model.numbering, model.held);
  double cubes = 0;
  for (std::size_t s = 0; s < std::size_t(stars.num_stars()); ++s)
    cubes += std::pow(3 * double(stars.mode_begin[s + 1] - stars.mode_begin[s]), 3);
  return cubes / (cubes_per_second * threads);
}

std::int64_t count_blocks(const ElementMesh& mesh, const HexaEntities& entities,
                          const HierarchicNumbering& numbering) {
  // The elements that have both modes of a pair make up a cell complex without holes, so that its
  // elements, less the faces between them, and the edges and less the vertices inside, are one:
  // summed over all pairs, squares of the numbers of modes on closures with these signs.
  std::vector<std::uint8_t> on_boundary_vertex(mesh.num_points());
  std::vector<std::uint8_t> seen_edge(std::size_t(entities.num_edges));
  std::vector<std::uint8_t> seen_face(std::size_t(entities.num_faces));
  for (const ElementFace& face : boundary_faces(entities)) {
    const auto e = std::size_t(face.elem);
    const HexaFace& frame = hexa_face_frame[face.face];
    seen_face[std::size_t(entities.face[6 * e + std::size_t(face.face)])] = 1;
    for (std::size_t edge = 0; edge < 12; ++edge)
      if (ClosureModes::touches(frame, hexa_edge[edge]))
        seen_edge[std::size_t(entities.edge[12 * e + edge])] = 1;
    for (const auto& row : frame.node)
      for (const int corner : row)
        on_boundary_vertex[std::size_t(mesh.node[8 * e + std::size_t(corner)])] = 1;
  }
  const ClosureModes modes(entities, numbering);
  const auto square = [](std::int64_t n) { return n * n; };
  std::int64_t sum = 0;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    sum += square(modes.of_elem(e));
    for (int face = 0; face < 6; ++face)
      if (auto& seen = seen_face[std::size_t(entities.face[6 * e + std::size_t(face)])]; !seen) {
        seen = 1;
        sum -= square(modes.of_face(e, face));
      }
    for (int edge = 0; edge < 12; ++edge)
      if (auto& seen = seen_edge[std::size_t(entities.edge[12 * e + std::size_t(edge)])]; !seen) {
        seen = 1;
        sum += square(modes.of_edge(e, edge));
      }
  }
  return sum - std::count(on_boundary_vertex.begin(), on_boundary_vertex.end(), 0);
}

PfemPrediction predict_pfem(const PfemModel& model,
                            const OperatorChoice<HierarchicOperatorKind>& chosen,
                            double factor_bytes, bool on_device) {
  using Kind = HierarchicOperatorKind;
  PfemPrediction prediction;
  prediction.chosen = chosen;
  prediction.num_blocks = count_blocks(model.shape.mesh, model.entities, model.numbering);
  const double modes = double(model.numbering.num_modes);
  const double matrices = matrix_bytes(model);
  double shared = 0;
  for (const auto& [order, count] : model.elements_by_order()) {
    const std::int64_t n = 3 * num_hierarchic_modes(model.options.space, order);
    shared += 8 * double(n) * double(n) * double(std::max<std::int64_t>(1, chosen.num_matrices)) +
              4 * double(count);
  }
  prediction.operators = {{Kind::packed, matrices},
                          {Kind::bsr, 76 * double(prediction.num_blocks) + 4 * modes},
                          {Kind::matrix_free, 0},
                          {Kind::shared, shared}};
  prediction.model_bytes = batch_bytes(model) + 8 * 24 * modes;
  double kept = 0;
  for (const auto& one : prediction.operators)
    if (one.kind == chosen.kind)
      kept = one.kept;
  // One after the other: setting up the operator, then its preconditioner; sampling.
  double samples = 0;
  for (const auto& [order, count] : model.elements_by_order())
    samples += double(count) * std::pow(order + 1, 3);
  samples = sample_bytes * std::min(samples, double(samples_at_a_time()));
  double most = chosen.kind == Kind::bsr ? workset_bytes(model) : 0;
  const StarBytes stars = star_bytes(model);
  prediction.star_bytes = stars.kept;
  if (model.options.solver.preconditioner == HierarchicPreconditioner::vertex_stars) {
    kept += stars.kept;
    most = std::max(most, stars.setup);
  }
  prediction.factor_bytes = factor_bytes;
  most = std::max(most, factor_bytes);
  prediction.device_bytes = prediction.model_bytes + kept + std::max(most, samples);
  prediction.host_growth = 24 * modes + (on_device ? 0 : prediction.device_bytes);
  return prediction;
}

} // namespace ossatura
