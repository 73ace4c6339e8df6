// SPDX-License-Identifier: Apache-2.0
// The reader turns supports, loads and load steps of an Ansys archive into those of the model.
#include <ossatura/core/io/ansys/reader.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ossatura {

void AnsysReader::read_analysis() {
  const std::string kind = text_.field(1);
  is_modal_ = kind == "2" || kind.substr(0, 4) == "MODA";
  if (!is_modal_ && !kind.empty() && kind != "0" && kind.substr(0, 4) != "STAT")
    text_.bad("analyses of type ", printable_word(kind),
              " are not solved; ANTYPE,STATIC and ANTYPE,MODAL are");
}

void AnsysReader::read_modes() {
  const std::string method = text_.field(1).substr(0, 4);
  if (!method.empty() && method != "LANB" && method != "LANP" && method != "SUBS" &&
      method != "SNOD")
    text_.bad("modes by the method ", printable_word(text_.field(1)),
              " are not solved; LANB, SUBSP and SNODE are");
  std::int64_t count = 0;
  double least = 0;
  text_.number(2, count, "the number of modes");
  text_.number(3, least, "the lowest frequency");
  modes_.below = 0;
  text_.number(4, modes_.below, "the highest frequency");
  if (count < 0 || count > 1000000 || !(modes_.below >= 0))
    text_.bad("MODOPT asks for ", count, " modes below ", modes_.below, " Hz");
  if (least > 0)
    text_.bad("frequencies from ", least,
              " on are not looked for, but the lowest; leave the lower "
              "end of the range out");
  modes_.count = int(count);
}

void AnsysReader::read_prestress() {
  is_stressed_ = text_.field(1) == "ON" || text_.field(1) == "1";
}

void AnsysReader::read_lumping() {
  is_lumped_ = text_.field(1) == "ON" || text_.field(1) == "1";
}

void AnsysReader::require_small_displacements() {
  const std::string key = text_.field(1);
  if (key != "OFF" && key != "0" && !key.empty())
    text_.bad("large displacements (NLGEOM) are not solved; switch them off for linear statics");
}

void AnsysReader::read_reference_temperature() {
  text_.number(1, reference_temperature_, "a temperature");
}

void AnsysReader::read_temperature() {
  if (text_.field(1) != "TEMP" || text_.blank(2) || text_.field(2) == "_TINY")
    return;
  double temperature = std::numeric_limits<double>::quiet_NaN(); // of a parameter: differs from all
  if (text_.is_number(2))
    text_.number(2, temperature, "a temperature");
  temperatures_.push_back(temperature);
}

const AnsysReader::Members& AnsysReader::take_nodes(std::size_t first, std::size_t last,
                                                    Members& one) {
  one.clear();
  const std::string name = text_.field(first);
  if (name == "ALL" || (!name.empty() && !text_.is_number(first))) {
    const std::string& set = name == "ALL" ? selected_ : name;
    if (name == "ALL" && !selection_known_)
      text_.bad("ALL means a selection of nodes that is not read; name a component (CMSEL,S)");
    if (set.empty()) {
      one.resize(nodes_.size());
      for (std::size_t n = 0; n < one.size(); ++n)
        one[n] = std::int32_t(n);
      return one;
    }
    const auto found = parts_.node_sets.find(set);
    if (found == parts_.node_sets.end())
      text_.bad("there is no component of nodes ", printable_word(set), " before this line");
    return found->second;
  }
  std::int64_t number = 0, step = 1;
  text_.number(first, number, "the number of a node");
  std::int64_t end = number;
  text_.number(last, end, "the last node");
  text_.number(last + 1, step, "an increment");
  if (step < 1 || end < number)
    text_.bad("nodes from ", number, " to ", end, " by ", step, " are none");
  for (std::int64_t left = (end - number) / step;; --left, number += step) {
    const std::int32_t place = number < 0 ? -1 : nodes_.find(std::uint64_t(number));
    if (place < 0)
      text_.bad("there is no node ", number, " before this line");
    one.push_back(place);
    if (left == 0)
      return one;
  }
}

