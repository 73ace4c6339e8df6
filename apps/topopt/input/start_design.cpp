// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/input/start_design.hpp"

#include "apps/driver/problem/library_message.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/hdf5/file.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

constexpr const char* remedy = "give a .hdf file that topopt has written";

Hdf5Group open_design(const Hdf5File& file, const std::string& path) {
  const Hdf5Group root = file.root();
  if (root.has("VTKHDF")) {
    Hdf5Group mesh = root.group("VTKHDF");
    if (mesh.has("CellData") && mesh.group("CellData").has("density"))
      return mesh;
  }
  fail<InputError>(path, ": has no densities with the places of their elements",
                   root.has("x") ? ", as it is a checkpoint, from which its own run goes on "
                                   "(--resume)"
                                 : "",
                   ": ", remedy);
}

template<class T>
std::vector<T> read_numbers(const Hdf5Group& group, const char* name, int rank) {
  const Hdf5Dataset dataset = group.dataset(name);
  dataset.require_rank(rank, remedy);
  dataset.require_numbers(std::is_integral_v<T>, remedy);
  return dataset.read<T>();
}

} // namespace

PlacedDensities read_start_design(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Group mesh = open_design(file, path);
  const std::vector<double> point = read_numbers<double>(mesh, "Points", 2);
  const std::vector<std::int64_t> node = read_numbers<std::int64_t>(mesh, "Connectivity", 1);
  const std::vector<std::int64_t> begin = read_numbers<std::int64_t>(mesh, "Offsets", 1);
  const Hdf5Group cells = mesh.group("CellData");
  const std::string name = cells.has("variable") ? "variable" : "density";
  std::vector<double> density = read_numbers<double>(cells, name.c_str(), 1);
  // An element reaches from its centre to its nodes: none that is used is far off.
  if (point.size() % 3 != 0 ||
      std::any_of(point.begin(), point.end(), [](double x) { return !(std::fabs(x) < 1e100); }))
    fail<InputError>(path, ": /VTKHDF/Points: expected three finite coordinates in a row; ",
                     remedy);
  constexpr double slack = 1e-3; // of filters that overshoot, as of overhang
  for (std::size_t e = 0; e < density.size(); ++e) {
    if (!(density[e] >= -slack && density[e] <= 1 + slack))
      fail<InputError>(path, ": /VTKHDF/CellData/", name, ": element ", e, " has ", density[e],
                       "; expected a density from 0 to 1");
    density[e] = std::clamp(density[e], 0.0, 1.0);
  }
  try {
    return place_densities(point, begin, node, std::move(density));
  } catch (const std::invalid_argument& error) {
    fail<InputError>(path, ": /VTKHDF: ", library_message(error), ": ", remedy);
  }
}

} // namespace ossatura
