// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/vtk/vtkhdf_grid.hpp>

#include <ossatura/core/io/hdf5/parallel_read.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/io/text/trial_read.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace ossatura {
namespace {

constexpr const char* remedy =
    "a mesh is an unstructured grid of VTKHDF in one piece, as .hdf files of results are";

std::uint64_t rows_of(const Hdf5Dataset& dataset) {
  return dataset.shape().empty() ? 1 : dataset.shape()[0];
}

/// Calls use(T()) with the type of the file where threads read that; else returns false.
template<class Use>
bool with_type(const Hdf5Dataset& dataset, const Use& use) {
  const auto is = [&](auto type) {
    if (!dataset.holds<decltype(type)>())
      return false;
    use(type);
    return true;
  };
  return is(float()) || is(double()) || is(std::uint8_t()) || is(std::int32_t()) ||
         is(std::int64_t());
}

/// All values: float or double where the file has reals, else std::int64_t.
template<class To>
std::vector<To> read_values(const Hdf5Dataset& dataset) {
  dataset.require_numbers(std::is_integral_v<To>, remedy);
  std::vector<To> values;
  const auto take = [&](auto type) {
    using From = decltype(type);
    std::vector<From> read = read_rows_by_threads<From>(dataset, 0, rows_of(dataset));
    if constexpr (std::is_same_v<To, From>)
      values = std::move(read);
    else
      values.assign(read.begin(), read.end());
  };
  if (!with_type(dataset, take))
    values = dataset.read<To>(); // these are clamped to what To holds
  return values;
}

class VtkHdfReader {
public:
  explicit VtkHdfReader(const std::string& path)
      : path_(path)
      , root_(Hdf5File::open(path).root()) {}

  /// Has the library do all that may crash on a damaged file.
  void try_all() {
    const Hdf5Group grid = open_grid();
    for (const char* name : {"Points", "Connectivity", "Offsets", "Types"})
      try_values(grid.dataset(name));
    for (const auto& [name, data] : open_data(grid, "CellData"))
      try_values(*data);
    for (const auto& [name, data] : open_data(grid, "PointData", point_ghosts))
      try_values(*data);
  }

  VtkGrid read() {
    const Hdf5Group group = open_grid();
    VtkGrid grid;
    grid.path = path_;
    const std::uint64_t num_points = count(group, "NumberOfPoints"),
                        num_cells = count(group, "NumberOfCells");
    if (num_points == 0 || num_cells == 0)
      fail<InputError>(path_, ": has no points or no cells; save the mesh of a volume");
    const Hdf5Dataset points = group.dataset("Points"), offsets = group.dataset("Offsets");
    if (points.shape() != std::vector<std::uint64_t>{num_points, 3})
      fail<InputError>(points.where(), ": are not three coordinates of ", num_points, " points; ",
                       remedy);
    require_length(offsets, num_cells + 1);
    grid.point = read_values<double>(points);
    grid.offset = read_values<std::int64_t>(offsets);
    if (grid.offset.front() != 0)
      fail<InputError>(offsets.where(), ": the first is ", grid.offset.front(),
                       " and not 0: the file is damaged");
    const Hdf5Dataset connectivity = group.dataset("Connectivity"), types = group.dataset("Types");
    require_length(connectivity, count(group, "NumberOfConnectivityIds"));
    require_length(types, num_cells);
    grid.connectivity = read_values<std::int64_t>(connectivity);
    const std::vector<std::int64_t> type = read_values<std::int64_t>(types);
    grid.type.reserve(type.size());
    for (const std::int64_t number : type) // those of VTK have eight bits
      grid.type.push_back(number >= 0 && number < 256 ? std::int32_t(number) : -1);
    add_fields(group, grid);
    return grid;
  }

private:
  Hdf5Group open_grid() const {
    if (root_.has("Image_Data") && !root_.has("VTKHDF"))
      fail<InputError>(path_, ": is an image of ParOSol, whose name ends in .h5, and no mesh");
    if (!root_.has("VTKHDF"))
      fail<InputError>(path_, ": has no group VTKHDF; ", remedy);
    Hdf5Group grid = root_.group("VTKHDF");
    const std::string type = grid.has_attribute("Type") ? grid.text_attribute("Type") : "";
    if (type != "UnstructuredGrid")
      fail<InputError>(path_, ": /VTKHDF: Type is '", printable_word(type), "'; ", remedy);
    if (grid.has("CellData") && grid.group("CellData").has("element") &&
        grid.group("CellData").has("order")) // of ossatura pfem
      fail<InputError>(path_,
                       ": its cells are samples of elements, which share no points with those "
                       "of others; give the mesh that these were solved on");
    if (grid.has("Steps"))
      fail<InputError>(path_, ": has steps of time; save the mesh of one of them");
    return grid;
  }

