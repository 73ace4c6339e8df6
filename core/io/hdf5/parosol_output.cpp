// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/parosol_output.hpp>

#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/hdf5/row_writer.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/io/text/finite_values.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace ossatura {
namespace {

void check(const ParosolSolution& s, std::size_t n, std::size_t m) {
  OSSATURA_REQUIRE(s.coordinates.size == 3 * n && s.elements.size == 8 * m,
                   "coordinates and elements need whole rows of 3 and 8");
  OSSATURA_REQUIRE(n < std::size_t(std::numeric_limits<std::int32_t>::max()),
                   n << " nodes do not fit the 32-bit numbers of ParOSol");
  OSSATURA_REQUIRE(s.modulus.size == m, s.modulus.size << " moduli for " << m << " elements");
  for (const ConstSpan<double>* field : {&s.displacements, &s.forces})
    OSSATURA_REQUIRE(field->size == 3 * n, field->size << " nodal values for " << n << " nodes");
  for (const ConstSpan<double>* field : {&s.strain_energy, &s.von_mises, &s.effective_strain})
    OSSATURA_REQUIRE(field->size == m || field->size == 0,
                     field->size << " element values for " << m << " elements");
  for (const ConstSpan<double>* field : {&s.strain, &s.stress})
    OSSATURA_REQUIRE(field->size == 6 * m || field->size == 0,
                     field->size << " tensor components for " << m << " elements");
  for (std::size_t i = 0; i < s.elements.size; ++i)
    OSSATURA_REQUIRE(s.elements.data[i] >= 0 && std::size_t(s.elements.data[i]) < n,
                     "element " << i / 8 << " names node " << s.elements.data[i] << " of " << n);
}

/// Writes `convert(i)` for i in [0, rows * columns) as int32 [rows, columns].
template<class Convert>
void write_integers(Hdf5Group& group, const char* name, std::size_t rows, std::size_t columns,
                    const Hdf5Layout& layout, const Convert& convert) {
  Hdf5RowWriter(group.create<std::int32_t>(name, {rows, columns}, layout))
      .append_made<std::int32_t>(rows,
                                 [&](std::uint64_t first, std::uint64_t count, std::int32_t* to) {
                                   for (std::size_t i = 0; i < std::size_t(count) * columns; ++i)
                                     to[i] = convert(std::size_t(first) * columns + i);
                                 });
}

void write_field(Hdf5Group& group, const char* name, ConstSpan<double> values, std::size_t columns,
                 const Hdf5Layout& layout) {
  const std::size_t rows = values.size / columns;
  if (rows > 0)
    Hdf5RowWriter(group.create<double>(name, {rows, columns}, layout)).append(values.data, rows);
}

bool is_finite(const ParosolSolution& s) {
  const ConstSpan<double>* const fields[] = {
      &s.coordinates, &s.modulus,          &s.displacements, &s.forces, &s.strain_energy,
      &s.von_mises,   &s.effective_strain, &s.strain,        &s.stress};
  return std::all_of(std::begin(fields), std::end(fields),
                     [](const ConstSpan<double>* field) { return are_finite(*field); });
}

void write_groups(Hdf5Group root, const ParosolSolution& s,
                  const std::vector<std::pair<std::string, std::string>>& run,
                  Hdf5Compression compression) {
  Hdf5Layout layout;
  layout.gzip = deflate_level(compression);
  for (const char* name : {"Mesh", "Solution", "run"})
    root.remove(name);
  const std::size_t m = s.elements.size / 8;
  Hdf5Group mesh = root.create_group("Mesh");
  write_field(mesh, "Coordinates", s.coordinates, 3, layout);
  write_integers(mesh, "Elements", m, 8, layout,
                 [&](std::size_t i) { return s.elements.data[i] + 1; });
  write_integers(mesh, "Material IDs", m, 1, layout, [&](std::size_t i) {
    return std::int32_t(std::clamp(s.modulus.data[i], 0., double(std::int32_t(2147483647))));
  });
  Hdf5Group solution = root.create_group("Solution");
  write_field(solution, "Nodal displacements", s.displacements, 3, layout);
  write_field(solution, "Nodal forces", s.forces, 3, layout);
  write_field(solution, "SED", s.strain_energy, 1, layout);
  write_field(solution, "VonMises", s.von_mises, 1, layout);
  write_field(solution, "EFF", s.effective_strain, 1, layout);
  write_field(solution, "Element strain", s.strain, 6, layout);
  write_field(solution, "Element stress", s.stress, 6, layout);
  const bool finite = is_finite(s);
  if (!finite)
    warn_not_finite(solution.where());
  if (!run.empty()) {
    Hdf5Group facts = root.create_group("run");
    for (const auto& [key, value] : run)
      facts.set_attribute(key, key == "status" && !finite ? status_not_finite : value);
  }
}

} // namespace

void write_parosol_output(const std::string& path, const ParosolSolution& solution,
                          const std::vector<std::pair<std::string, std::string>>& run,
                          Hdf5Compression compression) {
  check(solution, solution.coordinates.size / 3, solution.elements.size / 8);
  AtomicFile output(path);
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    Hdf5File::open(path); // an intact HDF5 file, or an error that says what it is
    std::filesystem::copy_file(path, output.temporary_path(),
                               std::filesystem::copy_options::overwrite_existing, error);
    if (error)
      fail<InputError>(path, ": cannot be copied to a temporary file: ", error.message());
    Hdf5File file = Hdf5File::open_to_change(output.temporary_path(), path);
    write_groups(file.root(), solution, run, compression);
    file.close();
  } else {
    Hdf5File file = Hdf5File::create(output.temporary_path(), path);
    write_groups(file.root(), solution, run, compression);
    file.close();
  }
  output.commit();
}

} // namespace ossatura