void AnsysReader::read_support() {
  double value = 0, imaginary = 0;
  text_.number(3, value, "a displacement");
  text_.number(4, imaginary, "a displacement");
  std::uint8_t components = 0;
  for (const std::size_t i : {2, 7, 8, 9, 10, 11}) {
    const std::string label = text_.field(i);
    if (label == "ALL")
      components |= 7;
    else if (label.size() == 2 && label[0] == 'U' && label[1] >= 'X' && label[1] <= 'Z')
      components |= std::uint8_t(1 << (label[1] - 'X'));
    else if (label.substr(0, 3) != "ROT" && !(label.empty() && i > 2))
      text_.bad("the degree of freedom ", printable_word(label),
                " cannot be held; UX, UY, UZ and ALL can");
  }
  if (value != 0 || imaginary != 0)
    text_.bad("a displacement of ", value != 0 ? value : imaginary,
              " is not solved; supports hold at 0");
  Members one;
  parts_.held.resize(nodes_.size());
  const Members& nodes = take_nodes(1, 5, one);
  if (num_steps_ == 0)
    add_held_row(nodes, components);
  for (const std::int32_t n : nodes) {
    std::uint8_t& held = parts_.held[std::size_t(n)];
    if (num_steps_ > 0 && (held & components) != components)
      text_.bad("a load step adds supports to those of the first; all load cases have the same");
    held |= components;
  }
}

void AnsysReader::add_held_row(const Members& nodes, std::uint8_t components) {
  if (components == 0)
    return;
  std::string name = text_.field(1);
  if (name == "ALL" && !selected_.empty())
    name = selected_;
  if (text_.is_number(1)) {
    if (nodes.size() == 1) // CDWRITE writes rows of these alone, one for each component
      return add_held_node(0, components, nodes[0], parts_.held_parts);
    name += ' ' + text_.field(5) + ' ' + text_.field(6);
    // A small file may name large ranges in each of its lines.
    const bool is_new = parts_.held_parts.count({name, 0}) == 0;
    in_ranges_ += is_new ? nodes.size() : 0;
    if (in_ranges_ > 64 * nodes_.size() + 4096)
      text_.bad("the ranges of nodes that are held overlap more than 64 times; name components");
  }
  add_held_set(name, components, nodes, parts_.held_parts);
}

void AnsysReader::read_force() {
  const std::string label = text_.field(2);
  double value = 0, imaginary = 0;
  text_.number(3, value, "a force");
  text_.number(4, imaginary, "a force");
  if (imaginary != 0)
    text_.bad("a force with an imaginary part of ", imaginary, " is not solved");
  const bool has_axis = label.size() == 2 && label[1] >= 'X' && label[1] <= 'Z';
  if (has_axis && label[0] == 'M' && value == 0)
    return;
  if (!has_axis || label[0] != 'F')
    text_.bad("the load ", printable_word(label), " is not solved; FX, FY and FZ are");
  Members one;
  for (const std::int32_t n : take_nodes(1, 5, one)) {
    if (std::size_t(n) < rotated_.size() && rotated_[std::size_t(n)])
      text_.bad("a force on ", parts_.node_name(std::size_t(n)),
                ", which has axes of its own (NROTAT), is not solved; rotate it back");
    forces_[3 * std::int64_t(n) + label[1] - 'X'] = value;
  }
  loads_changed_ = true;
}

void AnsysReader::read_pressure() {
  std::int64_t face = 0, key = 0;
  const std::string name = text_.field(1), label = text_.field(3);
  text_.number(2, face, "the number of a face");
  text_.number(4, key, "0, 1 or 2");
  if (label != "PRES" || face < 1 || face > 6)
    text_.bad("the surface load ", printable_word(label), " on face ", face,
              " is not solved; PRES on faces 1 to 6 is");
  Members elems;
  if (const auto set = parts_.elem_sets.find(name); set != parts_.elem_sets.end()) {
    elems = set->second;
  } else {
    std::int64_t number = 0;
    text_.number(1, number, "the number of an element");
    const std::int32_t place = number < 1 ? -1 : hexa_.find(std::uint64_t(number));
    if (place < 0)
      text_.bad("there is no hexahedron ", number, " before this line");
    elems.push_back(place);
  }
  // The values stand here, or, as CDWRITE writes them, below.
  std::vector<double> values;
  if (text_.field(5).substr(0, 1) == "R") {
    double value = 0;
    if (text_.next_row())
      while (!text_.row_ends() && values.size() < 4) {
        if (!text_.free_real(value))
          text_.bad("a pressure is expected");
        values.push_back(value);
      }
  } else {
    for (std::size_t i = 5; i < 9 && !text_.blank(i); ++i) {
      values.push_back(0);
      text_.number(i, values.back(), "a pressure");
    }
  }
  if (values.empty())
    text_.bad("the pressure is missing");
  for (const double value : values)
    if (value != values[0])
      text_.bad("a pressure that varies over a face, from ", values[0], " to ", value,
                ", is not solved");
  if (key == 2 && values[0] != 0)
    text_.bad("a pressure with an imaginary part is not solved");
  if (key == 2)
    return;
  // [1], SOLID185: bottom, around, top.
  constexpr int row_of_face[] = {0, 2, 3, 4, 5, 1};
  for (const std::int32_t elem : elems)
    pressures_[6 * std::int64_t(elem) + row_of_face[face - 1]] = values[0];
  loads_changed_ = true;
}