  /// A number of the only piece.
  std::uint64_t count(const Hdf5Group& grid, const char* name) const {
    const Hdf5Dataset dataset = grid.dataset(name);
    dataset.require_numbers(true, remedy);
    if (dataset.size() > 1)
      fail<InputError>(path_,
                       ": the grid is in several pieces, which have points of their own where "
                       "they meet; make it one, for example by the filter Clean to Grid of "
                       "ParaView");
    const auto number = dataset.read_scalar<std::int64_t>(remedy);
    if (number < 0)
      fail<InputError>(dataset.where(), ": is ", number, ": the file is damaged");
    return std::uint64_t(number);
  }

  static void require_length(const Hdf5Dataset& dataset, std::uint64_t length) {
    if (dataset.shape() != std::vector<std::uint64_t>{length})
      fail<InputError>(dataset.where(), ": is no list of ", length, " numbers; ", remedy);
  }

  static void try_values(const Hdf5Dataset& dataset) {
    const std::uint64_t rows = rows_of(dataset);
    if (!with_type(dataset,
                   [&](auto type) { try_rows_by_threads<decltype(type)>(dataset, 0, rows); }) &&
        (dataset.kind() == Hdf5Dataset::Kind::integer || dataset.kind() == Hdf5Dataset::Kind::real))
      (void)dataset.read<double>();
  }

  /// Numbers by cell or point, all or those called `only`; texts, and data of more than two
  /// extents, are left out.
  static std::vector<std::pair<std::string, std::shared_ptr<const Hdf5Dataset>>>
  open_data(const Hdf5Group& grid, const char* of, const std::string& only = {}) {
    std::vector<std::pair<std::string, std::shared_ptr<const Hdf5Dataset>>> all;
    if (!grid.has(of))
      return all;
    const Hdf5Group data = grid.group(of);
    for (const std::string& name : data.names()) {
      if (!only.empty() && name != only)
        continue;
      auto one = std::make_shared<const Hdf5Dataset>(data.dataset(name));
      const bool is_number =
          one->kind() == Hdf5Dataset::Kind::integer || one->kind() == Hdf5Dataset::Kind::real;
      if (is_number && (one->shape().size() == 1 || one->shape().size() == 2))
        all.emplace_back(name, std::move(one));
    }
    return all;
  }

  template<class T>
  static void put_values(const Hdf5Dataset& dataset, SampleType type, VtkNumbers& numbers) {
    const std::vector<T> values = read_values<T>(dataset);
    const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
    numbers.type = type;
    numbers.count = values.size();
    numbers.decoded.assign(bytes, bytes + values.size() * sizeof(T));
    numbers.bytes = numbers.decoded.data();
  }

  static VtkField make_field(const std::string& name,
                             const std::shared_ptr<const Hdf5Dataset>& data) {
    const std::size_t row = data->shape().size() == 2 ? std::size_t(data->shape()[1]) : 1;
    return {name, row, [data] {
              VtkNumbers numbers;
              numbers.place = data->where();
              if (data->holds<float>())
                put_values<float>(*data, SampleType::f32, numbers);
              else if (data->kind() == Hdf5Dataset::Kind::real)
                put_values<double>(*data, SampleType::f64, numbers);
              else
                put_values<std::int64_t>(*data, SampleType::i64, numbers);
              return numbers;
            }};
  }

  static void add_fields(const Hdf5Group& group, VtkGrid& grid) {
    for (const auto& [name, data] : open_data(group, "CellData"))
      grid.cell_field.push_back(make_field(name, data));
    for (const auto& [name, data] : open_data(group, "PointData", point_ghosts))
      grid.point_ghosts = make_field(name, data);
    if (group.has("PointData"))
      grid.point_field = group.group("PointData").names();
  }

  static constexpr const char* point_ghosts = "vtkGhostType";

  std::string path_;
  Hdf5Group root_;
};

} // namespace

VtkGrid read_vtkhdf_grid(const std::string& path) {
  require_survivable_read(path, [&] { VtkHdfReader(path).try_all(); });
  return VtkHdfReader(path).read();
}

} // namespace ossatura
