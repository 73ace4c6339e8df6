// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/mesh/element_collector.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/mesh/duplicate_elements.hpp>
#include <ossatura/core/mesh/element_check.hpp>

namespace ossatura {
namespace {

/// Removes the points that no element has; returns their number.
std::int64_t drop_unused_points(ElementMesh& mesh) {
  constexpr std::int32_t unused = -1;
  std::vector<std::int32_t> number(mesh.num_points(), unused);
  for (const std::int32_t n : mesh.node)
    number[std::size_t(n)] = 0;
  std::size_t count = 0;
  for (std::size_t p = 0; p < number.size(); ++p) {
    if (number[p] == unused)
      continue;
    number[p] = std::int32_t(count);
    for (std::size_t axis = 0; axis < 3; ++axis)
      mesh.point[3 * count + axis] = mesh.point[3 * p + axis];
    ++count;
  }
  for (std::int32_t& n : mesh.node)
    n = number[std::size_t(n)];
  mesh.point.resize(3 * count);
  return std::int64_t(number.size() - count);
}

const char* plural(ElementShape shape) {
  return shape == ElementShape::triangle ? "triangles"
         : shape == ElementShape::tetra  ? "tetrahedra"
                                         : "hexahedra";
}

} // namespace

void ElementCollector::add(const ElementKind& kind, const std::int64_t* node, std::size_t place) {
  if (kind.dimension < dimension_)
    return;
  if (kind.dimension > dimension_) {
    dimension_ = kind.dimension;
    shape_.reset();
    node_.clear();
    place_.clear();
    other_.reset();
  }
  if (!kind.shape) {
    if (kind.dimension == 3)
      fail<InputError>(describe_(place), " is of type ", kind.number, ", ", kind.name, ": ",
                       taken_ != nullptr
                           ? taken_
                           : "of volume elements, tetrahedra and hexahedra of first order are "
                             "solved; mesh with these");
    if (!other_) {
      other_ = kind;
      place_of_other_ = place;
    }
    return;
  }
  if (shape_ && *shape_ != *kind.shape)
    fail<InputError>(describe_(place), " is one of the ", plural(*kind.shape),
                     ", those before are ", plural(*shape_),
                     "; a mesh has one shape: save them to files of their own");
  shape_ = kind.shape;
  node_.insert(node_.end(), node, node + nodes_per_elem(*kind.shape));
  place_.push_back(place);
}

ElementFile ElementCollector::finish(std::vector<double>&& point) {
  if (dimension_ < 2)
    fail<InputError>(path_, ": has no tetrahedra, hexahedra or triangles; mesh the body");
  if (other_)
    fail<InputError>(describe_(place_of_other_), " is of type ", other_->number, ", ", other_->name,
                     ": of surface elements, triangles of first order are solved; mesh with these");
  ElementFile file;
  file.mesh.shape = *shape_;
  file.mesh.point = std::move(point);
  file.mesh.node = std::move(node_);
  if (const auto bad = turn_elements(file.mesh))
    fail<InputError>(describe_(place_[bad->first]), ": ", bad->second);
  if (const auto twice = find_duplicate_element(file.mesh.node, nodes_per_elem(file.mesh.shape)))
    fail<InputError>(describe_(place_[twice->second]), " has the same nodes as another (",
                     describe_(place_[twice->first]), ", number ", twice->first, " and number ",
                     twice->second, " of those read from 0)", duplicate_remedy);
  file.unused_points = drop_unused_points(file.mesh);
  return file;
}

} // namespace ossatura
