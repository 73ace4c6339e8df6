// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/vtkhdf.hpp>

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <type_traits>

namespace ossatura {
namespace {

VtkCell vtk_cell(ElementShape shape) {
  return shape == ElementShape::triangle ? VtkCell::triangle
         : shape == ElementShape::tetra  ? VtkCell::tetra
                                         : VtkCell::hexahedron;
}

VtkCell vtk_cell(SolidKind kind) {
  switch (kind) {
  case SolidKind::tetra4:
    return VtkCell::tetra;
  case SolidKind::tetra10:
    return VtkCell::quadratic_tetra;
  case SolidKind::prism6:
    return VtkCell::wedge;
  case SolidKind::prism15:
    return VtkCell::quadratic_wedge;
  case SolidKind::hexa8:
    return VtkCell::hexahedron;
  default:
    return VtkCell::quadratic_hexahedron;
  }
}

/// Which node of a prism is where VTK's wedge, whose triangles turn the other way, has one.
constexpr std::size_t wedge_node[15] = {0, 2, 1, 3, 5, 4, 8, 7, 6, 11, 10, 9, 12, 14, 13};

} // namespace

VtkHdfWriter::VtkHdfWriter(const std::string& path, Hdf5Compression compression, VtkHdfKept* kept)
    : output_(path)
    , file_(Hdf5File::create(output_.temporary_path(), path))
    , kept_(kept) {
  layout_.gzip = deflate_level(compression);
}

void VtkHdfWriter::begin_mesh(std::uint64_t num_points, const std::vector<VtkCellRun>& runs) {
  OSSATURA_REQUIRE(!vtk_, output_.path() << ": the mesh is set already");
  vtk_ = file_.root().create_group("VTKHDF");
  vtk_->set_attribute("Version", std::vector<std::int64_t>{1, 0});
  vtk_->set_attribute("Type", std::string("UnstructuredGrid"));
  point_data_ = vtk_->create_group("PointData");
  cell_data_ = vtk_->create_group("CellData");
  vtk_->create_group("FieldData");
  num_points_ = num_points;
  for (const VtkCellRun& run : runs) {
    num_cells_ += run.num_cells;
    num_corners_ += num_corners(run.cell) * run.num_cells;
  }
  const auto count = [&](const char* name, std::uint64_t value) {
    const std::int64_t number = std::int64_t(value);
    vtk_->write(name, {1}, &number); // one entry per partition
  };
  count("NumberOfPoints", num_points);
  count("NumberOfCells", num_cells_);
  count("NumberOfConnectivityIds", num_corners_);

  struct Run {
    std::uint64_t first_cell, corners_before;
    VtkCell cell;
  };
  std::vector<Run> places;
  std::uint64_t cells = 0, corners = 0;
  for (const VtkCellRun& run : runs) {
    places.push_back({cells, corners, run.cell});
    cells += run.num_cells;
    corners += num_corners(run.cell) * run.num_cells;
  }
  if (places.empty()) // there is an offset all the same
    places.push_back({0, 0, VtkCell::tetra});
  /// Calls take(i, run) for cells first to first + count; the end of all is in the last run.
  const auto for_cells = [&](std::uint64_t first, std::uint64_t count, const auto& take) {
    std::size_t run = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      while (run + 1 < places.size() && places[run + 1].first_cell <= first + i)
        ++run;
      take(i, places[run]);
    }
  };
  const auto make_offsets = [&](std::uint64_t first, std::uint64_t count, auto* offset) {
    using Index = std::remove_reference_t<decltype(*offset)>;
    for_cells(first, count, [&](std::uint64_t i, const Run& run) {
      offset[i] = Index(run.corners_before + num_corners(run.cell) * (first + i - run.first_cell));
    });
  };
  const auto make_types = [&](std::uint64_t first, std::uint64_t count, std::uint8_t* type) {
    for_cells(first, count,
              [&](std::uint64_t i, const Run& run) { type[i] = std::uint8_t(run.cell); });
  };
  index_field("Offsets", num_cells_ + 1).append_kept(kept("Offsets"), [&](Hdf5Field& field) {
    field.append_indices(num_cells_ + 1, make_offsets);
  });
  Hdf5Field(vtk_->create<std::uint8_t>("Types", {num_cells_}, layout_), shared_)
      .append_kept(kept("Types"), [&](Hdf5Field& field) {
        field.append_made<std::uint8_t>(num_cells_, make_types);
      });
}

