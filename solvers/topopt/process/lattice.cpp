// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/process/lattice.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/topopt/draw_heights.hpp>
#include <ossatura/kernels/topopt/overhang.hpp>
#include <ossatura/solvers/topopt/process/lattice_maps.hpp>

#include <cmath>

namespace ossatura {

namespace {

template<class Exec>
class LatticeProcess final : public ElementProcess<Exec> {
public:
  using Vector = Array<double, Exec>;
  using Roles = Array<std::uint8_t, Exec>;

  LatticeProcess(const Exec& exec, const VoxelGrid<Exec>& grid, const Array<float, Exec>& solid,
                 const std::array<double, 3>& origin, double edge,
                 const std::vector<MirrorPlane>& mirrors, const DesignProcess& process,
                 const Roles& role);

  void link(const Exec& exec, const Roles& role, const Vector& x) const override {
    if (process_.links())
      average_links(exec, links_, role, x, x);
  }
  void link_back(const Exec& exec, const Roles& role, const Vector& gradient) const override {
    link(exec, role, gradient); // voxels are of one volume
  }
  void shape(const Exec& exec, double sharpness, const Roles& role, const Vector& blueprint,
             const Vector& density) const override {
    if (process_.draw)
      apply_heights(exec, heights_, sharpness, role, blueprint, density);
    else
      print_layers(exec, layers_, role, blueprint, density);
  }
  void shape_back(const Exec& exec, double sharpness, const Roles& role, const Vector& blueprint,
                  const Vector& density, const Vector& gradient) const override {
    if (process_.draw)
      apply_heights_back(exec, heights_, sharpness, role, blueprint, gradient);
    else
      print_layers_back(exec, layers_, role, blueprint, density, gradient);
  }
  ProcessFaults find_faults(const Exec& exec, const Roles& role,
                            const Vector& density) const override {
    ProcessFaults faults;
    if (process_.draw)
      faults.undercuts = count_undercuts(exec, heights_, density);
    else if (process_.links())
      faults.unlike = count_unlike(exec, links_, role, density);
    if (process_.overhang)
      faults.hanging = count_hanging(exec, layers_, density);
    return faults;
  }

private:
  DesignProcess process_;
  LatticeLinks<Exec> links_;
  LatticeHeights<Exec> heights_;
  PrintLayers<Exec> layers_;
};

template<class Exec>
LatticeProcess<Exec>::LatticeProcess(const Exec& exec, const VoxelGrid<Exec>& grid,
                                     const Array<float, Exec>& solid,
                                     const std::array<double, 3>& origin, double edge,
                                     const std::vector<MirrorPlane>& mirrors,
                                     const DesignProcess& process, const Roles& role)
    : process_(process) {
  links_.columns.grid = grid;
  links_.columns.solid = solid;
  links_.by_columns = process.extrude || process.draw;
  if (process.extrude)
    links_.columns.axis = *process.extrude;
  if (process.draw) {
    const DesignProcess::Draw& draw = *process.draw;
    links_.columns.axis = draw.direction.axis;
    if (draw.parting)
      links_.columns.parting = parting_place(draw, origin, edge);
    heights_ = {links_.columns, draw.direction.sense};
    fill_below_solid(exec, heights_, role);
  }
  const std::vector<LatticeMap> maps = lattice_maps(process, origin, edge);
  links_.num_maps = int(maps.size());
  for (std::size_t m = 0; m < maps.size(); ++m)
    links_.map[m] = maps[m];
  if (const std::int64_t lonely = count_lonely(exec, links_); lonely > 0)
    fail<std::invalid_argument>(lonely, " elements have no image by the planes of symmetry and the "
                                        "sectors: take a body with this symmetry, or leave it out");
  if (process.overhang) {
    layers_ = make_print_layers(exec, grid, solid, process.overhang->axis, process.overhang->sense);
    for (const MirrorPlane& mirror : mirrors) {
      const int axis = mirror.axis, end = grid.shape[axis];
      const double place = (mirror.place - origin[std::size_t(axis)]) / edge;
      layers_.low_mirror[axis] = layers_.low_mirror[axis] || std::fabs(place) < 1e-3;
      layers_.high_mirror[axis] = layers_.high_mirror[axis] || std::fabs(place - end) < 1e-3;
    }
  }
  fence(exec, "ossatura::lattice_process");
}

} // namespace

template<class Exec>
std::unique_ptr<ElementProcess<Exec>>
make_lattice_process(const Exec& exec, const VoxelGrid<Exec>& grid, const Array<float, Exec>& solid,
                     const std::array<double, 3>& origin, double edge,
                     const std::vector<MirrorPlane>& mirrors, const DesignProcess& process,
                     const Array<std::uint8_t, Exec>& role) {
  return std::make_unique<LatticeProcess<Exec>>(exec, grid, solid, origin, edge, mirrors, process,
                                                role);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::unique_ptr<ElementProcess<Exec>> make_lattice_process(                             \
      const Exec&, const VoxelGrid<Exec>&, const Array<float, Exec>&,                              \
      const std::array<double, 3>&, double, const std::vector<MirrorPlane>&, const DesignProcess&, \
      const Array<std::uint8_t, Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
