// SPDX-License-Identifier: Apache-2.0
#include "bench/softbody/mesh.hpp"

#include "bench/harness/kept.hpp"
#include <ossatura/core/io/mesh/element_file.hpp>
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>

#include <cstdlib>
#include <memory>
#include <utility>

namespace ossatura::bench {

std::string raptor_file(int num_tetra) {
  const char* const data = std::getenv("OSSATURA_SHARED_DATA");
  return data == nullptr
             ? ""
             : std::string(data) + "/softbody/raptorTetra_" + std::to_string(num_tetra) + ".vtu";
}

std::vector<SoftMeshName> soft_mesh_names(const Options& options) {
  std::vector<SoftMeshName> names;
  if (options.sizes.empty() && !raptor_file(0).empty())
    for (const int tetrahedra : {8418, 12580, 19409})
      names.push_back({"raptor", tetrahedra});
  else
    for (const int cells : options.sizes_or({156, 233, 359}))
      names.push_back({"beam", cells});
  return names;
}

const ElementMesh& cached_soft_mesh(const SoftMeshName& name) {
  static Kept<std::pair<std::string, int>, ElementMesh> kept;
  return kept.get({name.name, name.n}, [&] {
    auto mesh = std::make_unique<ElementMesh>();
    if (name.name == "raptor") {
      *mesh = read_element_mesh(raptor_file(name.n)).mesh;
    } else {
      const TetraMesh box = make_tetra_box({name.n, 3, 3}, 1);
      mesh->point = box.point;
      mesh->node = box.tetra;
    }
    return mesh;
  });
}

} // namespace ossatura::bench
