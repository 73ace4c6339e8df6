// SPDX-License-Identifier: Apache-2.0
// The readers as functions of one file, for the fuzz targets and the damaged-file tests: a reader
// either returns a valid model or throws InputError; anything else is a defect.
#pragma once

#include "tests/core/io/mesh/tetra_samples.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/abaqus/model.hpp>
#include <ossatura/core/io/ansys/model.hpp>
#include <ossatura/core/io/gmsh/read_mesh.hpp>
#include <ossatura/core/io/image/format.hpp>
#include <ossatura/core/io/image/metaimage.hpp>
#include <ossatura/core/io/image/nifti.hpp>
#include <ossatura/core/io/image/nrrd.hpp>
#include <ossatura/core/io/image/raw.hpp>
#include <ossatura/core/io/itk/image.hpp>
#include <ossatura/core/io/mesh/tetra_file.hpp>
#include <ossatura/core/io/parosol/input.hpp>
#include <ossatura/core/io/scanco/image.hpp>
#include <ossatura/core/io/surface/reader.hpp>
#include <ossatura/core/io/text/nodal_list.hpp>
#include <ossatura/core/io/vtk/legacy.hpp>
#include <ossatura/core/io/vtk/vtu.hpp>
#include <ossatura/core/mesh/element_surface.hpp>

#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace ossatura_test {

inline void expect(bool condition, const char* what) {
  if (!condition)
    throw std::logic_error(std::string("a reader accepted a file and returned ") + what);
}

inline void expect_valid(const ossatura::VoxelImage& image) {
  expect(image.shape[0] > 0 && image.shape[1] > 0 && image.shape[2] > 0, "an empty image");
  expect(image.value.size() == image.num_voxels(), "the wrong number of voxels");
  expect(image.spacing > 0 && std::isfinite(image.spacing), "a bad spacing");
  for (const double x : image.origin)
    expect(std::isfinite(x), "a bad origin");
  for (const float v : image.value)
    expect(std::isfinite(v), "a value that is not finite");
}

inline void expect_valid(const ossatura::VoxelModel& model) {
  expect_valid(model.modulus);
  for (const float e : model.modulus.value)
    expect(e >= 0, "a negative modulus");
  expect(model.poisson > -1 && model.poisson < 0.5, "a bad Poisson's ratio");
  expect(model.poisson_image.empty() || model.poisson_image.size() == model.modulus.num_voxels(),
         "the wrong number of Poisson's ratios");
  for (const float nu : model.poisson_image)
    expect(nu > -1 && nu < 0.5f, "a bad Poisson's ratio of a voxel");
  for (const auto* list : {&model.displacements, &model.forces})
    for (const ossatura::NodalValue& row : *list) {
      for (int axis = 0; axis < 3; ++axis)
        expect(row.node[axis] >= 0 && row.node[axis] <= model.modulus.shape[axis],
               "a node outside the lattice");
      expect(row.component >= 0 && row.component < 3, "a bad direction");
      expect(std::isfinite(row.value), "a value that is not finite");
    }
}

inline void expect_valid(const ossatura::TriangleSurface& surface) {
  for (const auto& p : surface.vertex)
    expect(std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]), "a bad vertex");
  for (const auto& t : surface.triangle)
    for (const int v : t)
      expect(v >= 0 && std::size_t(v) < surface.vertex.size(), "a bad vertex number");
  ossatura::describe_first_open_edge(surface);
}

inline void expect_valid(const ossatura::TetraMesh& mesh) {
  const std::size_t num_tetra = mesh.num_tetra();
  expect(num_tetra > 0, "a mesh without tetrahedra");
  expect(mesh.point.size() == 3 * mesh.num_points() && mesh.tetra.size() == 4 * num_tetra,
         "parts of rows");
  for (const double x : mesh.point)
    expect(std::isfinite(x), "a point that is not finite");
  std::vector<bool> used(mesh.num_points());
  for (std::size_t i = 0; i < mesh.tetra.size(); ++i) {
    const std::int32_t v = mesh.tetra[i];
    expect(v >= 0 && std::size_t(v) < mesh.num_points(), "a vertex out of range");
    used[std::size_t(v)] = true;
    for (std::size_t k = i / 4 * 4; k < i; ++k)
      expect(mesh.tetra[k] != v, "a vertex twice in a tetrahedron");
  }
  for (const bool is_used : used)
    expect(is_used, "a point of no tetrahedron");
  expect(mesh.tag.size() == num_tetra, "the wrong number of tags");
  for (const std::vector<float>* direction : {&mesh.fibre, &mesh.sheet}) {
    expect(direction->empty() || direction->size() == 3 * num_tetra,
           "the wrong number of directions");
    for (const float x : *direction)
      expect(std::isfinite(x), "a direction that is not finite");
  }
}

