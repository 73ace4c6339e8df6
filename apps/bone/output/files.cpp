// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/files.hpp"

#include "apps/bone/output/field_mesh.hpp"
#include "apps/bone/output/rank_rows.hpp"

#include <ossatura/core/io/hdf5/vtkhdf.hpp>
#include <ossatura/core/io/image/world_frame.hpp>
#include <ossatura/core/io/parosol/output.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace ossatura {

namespace {

template<class Exec>
struct TakeNumbers {
  Array<int, Exec> node;
  Array<std::int64_t, Exec> number, taken;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { taken(i) = number(node(i)); }
};

template<class Exec>
struct ListCaps {
  VoxelGrid<Exec> grid;
  ForeignVoxels<Exec> foreign;
  Array<int, Exec> element;
  Array<std::uint8_t, Exec> cap;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const Site s = grid.site(element(e));
    cap(e) = std::uint8_t(foreign.at(s.x, s.y, s.z));
  }
};

/// Of each voxel of the fields 0, 1 for one of the lower cap, 2 of the upper, 3 of a pad.
template<class Exec>
Array<std::uint8_t, Exec> list_caps(const Exec& exec, const ForeignVoxels<Exec>& foreign,
                                    const BoneSolution<Exec>& solution) {
  const Array<int, Exec>& element = solution.fields.element;
  const auto cap = make_uninitialized<std::uint8_t>(exec, element.extent(0), "ossatura::bone::cap");
  Kokkos::parallel_for("ossatura::bone::list_caps", range(exec, element.extent(0)),
                       ListCaps<Exec>{solution.grid, foreign, element, cap});
  return cap;
}

template<class Exec>
struct ClearForeign {
  Array<std::uint8_t, Exec> foreign;
  Array<double, Exec> value;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    if (foreign(e) != 0)
      value(e) = 0;
  }
};

/// body(corners) with the corners of the voxels of the fields [8 num_elem], numbered among the
/// nodes of all ranks; 32-bit numbers where this process has all of them.
template<class Exec, class Body>
void with_corners(const Exec& exec, const VoxelProblem<Exec>& problem,
                  const BoneSolution<Exec>& solution, const Body& body) {
  const Array<int, Exec> corner = list_corners(exec, solution.grid, solution.fields.element);
  if (ranks_of(problem).size() == 1) {
    body(corner);
    return;
  }
  const auto number = global_numbers(exec, *problem.ranks, solution.grid);
  const auto taken =
      make_uninitialized<std::int64_t>(exec, corner.extent(0), "ossatura::bone::corners");
  Kokkos::parallel_for("ossatura::bone::number_corners", range(exec, corner.extent(0)),
                       TakeNumbers<Exec>{corner, number, taken});
  body(taken);
}

template<class Exec>
RankRows<Exec> rows_of_nodes(RankBlocks<Exec>& blocks, const BoneSolution<Exec>& solution) {
  return {blocks, std::uint64_t(solution.grid.owned.global_begin)};
}

/// By all ranks.
template<class Exec>
RankRows<Exec> rows_of_voxels(RankBlocks<Exec>& blocks, const BoneSolution<Exec>& solution) {
  const SharedEntries& voxels = solution.fields.elements;
  return {blocks, std::uint64_t(voxels.comm.scan_before(voxels.count()))};
}

