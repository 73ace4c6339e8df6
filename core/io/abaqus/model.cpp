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
    , parts_(make_numbered_parts(std::move(path), unit, nodes_, hexa_)) {
  parts_.node_name = [this](std::size_t place) { return node_name(place); };
}

void AbaqusReader::refuse_include() {
  text_.bad(text_.keyword().written, ": other files are not read; put its lines here");
}

void AbaqusReader::pass_over() {
  while (text_.next_row()) {
  }
}

void AbaqusReader::pass_names() {
  double number = 0;
  while (text_.next_row())
    while (text_.more())
      if (text_.number(number))
        refuse_row();
      else
        text_.field();
}

void AbaqusReader::pass_numbers() {
  while (text_.next_row())
    pass_row_of_numbers();
}

void AbaqusReader::pass_row_of_numbers() {
  double number = 0;
  while (text_.more())
    if (!text_.number_or_blank(number))
      refuse_row();
}

void AbaqusReader::refuse_row() {
  text_.bad(
      "this row is none that ", text_.keyword().written,
      " takes: a keyword before it is missing, or a comment (**); write it, or remove the row");
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
      {"ENDPART", &R::pass_alone},
      {"ASSEMBLY", &R::pass_alone},
      {"ENDASSEMBLY", &R::pass_alone},
      {"INSTANCE", &R::begin_instance},
      {"ENDINSTANCE", &R::end_instance},
      {"INCLUDE", &R::refuse_include},
      // Titles, output, and what the displacements of linear statics do not depend on.
      {"HEADING", &R::pass_over},
      {"PREPRINT", &R::pass_alone},
      {"RESTART", &R::pass_alone},
      {"OUTPUT", &R::pass_alone},
      {"NODEOUTPUT", &R::pass_names},
      {"NODEPRINT", &R::pass_names},
      {"NODEFILE", &R::pass_names},
      {"ELEMENTOUTPUT", &R::pass_names},
      {"ELPRINT", &R::pass_names},
      {"ELFILE", &R::pass_names},
      {"ENERGYOUTPUT", &R::pass_names},
      {"ENERGYPRINT", &R::pass_names},
      {"ENERGYFILE", &R::pass_names},
      {"CONTACTOUTPUT", &R::pass_names},
      {"CONTACTPRINT", &R::pass_names},
      {"CONTACTFILE", &R::pass_names},
      {"SECTIONPRINT", &R::pass_names},
      {"FILEFORMAT", &R::pass_alone},
      {"FILEOUTPUT", &R::pass_alone},
      {"MONITOR", &R::pass_alone},
      {"PRINT", &R::pass_alone},
      {"TIMEPOINTS", &R::pass_numbers},
      {"CONTROLS", &R::pass_numbers},
      {"SECTIONCONTROLS", &R::pass_numbers},
      {"PHYSICALCONSTANTS", &R::pass_alone},
      {"AMPLITUDE", &R::pass_numbers},
      {"DAMPING", &R::pass_alone},
      {"CONDUCTIVITY", &R::pass_numbers},
      {"SPECIFICHEAT", &R::pass_numbers},
  };
  const auto* found = std::find_if(std::begin(keywords), std::end(keywords),
                                   [&](const auto& k) { return k.name == keyword; });
  return found == std::end(keywords) ? nullptr : found->read;
}

HexaFile AbaqusReader::read() {
  if (text_.next_row())
    text_.bad("a row before the first keyword, which belongs to none; keywords begin with *");
  while (text_.next_keyword()) {
    const AbaqusKeyword& keyword = text_.keyword();
    const Read read_rows = find_read(keyword.name);
    if (read_rows == nullptr)
      text_.bad(keyword.written,
                " is not among the keywords of linear statics and natural frequencies "
                "of solids that are read; remove it if the problem is the same without it");
    (this->*read_rows)();
    if (text_.next_row())
      refuse_row();
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
