// SPDX-License-Identifier: Apache-2.0
// A PreparedMesh is a tetrahedral mesh on a backend with all that an update of times reads:
// topology, metric and the stars of its points.
#pragma once

#include <ossatura/kernels/algebra/gather_rows.hpp>
#include <ossatura/kernels/eikonal/point_stars.hpp>
#include <ossatura/kernels/eikonal/ring_update.hpp>
#include <ossatura/kernels/eikonal/slowness.hpp>
#include <ossatura/kernels/eikonal/tetra_metric.hpp>
#include <ossatura/solvers/eikonal/tissue_tables.hpp>

namespace ossatura::detail {

template<class Exec, class Real>
struct PreparedMesh {
  TetraMetric metric; ///< which of the two
  TetraTopology<Exec> topology;
  std::vector<int> tags;
  TissueArrays<Exec> tissue;
  Array<int, Exec> tag_row; ///< [num_tetra] in the order of the topology, of tables by tag
  // One of the two, by `metric`.
  Array<TetraLengths<Real>, Exec> lengths;
  Array<TetraProducts<Real>, Exec> products;
  PointStars<Exec> stars;
  /// [num_tetra] by which errors name the tetrahedra of `mesh`, where that is a part of another.
  std::vector<std::int32_t> name;

  /// Copies what it needs of a mesh that check_tetra_mesh() passed. `order` [num_points]: that of
  /// the points, by their numbers in the mesh. Throws std::invalid_argument for entries out of
  /// range. There is no metric before set_velocities(). Fences.
  PreparedMesh(const Exec& exec, const TetraMesh& mesh, TetraMetric stored,
               const Array<double, Exec>& point, const Array<int, Exec>& order)
      : metric(stored)
      , topology(make_tetra_topology(exec, mesh, order)) {
    TissueRows tissues(mesh);
    tags = std::move(tissues.tag);
    stars = make_point_stars(exec, topology);
    const auto& tetra_order = topology.tetra_order;
    tissue.point = gather_rows(exec, topology.point_order, 3, point);
    tag_row =
        gather_rows(exec, tetra_order, 1, upload(exec, "ossatura::eikonal::tissue", tissues.row));
    if (!mesh.fibre.empty())
      tissue.fibre =
          gather_rows(exec, tetra_order, 3, upload(exec, "ossatura::eikonal::fibre", mesh.fibre));
    if (!mesh.sheet.empty())
      tissue.sheet =
          gather_rows(exec, tetra_order, 3, upload(exec, "ossatura::eikonal::sheet", mesh.sheet));
    if (metric == TetraMetric::lengths)
      lengths = Array<TetraLengths<Real>, Exec>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::eikonal::lengths"),
          mesh.num_tetra());
    else
      products = Array<TetraProducts<Real>, Exec>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::eikonal::products"),
          mesh.num_tetra());
  }

  /// Throws std::invalid_argument as slowness_table() and for tetrahedra whose travel times Real
  /// does not hold. Fences.
  void set_velocities(const Exec& exec, const TissueVelocities& velocities) {
    fill_metric(exec, slowness_table(tags, velocities), tag_row);
  }
  void set_velocities(const Exec& exec, const std::vector<ConductionVelocity>& velocities) {
    fill_metric(exec, slowness_table(topology.num_tetra(), velocities), topology.tetra_order);
  }
  void set_velocities(const Exec& exec, const Array<double, Exec>& velocities) {
    const std::int64_t n = topology.num_tetra(), size = velocities.extent(0);
    OSSATURA_REQUIRE(size == n || size == 2 * n || size == 3 * n,
                     size << " velocities of " << n << " tetrahedra");
    const auto slowness = make_uninitialized<double>(exec, 3 * n, "ossatura::eikonal::slowness");
    const std::int64_t bad = fill_slowness(exec, int(size / n), velocities, slowness);
    if (bad >= 0)
      fail<std::invalid_argument>("tetrahedron ", bad,
                                  " has a velocity that is negative, not finite, or 0 beside "
                                  "others: in m/s, greater than 0; where no wave goes, the first "
                                  "is 0 or NaN");
    fill_metric(exec, slowness, topology.tetra_order);
  }

  template<class Metric>
  RingUpdate<Exec, Metric> ring_update(const Array<Metric, Exec>& stored) const {
    return {{},
            topology.tetra,
            stored,
            {topology.ring.begin, topology.ring.member},
            {stars.begin, stars.neighbour, stars.face}};
  }

  /// visit(update), with that of the metric as stored.
  template<class Visit>
  auto with_update(const Visit& visit) const {
    return metric == TetraMetric::lengths ? visit(ring_update(lengths))
                                          : visit(ring_update(products));
  }

  /// Bytes of the metric of a tetrahedron.
  int metric_bytes() const {
    return metric == TetraMetric::lengths ? int(sizeof(TetraLengths<Real>))
                                          : int(sizeof(TetraProducts<Real>));
  }

  /// `row` [num_tetra] of `slowness` for each tetrahedron.
  void fill_metric(const Exec& exec, const std::vector<double>& slowness,
                   const Array<int, Exec>& row) {
    tissue.slowness = {}; // before there is another
    fill_metric(exec, upload(exec, "ossatura::eikonal::slowness", slowness), row);
  }
  void fill_metric(const Exec& exec, const Array<double, Exec>& slowness,
                   const Array<int, Exec>& row) {
    tissue.slowness = slowness;
    tissue.tissue = row;
    if (metric == TetraMetric::lengths)
      fill_metric(exec, lengths);
    else
      fill_metric(exec, products);
  }

  template<class Metric>
  void fill_metric(const Exec& exec, const Array<Metric, Exec>& stored) {
    const BadMetric bad = fill_tetra_metric(exec, tissue, topology.tetra, stored);
    if (bad.fault != MetricFault::none)
      refuse(exec, bad);
    fill_ring_heights(exec, ring_update(stored), 4 * topology.num_tetra());
    fence(exec, "ossatura::eikonal::fill_metric");
  }

  [[noreturn]] void refuse(const Exec& exec, const BadMetric& bad) const {
    const auto entry = [&](const Array<int, Exec>& array) {
      int value = 0;
      Kokkos::deep_copy(exec, Kokkos::View<int, Kokkos::HostSpace>(&value),
                        Kokkos::subview(array, bad.tetra));
      fence(exec, "ossatura::eikonal::refuse");
      return value;
    };
    const int tetra = entry(topology.tetra_order);
    fail<std::invalid_argument>("tetrahedron ", name.empty() ? tetra : name[std::size_t(tetra)],
                                ", of tag ", tags[std::size_t(entry(tag_row))], ": ",
                                describe_fault(bad.fault));
  }
};

} // namespace ossatura::detail
