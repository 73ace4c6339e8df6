// SPDX-License-Identifier: Apache-2.0
// These functions find which elements of a mesh belong together: those in a column along an axis,
// and those that are images of each other. Elements are points with sizes. Host memory.
#pragma once

#include <ossatura/solvers/topopt/problem.hpp>
#include <ossatura/solvers/topopt/process/options.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ossatura {

struct ElementPoints {
  std::vector<double> centre; ///< [num_elem, 3] m
  std::vector<double> size;   ///< [num_elem] m, such as the cube root of the volume

  std::size_t num_elem() const { return size.size(); }
};

/// Lists of elements; list g has the members begin[g] .. begin[g + 1], ascending.
struct ElementLists {
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> member;
};

/// Throws std::invalid_argument, with the element, unless all elements of a mesh are swept along
/// `axis`: each corner is straight above or below one other corner, to 0.02 of the size.
void require_swept(const DesignProblem& problem, const ElementPoints& points, int axis);

/// The number of the column along `axis` of each element: their centres are in the same place
/// across it, to 0.02 of their sizes. Throws std::invalid_argument, with two elements, where a mesh
/// has no columns: where centres are beside each other by less than 0.2 of a size.
std::vector<std::int32_t> find_columns(const ElementPoints& points, int axis);

/// A map of places that keeps distances.
using PlaceMap = std::function<std::array<double, 3>(const std::array<double, 3>&)>;

/// The element at the image of each element, of the same size to a tenth and with its centre there
/// to 0.05 of it. Throws std::invalid_argument with an element that has none, and `what` the map
/// is.
std::vector<std::int32_t> find_images(const ElementPoints& points, const PlaceMap& map,
                                      const std::string& what);

/// Groups of two or more elements that a process links, in the order of their first members;
/// `column` is of each element, or empty: columns link nothing. Throws as find_images.
ElementLists link_elements(const ElementPoints& points, const DesignProcess& process,
                           const std::vector<std::int32_t>& column);

} // namespace ossatura