void AnsysReader::delete_forces() {
  if (text_.field(1) != "ALL" || (!text_.blank(2) && text_.field(2) != "ALL") ||
      !selected_.empty() || !selection_known_)
    text_.bad("FDELE is read where it deletes all forces (FDELE,ALL,ALL)");
  forces_.clear();
  loads_changed_ = true;
}

void AnsysReader::delete_pressures() {
  if (text_.field(1) != "ALL" || (!text_.blank(2) && text_.field(2) != "ALL"))
    text_.bad("SFEDELE is read where it deletes all pressures (SFEDELE,ALL,ALL,ALL)");
  pressures_.clear();
  loads_changed_ = true;
}

void AnsysReader::require_all_selected() const {
  if (!all_elements_ || !selection_known_ || !selected_.empty())
    text_.bad("a part of the nodes or elements is selected where ", printable_word(text_.field(0)),
              " solves or writes them; the whole is solved: put ALLSEL before this line");
}

void AnsysReader::write_step() {
  require_all_selected();
  ++num_steps_;
  if (is_modal_)
    close_modes("LOAD STEP " + std::to_string(num_steps_));
  else
    close_case("LOAD STEP " + std::to_string(num_steps_));
}

void AnsysReader::close_modes(const std::string& name) {
  if (modes_.count == 0)
    fail<InputError>(parts_.path, ": ANTYPE,MODAL without the number of modes; give it in MODOPT");
  parts_.frequencies = modes_;
  parts_.frequencies->step = name;
  if (is_stressed_)
    parts_.notes.push_back("natural frequencies are without the stiffening by loads that PSTRES,ON "
                           "asks for");
  if (is_lumped_)
    parts_.notes.push_back("natural frequencies are with consistent masses, not with the lumped "
                           "ones that LUMPM,ON asks for");
}

void AnsysReader::close_case(const std::string& name) {
  HexaCase made{name, {}, {}};
  for (const auto& [key, value] : forces_) {
    NodeForce force{std::int32_t(key / 3), {}};
    force.force[key % 3] = value;
    if (value != 0)
      made.forces.push_back(force);
  }
  for (const auto& [key, value] : pressures_)
    if (value != 0)
      made.pressures.push_back({std::int32_t(key / 6), int(key % 6), value});
  if (!made.forces.empty() || !made.pressures.empty())
    parts_.cases.push_back(std::move(made));
  loads_changed_ = false;
}

void AnsysReader::finish_loads() {
  if (num_steps_ == 0) {
    if (!all_elements_)
      fail<InputError>(parts_.path, ": a part of the elements is selected (ESEL, CMSEL) at the end "
                                    "of the file; the whole is solved: end it with ALLSEL");
    if (is_modal_)
      close_modes("MODAL");
    close_case("");
  }
  if (loads_changed_)
    fail<InputError>(parts_.path, ": the loads behind the last LSWRITE or SOLVE belong to no load "
                                  "step; end it with one");
  for (std::size_t n = 0; n < std::min(rotated_.size(), parts_.held.size()); ++n)
    if (rotated_[n] && parts_.held[n] != 0 && parts_.held[n] != 7)
      fail<InputError>(parts_.path, ": ", parts_.node_name(n),
                       " is held along axes of its own (NROTAT), which is not solved; hold all its "
                       "components, or rotate it back");
}

} // namespace ossatura
