// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/generators/voxel_mesh.hpp>

#include <ossatura/core/base/require.hpp>

#include <limits>

namespace ossatura {

namespace {

/// Offsets of a hexahedron's nodes from the lowest, in the order of VTK.
constexpr int corner_of_node[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

} // namespace

ElementMesh make_voxel_mesh(const VoxelImage& image, double unit) {
  for (const double stretch : image.stretch)
    OSSATURA_REQUIRE(stretch == 1, "voxels of " << stretch << " times another edge are no cubes");
  OSSATURA_REQUIRE(image.value.size() == image.num_voxels(), "an image without all of its planes");
  const std::size_t nx = std::size_t(image.shape[0]), ny = std::size_t(image.shape[1]),
                    nz = std::size_t(image.shape[2]);
  const auto node_place = [&](std::size_t x, std::size_t y, std::size_t z) {
    return x + (nx + 1) * (y + (ny + 1) * z);
  };
  ElementMesh mesh;
  mesh.shape = ElementShape::hexa;
  std::vector<std::int32_t> number;
  number.assign(node_place(0, 0, nz + 1), -1);
  const auto for_corners = [&](const auto& visit) {
    for (std::size_t z = 0; z < nz; ++z)
      for (std::size_t y = 0; y < ny; ++y)
        for (std::size_t x = 0; x < nx; ++x)
          if (image.value[x + nx * (y + ny * z)] > 0)
            for (const auto& corner : corner_of_node)
              visit(node_place(x + std::size_t(corner[0]), y + std::size_t(corner[1]),
                               z + std::size_t(corner[2])));
  };
  for_corners([&](std::size_t place) { number[place] = 0; });
  std::int64_t count = 0;
  for (std::size_t z = 0; z <= nz; ++z)
    for (std::size_t y = 0; y <= ny; ++y)
      for (std::size_t x = 0; x <= nx; ++x) {
        std::int32_t& own = number[node_place(x, y, z)];
        if (own < 0)
          continue;
        if (count == std::numeric_limits<std::int32_t>::max())
          fail<InputError>("the voxels have more than 2^31 nodes: take larger ones");
        own = std::int32_t(count++);
        for (std::size_t axis = 0; axis < 3; ++axis)
          mesh.point.push_back(unit *
                               (image.origin[axis] + image.spacing * double(axis == 0   ? x
                                                                            : axis == 1 ? y
                                                                                        : z)));
      }
  OSSATURA_REQUIRE(count > 0, "no voxel is solid");
  for_corners([&](std::size_t place) { mesh.node.push_back(number[place]); });
  return mesh;
}

} // namespace ossatura