/// `file` is the first rank's. Of a problem that is cut.
template<class Exec>
void write_cut_mesh(const Exec& exec, const LatticePlace& place, const VoxelProblem<Exec>& problem,
                    const BoneSolution<Exec>& solution, const RankRows<Exec>& nodes,
                    const RankRows<Exec>& cells, std::optional<VtkHdfWriter>& file) {
  const OwnedNodes& owned = solution.grid.owned;
  const SharedEntries& elements = solution.fields.elements;
  const std::int64_t num_elem = elements.comm.sum(elements.count());
  if (file)
    file->begin_mesh(std::uint64_t(owned.global_count), std::uint64_t(num_elem),
                     cell_of_voxel(place));
  append_converted<double>(
      nodes, owned_part(owned, list_sites(exec, solution.grid), 1), 1,
      [&] { return file->points_field<double>(); },
      [&](const std::uint64_t* sites, std::size_t first, std::size_t count, double* points) {
        place_sites(place, sites + first, count, points);
      });
  with_corners(exec, problem, solution, [&](const auto& corner) {
    using Corner = std::remove_reference_t<decltype(corner(0))>;
    append_blocks(
        RankRows<Exec>{cells.blocks, 8 * cells.first}, corner, 8,
        [&] { return file->connectivity_field(); },
        [&](auto& field, const Corner* corners, std::size_t voxels) {
          field.append_indices(8 * voxels, [&](std::uint64_t first, std::uint64_t count, auto* to) {
            order_cells(place, corners, std::size_t(first), std::size_t(count), to);
          });
        });
  });
}

/// The first rank's file with its mesh; `begun` is one of a problem that is not cut, or null.
template<class Exec>
std::optional<VtkHdfWriter>
write_mesh(const Exec& exec, const std::string& path, Hdf5Compression compression,
           const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
           const BoneSolution<Exec>& solution, const RankRows<Exec>& nodes,
           const RankRows<Exec>& cells, BegunFile* begun) {
  const TimedScope scope("ossatura::bone::write_mesh");
  if (begun != nullptr)
    return begun->take();
  const LatticePlace place = lattice_place(model);
  std::optional<VtkHdfWriter> file;
  if (cells.blocks.is_first())
    file.emplace(path, compression);
  if (ranks_of(problem).size() == 1)
    FieldMesh(exec, place, solution.grid, solution.fields.element).write_to(*file);
  else
    write_cut_mesh(exec, place, problem, solution, nodes, cells, file);
  return file;
}

void finish_file(VtkHdfWriter& file, const std::string& path, const std::string& status,
                 const DriverContext& context) {
  const TimedScope scope("ossatura::bone::flush");
  file.set_run(provenance_texts(context.provenance()));
  file.set_run("status", status);
  file.commit();
  log_info("wrote ", path);
}

} // namespace

template<class Exec>
Array<double, Exec> list_bone_densities(const Exec& exec, const BoneOptions& options,
                                        const BoneModel<Exec>& model,
                                        const BoneSolution<Exec>& solution) {
  const auto density = list_densities(exec, remodelling_law(options), solution.fields.element,
                                      solution.lame.mu_value);
  if (model.foreign)
    Kokkos::parallel_for("ossatura::bone::clear_foreign", range(exec, density.extent(0)),
                         ClearForeign<Exec>{list_caps(exec, *model.foreign, solution), density});
  return density;
}

namespace {

/// Moduli, if they are wanted, and the densities that remodelling made. `cells` makes their fields.
template<class Exec, class Cells>
void append_material(const Exec& exec, const BoneOptions& options, const BoneModel<Exec>& model,
                     bool wants_moduli, const BoneSolution<Exec>& solution,
                     const RankRows<Exec>& rows, const Cells& cells) {
  if (wants_moduli)
    append_values(rows, list_moduli(exec, solution.lame, solution.fields.element), 1,
                  cells(double(), "modulus", 1, "MPa"));
  if (options.remodelling.steps > 0)
    append_values(rows, list_bone_densities(exec, options, model, solution), 1,
                  cells(double(), "density", 1, "g/cm3"));
}

} // namespace