inline void expect_valid(const ossatura::ElementMesh& mesh) {
  const std::size_t num = std::size_t(ossatura::nodes_per_elem(mesh.shape));
  expect(mesh.num_elem() > 0, "a mesh without elements");
  expect(mesh.point.size() == 3 * mesh.num_points() && mesh.node.size() == num * mesh.num_elem(),
         "parts of rows");
  for (const double x : mesh.point)
    expect(std::isfinite(x), "a point that is not finite");
  std::vector<bool> used(mesh.num_points());
  for (std::size_t i = 0; i < mesh.node.size(); ++i) {
    const std::int32_t v = mesh.node[i];
    expect(v >= 0 && std::size_t(v) < mesh.num_points(), "a node out of range");
    used[std::size_t(v)] = true;
    for (std::size_t k = i / num * num; k < i; ++k)
      expect(mesh.node[k] != v, "a node twice in an element");
  }
  for (const bool is_used : used)
    expect(is_used, "a point of no element");
  for (const std::int32_t v : ossatura::boundary_triangles(mesh))
    expect(v >= 0 && std::size_t(v) < mesh.num_points(), "a bad surface");
}

inline void expect_valid(const ossatura::ElementFile& file) {
  expect_valid(file.mesh);
  expect(file.unused_points >= 0, "a negative number of unused points");
}

inline void expect_valid(const ossatura::SolidMesh& mesh) {
  expect(mesh.num_elem() > 0 && mesh.begin.size() == mesh.num_elem() + 1, "no elements");
  std::vector<bool> used(mesh.num_points());
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const ossatura::NodeRange nodes = mesh.nodes_of(e);
    expect(nodes.size() == std::size_t(nodes_per_elem(mesh.kind[e])), "nodes of another kind");
    for (const std::int32_t v : nodes) {
      expect(v >= 0 && std::size_t(v) < mesh.num_points(), "a node out of range");
      used[std::size_t(v)] = true;
    }
  }
  for (const bool is_used : used)
    expect(is_used, "a point of no element");
  for (const double x : mesh.point)
    expect(std::isfinite(x), "a coordinate that is not finite");
  expect(!ossatura::find_misfit_face(mesh), "faces that do not fit");
}

inline void expect_valid(const ossatura::HexaFile& file) {
  const ossatura::HexaModel& model = file.model;
  expect(model.mesh.shape == ossatura::ElementShape::hexa, "other elements than hexahedra");
  if (model.solids)
    expect_valid(*model.solids);
  else
    expect_valid(model.mesh);
  const std::size_t num_points =
      model.solids ? model.solids->num_points() : model.mesh.num_points();
  const std::size_t num_elem = model.solids ? model.solids->num_elem() : model.mesh.num_elem();
  expect(file.unused_points >= 0, "a negative number of unused points");
  const auto expect_set = [](const std::vector<std::int32_t>& set, std::size_t count) {
    for (std::size_t i = 0; i < set.size(); ++i) {
      expect(set[i] >= 0 && std::size_t(set[i]) < count, "a member out of range");
      expect(i == 0 || set[i] > set[i - 1], "a set that does not ascend");
    }
  };
  for (const auto& set : model.node_sets)
    expect_set(set.second, num_points);
  for (const auto& set : model.elem_sets)
    expect_set(set.second, num_elem);
  std::vector<std::int32_t> held;
  for (const ossatura::HeldComponents& h : model.held) {
    held.push_back(h.node);
    expect(h.components >= 1 && h.components <= 7, "components that are none");
  }
  expect_set(held, num_points);
  for (const ossatura::NodeLoads& loads : model.loads)
    for (const ossatura::NodeForce& f : loads.forces) {
      expect(f.node >= 0 && std::size_t(f.node) < num_points, "a force on no node");
      for (const double component : f.force)
        expect(std::isfinite(component), "a force that is not finite");
    }
  for (const ossatura::NodeLoads& loads : model.loads)
    for (const ossatura::NodeDisplacement& u : loads.displacements) {
      expect(u.component >= 0 && u.component < 3 && std::isfinite(u.value), "a bad displacement");
      expect(u.node >= 0 && std::size_t(u.node) < model.mesh.num_points(),
             "a displacement of no node");
    }
  for (const ossatura::NodeLoads& loads : model.loads)
    for (const ossatura::BodyLoad& load : loads.body)
      expect(load.square_speed >= 0 && std::isfinite(load.square_speed), "a bad speed of rotation");
  for (const ossatura::NodeLoads& loads : model.loads) {
    expect(loads.warming.empty() || loads.warming.size() == num_points,
           "temperatures of another number of nodes");
    for (const double warming : loads.warming)
      expect(std::isfinite(warming), "a temperature that is not finite");
  }
  expect(model.material.empty() || model.material.size() == model.mesh.num_elem(),
         "the wrong number of materials of elements");
  for (const std::uint8_t number : model.material)
    expect(number < model.materials.size(), "an element of no material");
  for (const ossatura::HexaMaterial& one : model.materials)
    expect(one.young > 0 && one.poisson > -1 && one.poisson < 0.5, "a bad material");
  expect(std::isfinite(model.young) && model.young >= 0, "a bad modulus");
  expect(model.poisson > -1 && model.poisson < 0.5, "a bad Poisson's ratio");
}