void VtkHdfWriter::set_elements(const std::vector<const ElementMesh*>& meshes,
                                ConstSpan<double> points) {
  std::vector<VtkCellRun> runs;
  std::size_t num_points = 0;
  for (const ElementMesh* mesh : meshes) {
    runs.push_back({vtk_cell(mesh->shape), mesh->num_elem()});
    num_points += mesh->num_points();
  }
  OSSATURA_REQUIRE(points.size == 3 * num_points, output_.path()
                                                      << ": " << points.size << " coordinates for "
                                                      << num_points << " points");
  begin_mesh(num_points, runs);
  points_field<double>().append(points);
  Hdf5Field connectivity = connectivity_field(), object = cell_field<std::int32_t>("object");
  connectivity.append_kept(kept("Connectivity"), [&](Hdf5Field& field) {
    std::int64_t before = 0; // points
    for (const ElementMesh* mesh : meshes) {
      std::vector<std::int64_t> corner(mesh->node.begin(), mesh->node.end());
      for (std::int64_t& node : corner)
        node += before;
      field.append(corner);
      before += std::int64_t(mesh->num_points());
    }
  });
  object.append_kept(kept("object"), [&](Hdf5Field& field) {
    std::int32_t number = 0;
    for (const ElementMesh* mesh : meshes)
      field.append(std::vector<std::int32_t>(mesh->num_elem(), number++));
  });
}

void VtkHdfWriter::set_solids(const SolidMesh& mesh) {
  std::vector<VtkCellRun> runs;
  for (const SolidKind kind : mesh.kind) {
    if (runs.empty() || runs.back().cell != vtk_cell(kind))
      runs.push_back({vtk_cell(kind), 0});
    ++runs.back().num_cells;
  }
  begin_mesh(mesh.num_points(), runs);
  points_field<double>().append_kept(kept("Points"),
                                     [&](Hdf5Field& field) { field.append(mesh.point); });
  connectivity_field().append_kept(kept("Connectivity"), [&](Hdf5Field& field) {
    std::vector<std::int64_t> corner;
    corner.reserve(mesh.node.size());
    for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
      const NodeRange nodes = mesh.nodes_of(e);
      const bool wedge = shape_of(mesh.kind[e]).num_corners == 6;
      for (std::size_t a = 0; a < nodes.size(); ++a)
        corner.push_back(nodes[wedge ? wedge_node[a] : a]);
    }
    field.append(corner);
  });
  constant_cell_data<std::uint8_t>("element_kind", [&] {
    std::vector<std::uint8_t> kind;
    for (const SolidKind one : mesh.kind)
      kind.push_back(std::uint8_t(one));
    return kind;
  });
}

Hdf5Field VtkHdfWriter::connectivity_field() {
  return index_field("Connectivity", num_corners_); // flat: a row is one number
}

Hdf5Field VtkHdfWriter::index_field(const std::string& name, std::uint64_t count) {
  return has_narrow_indices(num_corners_)
             ? Hdf5Field(open_data(vtk_, name, {count}, hdf5_native_type<std::int32_t>(),
                                   sizeof(std::int32_t)),
                         shared_)
             : Hdf5Field(open_data(vtk_, name, {count}, hdf5_native_type<std::int64_t>(),
                                   sizeof(std::int64_t)),
                         shared_);
}

std::vector<std::uint64_t> VtkHdfWriter::point_shape(int components) const {
  OSSATURA_REQUIRE(components > 0, components << " components");
  std::vector<std::uint64_t> shape{num_points_};
  if (components > 1)
    shape.push_back(std::uint64_t(components));
  return shape;
}

std::vector<std::uint64_t> VtkHdfWriter::cell_shape(int components) const {
  OSSATURA_REQUIRE(components > 0, components << " components");
  std::vector<std::uint64_t> shape{num_cells_};
  if (components > 1)
    shape.push_back(std::uint64_t(components));
  return shape;
}

Hdf5Dataset VtkHdfWriter::open_data(std::optional<Hdf5Group>& group, const std::string& name,
                                    const std::vector<std::uint64_t>& shape, hid_t type,
                                    std::size_t bytes) {
  OSSATURA_REQUIRE(group, output_.path() << ": set the mesh before fields");
  OSSATURA_REQUIRE(!name.empty() && name.find('/') == std::string::npos,
                   "'" << name << "' is not the name of a field");
  return group->create_of_type(name, type, bytes, shape, layout_);
}

void VtkHdfWriter::set_run(const std::string& key, const std::string& value) {
  if (!run_)
    run_ = file_.root().create_group("run");
  run_->set_attribute(key, key == "status" && !shared_->all_finite ? status_not_finite : value);
}

void VtkHdfWriter::set_run(const std::vector<std::pair<std::string, std::string>>& facts) {
  for (const auto& [key, value] : facts)
    set_run(key, value);
}

void VtkHdfWriter::commit() {
  OSSATURA_REQUIRE(vtk_, output_.path() << ": there is no mesh to write");
  shared_->pending.write();
  run_.reset();
  cell_data_.reset();
  point_data_.reset();
  vtk_.reset();
  file_.close();
  output_.commit();
}

void write_vtk_series(const std::string& path, const std::vector<VtkSeriesStep>& steps) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    text << (i == 0 ? "\n" : ",\n") << "    {\"name\": \"";
    for (const char c : steps[i].file) {
      OSSATURA_REQUIRE(static_cast<unsigned char>(c) >= 32,
                       "a file name in a series holds a control character");
      text << (c == '"' || c == '\\' ? "\\" : "") << c;
    }
    text << "\", \"time\": " << std::setprecision(17) << steps[i].time << "}";
  }
  text << "\n  ]\n}\n";
  write_file(path, text.str());
}

} // namespace ossatura