template<class Exec>
void write_fields(const Exec& exec, const std::string& path, const BoneOptions& options,
                  const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                  const BoneLoad<Exec>& load, const BoneSolution<Exec>& solution,
                  const std::string& status, const DriverContext& context, BegunFile* begun) {
  const TimedScope scope("ossatura::bone::write_fields");
  const auto wants = [&](const char* name) {
    return std::find(options.fields.begin(), options.fields.end(), name) != options.fields.end();
  };
  const bool turned = !is_identity(model.direction);
  const OwnedNodes& owned = solution.grid.owned;
  RankBlocks<Exec> blocks(exec, ranks_of(problem));
  const bool is_pushed = ranks_of(problem).any(load.force.extent(0) > 0);
  const RankRows<Exec> nodes = rows_of_nodes(blocks, solution),
                       elements = rows_of_voxels(blocks, solution);
  std::optional<VtkHdfWriter> file = write_mesh(exec, path, options.common.compress, model, problem,
                                                solution, nodes, elements, begun);
  const auto write_vectors = [&](const char* name, const Array<double, Exec>& values,
                                 const char* unit) {
    const auto make_field = [&] {
      Hdf5Field field = file->template point_field<double>(name, 3);
      field.set_unit(unit);
      return field;
    };
    const Array<double, Exec> own = owned_part(owned, values, 3);
    if (turned)
      append_converted<double>(
          nodes, own, 3, make_field,
          [&](const double* v, std::size_t first, std::size_t count, double* to) {
            turn_vectors(model.direction, v + 3 * first, count, to);
          });
    else
      append_values(nodes, own, 3, make_field);
  };
  if (wants("displacement"))
    write_vectors("displacement", solution.displacement, "mm");
  // With these the residual and the reactions can be computed from the file alone.
  append_values(nodes, owned_part(owned, problem.held.mask, 1), 1,
                [&] { return file->template point_field<std::uint8_t>("held"); });
  if (is_pushed)
    write_vectors("load", load.force, "N");
  const auto cells = [&](auto type, const char* name, int components, const char* unit) {
    return [&file, name, components, unit] {
      Hdf5Field field = file->template cell_field<decltype(type)>(name, components);
      field.set_unit(unit);
      return field;
    };
  };
  if (model.foreign)
    append_values(elements, list_caps(exec, *model.foreign, solution), 1,
                  [&] { return file->template cell_field<std::uint8_t>("cap"); });
  append_material(exec, options, model, wants("modulus"), solution, elements, cells);
  const auto write_cells = [&](const char* name, const Array<float, Exec>& values,
                               const char* unit) {
    if (wants(name))
      append_values(elements, values, 1, cells(float(), name, 1, unit));
  };
  const auto write_tensors = [&](const char* name, const Array<float, Exec>& values, double shear,
                                 const char* unit) {
    if (!wants(name))
      return;
    const auto make_field = cells(float(), name, 6, unit);
    if (turned)
      append_converted<float>(elements, values, 6, make_field,
                              [&](const float* t, std::size_t first, std::size_t count, float* to) {
                                turn_tensors(model.direction, t + 6 * first, count, shear, to);
                              });
    else
      append_values(elements, values, 6, make_field);
  };
  write_tensors("strain", solution.fields.strain, 2, "1 (shear: gamma)");
  write_tensors("stress", solution.fields.stress, 1, "MPa");
  write_cells("sed", solution.fields.energy_density, "MPa");
  write_cells("von_mises", solution.fields.von_mises, "MPa");
  write_cells("effective_strain", solution.fields.effective_strain, "1");
  if (solution.fields.plastic_strain.extent(0) > 0)
    append_values(elements, solution.fields.plastic_strain, 1,
                  cells(float(), "plastic_strain", 1, "1"));
  if (solution.fields.damage.extent(0) > 0)
    append_values(elements, solution.fields.damage, 1, cells(float(), "damage", 1, "1"));
  blocks.finish();
  if (file)
    finish_file(*file, path, status, context);
}

