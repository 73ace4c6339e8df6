// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/parosol/output.hpp>

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

/// The file to write: a copy of what is there, or a new one.
Hdf5File open_output(const AtomicFile& output) {
  const std::string& path = output.path();
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Hdf5File::create(output.temporary_path(), path);
  ParosolWriter::require_target(path);
  std::filesystem::copy_file(path, output.temporary_path(),
                             std::filesystem::copy_options::overwrite_existing, error);
  if (error)
    fail<InputError>(path, ": cannot be copied to a temporary file: ", error.message());
  return Hdf5File::open_to_change(output.temporary_path(), path);
}

} // namespace

void ParosolWriter::require_target(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error))
    Hdf5File::open(path); // an intact one, or an error that says what it is
}

ParosolWriter::ParosolWriter(const std::string& path, std::uint64_t num_nodes,
                             std::uint64_t num_elem, Hdf5Compression compression)
    : output_(path)
    , file_(open_output(output_))
    , num_nodes_(num_nodes)
    , num_elem_(num_elem) {
  OSSATURA_REQUIRE(num_nodes < std::uint64_t(std::numeric_limits<std::int32_t>::max()),
                   num_nodes << " nodes do not fit the 32-bit numbers of ParOSol");
  layout_.gzip = deflate_level(compression);
  for (const char* name : {"Mesh", "Solution", "run"})
    file_.root().remove(name);
  mesh_ = file_.root().create_group("Mesh");
  solution_ = file_.root().create_group("Solution");
}

template<class T>
Hdf5Field ParosolWriter::field(std::optional<Hdf5Group>& group, const char* name,
                               std::uint64_t rows, std::uint64_t columns) {
  return {group->create<T>(name, {rows, columns}, layout_), shared_};
}

Hdf5Field ParosolWriter::coordinates() {
  return field<double>(mesh_, "Coordinates", num_nodes_, 3);
}

Hdf5Field ParosolWriter::elements() {
  return field<std::int32_t>(mesh_, "Elements", num_elem_, 8);
}

Hdf5Field ParosolWriter::material_ids() {
  return field<std::int32_t>(mesh_, "Material IDs", num_elem_, 1);
}

std::int32_t ParosolWriter::material_id(double modulus) {
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  return modulus >= 0 ? std::int32_t(std::min(modulus, most)) : 0; // NaN: 0
}

Hdf5Field ParosolWriter::nodal(const char* name) {
  return field<double>(solution_, name, num_nodes_, 3);
}

Hdf5Field ParosolWriter::elemental(const char* name, std::uint64_t components) {
  return field<double>(solution_, name, num_elem_, components);
}

void ParosolWriter::set_run(const std::vector<std::pair<std::string, std::string>>& facts) {
  Hdf5Group run = file_.root().create_group("run");
  for (const auto& [key, value] : facts)
    run.set_attribute(key, key == "status" && !shared_->all_finite ? status_not_finite : value);
}

void ParosolWriter::commit() {
  shared_->pending.write();
  solution_.reset();
  mesh_.reset();
  file_.close();
  output_.commit();
}

void write_parosol_output(const std::string& path, const ParosolSolution& solution,
                          const std::vector<std::pair<std::string, std::string>>& run,
                          Hdf5Compression compression) {
  const ParosolSolution& s = solution;
  const std::size_t n = s.coordinates.size / 3, m = s.elements.size / 8;
  check(s, n, m);
  ParosolWriter file(path, n, m, compression);
  file.coordinates().append(s.coordinates);
  file.elements().append_made<std::int32_t>(
      m, [&](std::uint64_t first, std::uint64_t count, std::int32_t* to) {
        for (std::size_t i = 0; i < 8 * std::size_t(count); ++i)
          to[i] = s.elements.data[8 * std::size_t(first) + i] + 1;
      });
  file.material_ids().append_made<std::int32_t>(
      m, [&](std::uint64_t first, std::uint64_t count, std::int32_t* to) {
        for (std::size_t i = 0; i < std::size_t(count); ++i)
          to[i] = ParosolWriter::material_id(s.modulus.data[std::size_t(first) + i]);
      });
  file.nodal("Nodal displacements").append(s.displacements);
  file.nodal("Nodal forces").append(s.forces);
  const auto write = [&](const char* name, ConstSpan<double> values, std::uint64_t components) {
    if (values.size > 0)
      file.elemental(name, components).append(values);
  };
  write("SED", s.strain_energy, 1);
  write("VonMises", s.von_mises, 1);
  write("EFF", s.effective_strain, 1);
  write("Element strain", s.strain, 6);
  write("Element stress", s.stress, 6);
  if (!run.empty())
    file.set_run(run);
  file.commit();
}

} // namespace ossatura
