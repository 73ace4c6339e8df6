// SPDX-License-Identifier: Apache-2.0
// An ElementCollector makes the mesh of a soft body from the elements of a file of any format. The
// collector keeps the elements of the highest dimension and checks them.
#pragma once

#include <ossatura/core/io/mesh/element_file.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// A kind of element as the format knows it.
struct ElementKind {
  int dimension;
  int number;       ///< of the format
  const char* name; ///< likewise
  std::optional<ElementShape> shape;
};

class ElementCollector {
public:
  /// Where an element stands, for messages ("body.vtk: line 12: cell 3"), by the place it was added
  /// with, which is any number.
  using Describe = std::function<std::string(std::size_t place)>;

  ElementCollector(std::string path, const ElementFileOptions& options, Describe describe)
      : path_(std::move(path))
      , taken_(options.taken)
      , describe_(std::move(describe)) {}

  /// `node` [nodes_per_elem] in the order of ElementShape, entries those of the points; not read
  /// for kinds without a shape. Throws InputError for volume elements without a shape, and for
  /// those of two shapes.
  void add(const ElementKind& kind, const std::int64_t* node, std::size_t place);

  /// The mesh of what was added: turned where it is inside out, without the points [num, 3] that no
  /// element has. Throws InputError where there are no elements or bad ones.
  ElementFile finish(std::vector<double>&& point);

private:
  std::string path_;
  const char* taken_; ///< of ElementFileOptions
  Describe describe_;
  int dimension_ = -1; ///< the highest of those added
  std::optional<ElementShape> shape_;
  std::vector<std::int32_t> node_;
  std::vector<std::size_t> place_;
  std::optional<ElementKind> other_; ///< the first without a shape of that dimension
  std::size_t place_of_other_ = 0;
};

} // namespace ossatura