template<class Exec>
void write_parosol(const Exec& exec, const std::string& path, const BoneModel<Exec>& model,
                   const VoxelProblem<Exec>& problem, const BoneSolution<Exec>& solution,
                   const std::string& status, const DriverContext& context) {
  const TimedScope scope("ossatura::bone::write_parosol");
  const VoxelFields<Exec>& fields = solution.fields;
  const OwnedNodes& owned = solution.grid.owned;
  const Communicator comm = ranks_of(problem);
  const ImageDirection& direction = model.direction;
  const bool turned = !is_identity(direction);
  const LatticePlace place = lattice_place(model);
  RankBlocks<Exec> blocks(exec, comm);
  const RankRows<Exec> nodes = rows_of_nodes(blocks, solution),
                       elements = rows_of_voxels(blocks, solution);
  const std::int64_t num_elem = comm.sum(fields.elements.count());
  std::optional<ParosolWriter> file;
  if (blocks.is_first())
    file.emplace(path, std::uint64_t(owned.global_count), std::uint64_t(num_elem),
                 context.options().compress);

  append_converted<double>(
      nodes, owned_part(owned, list_sites(exec, solution.grid), 1), 1,
      [&] { return file->coordinates(); },
      [&](const std::uint64_t* sites, std::size_t first, std::size_t count, double* points) {
        place_sites(place, sites + first, count, points);
      });
  with_corners(exec, problem, solution, [&](const auto& corner) {
    append_converted<std::int32_t>(
        elements, corner, 8, [&] { return file->elements(); },
        [&](const auto* corners, std::size_t first, std::size_t count, std::int32_t* to) {
          order_hexahedra(place, corners, 8 * first, 8 * count, to);
          for (std::size_t i = 0; i < 8 * count; ++i)
            ++to[i]; // from 1
        });
  });
  append_converted<std::int32_t>(
      elements, list_moduli(exec, solution.lame, fields.element), 1,
      [&] { return file->material_ids(); },
      [](const double* moduli, std::size_t first, std::size_t count, std::int32_t* to) {
        std::transform(moduli + first, moduli + first + count, to, &ParosolWriter::material_id);
      });
  const auto write_nodal = [&](const char* name, const Array<double, Exec>& values) {
    append_converted<double>(
        nodes, owned_part(owned, values, 3), 3, [&] { return file->nodal(name); },
        [&](const double* v, std::size_t first, std::size_t count, double* to) {
          std::copy_n(v + 3 * first, 3 * count, to);
          if (turned)
            turn_vectors(direction, to, count, to);
        });
  };
  write_nodal("Nodal displacements", solution.displacement);
  write_nodal("Nodal forces", solution.force);
  // A tensor, of which shears are `shear` times its components, or a number.
  const auto write_elemental = [&](const char* name, const Array<float, Exec>& values,
                                   std::size_t components, double shear) {
    append_converted<double>(
        elements, values, components, [&] { return file->elemental(name, components); },
        [&](const float* from, std::size_t first, std::size_t count, double* to) {
          std::copy_n(from + components * first, components * count, to);
          if (turned && components == 6)
            turn_tensors(direction, to, count, shear, to);
        });
  };
  write_elemental("SED", fields.energy_density, 1, 1);
  write_elemental("VonMises", fields.von_mises, 1, 1);
  write_elemental("EFF", fields.effective_strain, 1, 1);
  write_elemental("Element strain", fields.strain, 6, 2);
  write_elemental("Element stress", fields.stress, 6, 1);
  blocks.finish();
  if (!file)
    return;
  auto facts = provenance_texts(context.provenance());
  facts.emplace_back("status", status);
  file->set_run(facts);
  file->commit();
  log_info("wrote ", path);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template Array<double, Exec> list_bone_densities(                                                \
      const Exec&, const BoneOptions&, const BoneModel<Exec>&, const BoneSolution<Exec>&);         \
  template void write_fields(const Exec&, const std::string&, const BoneOptions&,                  \
                             const BoneModel<Exec>&, const VoxelProblem<Exec>&,                    \
                             const BoneLoad<Exec>&, const BoneSolution<Exec>&, const std::string&, \
                             const DriverContext&, BegunFile*);                                    \
  template void write_parosol(const Exec&, const std::string&, const BoneModel<Exec>&,             \
                              const VoxelProblem<Exec>&, const BoneSolution<Exec>&,                \
                              const std::string&, const DriverContext&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
