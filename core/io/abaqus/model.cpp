// SPDX-License-Identifier: Apache-2.0
// The reader dispatches each keyword of an Abaqus file to the function that understands the
// keyword.
#include <ossatura/core/io/abaqus/model.hpp>

#include <ossatura/core/io/abaqus/reader.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <iterator>

namespace ossatura {

AbaqusReader::AbaqusReader(std::string path, std::string_view content, double unit)
    : text_(path, content)
    , parts_(make_numbered_parts(std::move(path), unit, nodes_, hexa_)) {}

void AbaqusReader::refuse_include() {
  text_.bad(text_.keyword().written, ": other files are not read; put its lines here");
}

AbaqusReader::Read AbaqusReader::find_read(const std::string& keyword) {
  using R = AbaqusReader;
  static const struct {
    std::string_view name;
    Read read;
  } keywords[] = {
      {"NODE", &R::read_nodes},
      {"ELEMENT", &R::read_elements},
      {"NSET", &R::read_node_set},
      {"ELSET", &R::read_elem_set},
      {"SURFACE", &R::read_surface},
      {"BOUNDARY", &R::read_boundary},
      {"CLOAD", &R::read_forces},
      {"DLOAD", &R::read_pressures},
      {"DSLOAD", &R::read_surface_pressures},
      {"MATERIAL", &R::begin_material},
      {"ELASTIC", &R::read_elastic},
      {"DENSITY", &R::read_density},
      {"EXPANSION", &R::read_expansion},
      {"INITIALCONDITIONS", &R::read_initial_conditions},
      {"TEMPERATURE", &R::read_temperatures},
      {"SOLIDSECTION", &R::read_section},
      {"COUPLING", &R::begin_coupling},
      {"KINEMATIC", &R::read_kinematic},
      {"DISTRIBUTING", &R::read_distributing},
      {"RIGIDBODY", &R::read_rigid_body},
      {"STEP", &R::begin_step},
      {"STATIC", &R::read_static},
      {"FREQUENCY", &R::read_frequencies},
      {"ENDSTEP", &R::end_step},
      {"PART", &R::begin_part},
      {"ENDPART", &R::pass_over},
      {"ASSEMBLY", &R::pass_over},
      {"ENDASSEMBLY", &R::pass_over},
      {"INSTANCE", &R::begin_instance},
      {"ENDINSTANCE", &R::end_instance},
      {"INCLUDE", &R::refuse_include},
      // Titles, output, and what the displacements of linear statics do not depend on.
      {"HEADING", &R::pass_over},
      {"PREPRINT", &R::pass_over},
      {"RESTART", &R::pass_over},
      {"OUTPUT", &R::pass_over},
      {"NODEOUTPUT", &R::pass_over},
      {"NODEPRINT", &R::pass_over},
      {"NODEFILE", &R::pass_over},
      {"ELEMENTOUTPUT", &R::pass_over},
      {"ELPRINT", &R::pass_over},
      {"ELFILE", &R::pass_over},
      {"ENERGYOUTPUT", &R::pass_over},
      {"ENERGYPRINT", &R::pass_over},
      {"ENERGYFILE", &R::pass_over},
      {"CONTACTOUTPUT", &R::pass_over},
      {"CONTACTPRINT", &R::pass_over},
      {"CONTACTFILE", &R::pass_over},
      {"SECTIONPRINT", &R::pass_over},
      {"FILEFORMAT", &R::pass_over},
      {"FILEOUTPUT", &R::pass_over},
      {"MONITOR", &R::pass_over},
      {"PRINT", &R::pass_over},
      {"TIMEPOINTS", &R::pass_over},
      {"CONTROLS", &R::pass_over},
      {"SECTIONCONTROLS", &R::pass_over},
      {"PHYSICALCONSTANTS", &R::pass_over},
      {"AMPLITUDE", &R::pass_over},
      {"DAMPING", &R::pass_over},
      {"CONDUCTIVITY", &R::pass_over},
      {"SPECIFICHEAT", &R::pass_over},
  };
  const auto* found = std::find_if(std::begin(keywords), std::end(keywords),
                                   [&](const auto& k) { return k.name == keyword; });
  return found == std::end(keywords) ? nullptr : found->read;
}

HexaFile AbaqusReader::read() {
  while (text_.next_keyword()) {
    const AbaqusKeyword& keyword = text_.keyword();
    const Read read_rows = find_read(keyword.name);
    if (read_rows == nullptr)
      text_.bad(keyword.written,
                " is not among the keywords of linear statics and natural frequencies "
                "of solids that are read; remove it if the problem is the same without it");
    (this->*read_rows)();
  }
  if (in_step_)
    fail<InputError>(parts_.path, ": the last *STEP has no *END STEP: the file is truncated");
  finish_couplings();
  if (num_steps_ == 0) {
    close_supports();
    check_rigid_bodies();
    close_case("");
  }
  take_free_bodies();
  finish_materials();
  refuse_bad_expansion();
  finish_sets();
  HexaFile file = make_hexa_file(std::move(parts_));
  file.reference_points = std::int64_t(coupling_of_.size());
  for (const auto& [node, reference] : turning_)
    file.reference_points += coupling_of_.count(node) == 0;
  return file;
}

HexaFile read_abaqus(const std::string& path, double unit) {
  const std::vector<unsigned char> bytes = read_all(path);
  return AbaqusReader(path, text_of(bytes), unit).read();
}

} // namespace ossatura
