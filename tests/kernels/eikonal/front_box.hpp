// SPDX-License-Identifier: Apache-2.0
// A box of tetrahedra for tests of fronts, and what front.hpp makes of it.
#pragma once

#include <ossatura/core/mesh/generators/tetra_meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/eikonal/front.hpp>
#include <ossatura/kernels/eikonal/point_stars.hpp>
#include <ossatura/kernels/eikonal/tetra_metric.hpp>
#include <ossatura/kernels/eikonal/times.hpp>

#include <cmath>
#include <vector>

namespace ossatura::test {

template<class Exec, class T>
std::vector<T> to_host(const Array<T, Exec>& array) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
  return std::vector<T>(host.data(), host.data() + host.extent(0));
}

/// 9 x 8 x 7 jittered cubes, velocity 1, ready to be solved.
template<class Exec>
struct FrontBox {
  TetraTopology<Exec> topology;
  PointStars<Exec> stars;
  Array<TetraLengths<float>, Exec> lengths;
  RingUpdate<Exec, TetraLengths<float>> update;

  explicit FrontBox(const Exec& exec) {
    const TetraMesh mesh = make_tetra_box({9, 8, 7}, 1, {0, 0, 0}, 0.25, 3);
    const Array<double, Exec> point = upload(exec, "point", mesh.point);
    topology = make_tetra_topology(exec, mesh, point);
    stars = make_point_stars(exec, topology);
    // Any metric will do: what matters is who reads which number.
    std::vector<TetraLengths<float>> metric(mesh.num_tetra());
    for (std::size_t t = 0; t < metric.size(); ++t)
      for (int k = 0; k < 6; ++k)
        metric[t].length[k] = 1 + 0.001f * float((37 * t + 11 * std::size_t(k)) % 97);
    metric[5] = {{-1, -1, -1, -1, -1, -1}};
    lengths = upload(exec, "lengths", metric);
    update = {{},
              topology.tetra,
              lengths,
              {topology.ring.begin, topology.ring.member},
              {stars.begin, stars.neighbour, stars.face}};
    fill_ring_heights(exec, update, 4 * topology.num_tetra());
  }
};

#if defined(KOKKOS_ENABLE_CUDA)
/// The times after the iterations of front.hpp, and their number.
inline std::vector<float> launched_times(const Cuda& exec, const FrontBox<Cuda>& box,
                                         const Array<std::uint32_t, Cuda>& site,
                                         const Array<float, Cuda>& start, int& iterations) {
  const auto front = make_eikonal_front(exec, start.extent(0), site);
  Array<float, Cuda> time[2];
  for (auto& t : time) {
    t = make_uninitialized<float>(exec, start.extent(0), "time");
    Kokkos::deep_copy(exec, t, start);
  }
  int k = 0;
  for (; k < 600; ++k)
    advance_front(exec, box.update, front, time[k % 2], time[1 - k % 2], 1 - 1e-7f,
                  int(box.topology.num_points()), k);
  fence(exec, "test");
  iterations = to_host<Cuda>(front.counter)[std::size_t(EikonalFront<Cuda>::iteration + k % 3)];
  return to_host<Cuda>(time[k % 2]);
}
#endif

} // namespace ossatura::test