/// Reads the file at `path`; false where the reader refused it.
using ReaderTarget = bool (*)(const std::string& path);

template<class Read>
bool accepts(const Read& read) {
  try {
    read();
    return true;
  } catch (const ossatura::InputError&) {
    return false;
  } catch (const ossatura::BackendError&) { // more than fits in memory
    return false;
  }
}

inline bool parosol_target(const std::string& path) {
  ossatura::ParosolOptions options;
  options.trial = true; // defects of the HDF5 library are not ours to find
  return accepts([&] { expect_valid(ossatura::read_parosol(path, options)); });
}
inline bool itk_target(const std::string& path) {
  ossatura::ItkImageOptions options;
  options.trial = true; // likewise
  return accepts([&] { expect_valid(ossatura::read_itk_hdf5(path, options)); });
}
/// The message of the error that `read` throws; empty where it throws none.
template<class Read>
std::string refusal_by(const Read& read) {
  std::string message;
  accepts([&] {
    try {
      read();
    } catch (const std::runtime_error& error) {
      message = error.what();
      throw;
    }
  });
  return message;
}
/// Of a reader of images, `read(planes)`. Those of the lower and the upper planes must have what
/// one of all has, or the first of them that refuses the file must say what that says.
template<class Read>
bool accepts_planes(const Read& read) {
  std::vector<float> all, parts;
  const std::string refusal = refusal_by([&] {
    const ossatura::VoxelImage image = read(ossatura::ChoosePlanes());
    expect_valid(image);
    all = image.value;
  });
  std::string refusal_of_part;
  for (const bool upper : {false, true})
    if (refusal_of_part.empty())
      refusal_of_part = refusal_by([&] {
        const ossatura::VoxelImage part = read([&](int num_planes) {
          return upper ? ossatura::ImagePlanes{num_planes / 2, num_planes}
                       : ossatura::ImagePlanes{0, num_planes / 2};
        });
        parts.insert(parts.end(), part.value.begin(), part.value.end());
      });
  if (refusal_of_part != refusal || (refusal.empty() && parts != all))
    throw std::logic_error("readers of planes say \"" + refusal_of_part + "\", of all \"" +
                           refusal + "\", or have other values");
  return refusal.empty();
}
inline bool metaimage_target(const std::string& path) {
  return accepts_planes([&](const auto& planes) { return ossatura::read_metaimage(path, planes); });
}
inline bool nifti_target(const std::string& path) {
  return accepts_planes([&](const auto& planes) { return ossatura::read_nifti(path, planes); });
}
inline bool nrrd_target(const std::string& path) {
  return accepts_planes([&](const auto& planes) { return ossatura::read_nrrd(path, planes); });
}
inline bool scanco_target(const std::string& path) {
  return accepts_planes([&](const auto& planes) { return ossatura::read_scanco(path, planes); });
}
inline bool surface_target(const std::string& path) {
  return accepts([&] { expect_valid(ossatura::read_surface(path)); });
}
inline bool format_target(const std::string& path) {
  return accepts([&] { ossatura::guess_format(path); });
}
/// 3 x 2 x 2 big-endian floats behind four bytes.
inline bool raw_target(const std::string& path) {
  return accepts_planes([&](const auto& planes) {
    ossatura::RawImageOptions options;
    options.shape = {3, 2, 2};
    options.type = ossatura::SampleType::f32;
    options.order = ossatura::ByteOrder::big;
    options.header_bytes = 4;
    options.planes = planes;
    return ossatura::read_raw_image(path, options);
  });
}

/// The three files of openCARP in one, as packed().
inline bool opencarp_target(const std::string& path) {
  const OpencarpFiles files = unpacked(read_bytes_of(path));
  const std::string dot = path + (files.binary ? ".b" : ".");
  files.write(path);
  const bool accepted = accepts([&] { expect_valid(ossatura::read_tetra_mesh(dot + "pts")); });
  for (const char* extension : {"pts", "elem", "lon"})
    std::filesystem::remove(dot + extension);
  return accepted;
}
inline bool gmsh_target(const std::string& path) {
  return accepts([&] { expect_valid(ossatura::read_gmsh(path, 1)); });
}
inline bool vtk_legacy_target(const std::string& path) {
  return accepts([&] { expect_valid(ossatura::read_vtk_legacy(path, {}, 1)); });
}
inline bool vtu_target(const std::string& path) {
  return accepts([&] { expect_valid(ossatura::read_vtu(path, {}, 1)); });
}
/// Elements of soft bodies in any of the formats, told by the first byte.
inline bool elements_target(const std::string& path) {
  return accepts([&] {
    const Bytes head = read_bytes_of(path).substr(0, 1);
    if (head == "$")
      return expect_valid(ossatura::read_gmsh_elements(path, {}));
    ossatura::VtkGrid grid =
        head == "#" ? ossatura::read_vtk_legacy_grid(path) : ossatura::read_vtu_grid(path);
    expect_valid(ossatura::make_element_file(grid, {}));
  });
}
/// Models of hexahedra in any of the formats, told by the first byte.
inline bool models_target(const std::string& path) {
  return accepts([&] {
    const Bytes head = read_bytes_of(path).substr(0, 1);
    std::shared_ptr<const ossatura::HexaMap> map;
    const ossatura::HexaFile file = head == "*"   ? ossatura::read_abaqus(path, 1)
                                    : head == "$" ? ossatura::read_gmsh_curved_hexa(path, 1, map)
                                                  : ossatura::read_ansys(path, 1);
    expect_valid(file);
    for (std::size_t elem = 0; map != nullptr && elem < file.model.mesh.num_elem(); ++elem) {
      double x[3], jacobian[9];
      map->evaluate(std::int64_t(elem), {0.5, -0.5, 1}, x, jacobian);
      for (const double component : x)
        expect(std::isfinite(component), "a map that is not finite");
    }
  });
}
/// For an image of 2 x 3 x 4 voxels.
inline bool nodal_list_target(const std::string& path) {
  return accepts([&] {
    const int shape[3] = {2, 3, 4};
    for (const ossatura::NodalValue& row : ossatura::read_nodal_list(path, {2, 3, 4})) {
      for (int axis = 0; axis < 3; ++axis)
        expect(row.node[axis] >= 0 && row.node[axis] <= shape[axis], "a node outside the lattice");
      expect(row.component >= 0 && row.component < 3, "a bad direction");
      expect(std::isfinite(row.value), "a value that is not finite");
    }
  });
}
/// Of a mesh of two tetrahedra.
inline bool cell_values_target(const std::string& path) {
  return accepts([&] {
    const std::vector<double> value = ossatura::read_cell_values(path, 2);
    expect(value.size() == 2 || value.size() == 4 || value.size() == 6, "parts of rows");
    for (const double x : value)
      expect(!std::isinf(x), "a value that is infinite");
  });
}
/// Of a mesh of five points.
inline bool vtx_target(const std::string& path) {
  return accepts([&] {
    const std::vector<std::int32_t> list = ossatura::read_vertex_list(path, 5);
    expect(!list.empty(), "an empty list");
    for (const std::int32_t v : list)
      expect(v >= 0 && v < 5, "a vertex out of range");
  });
}

} // namespace ossatura_test
