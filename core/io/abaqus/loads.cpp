// SPDX-License-Identifier: Apache-2.0
// The reader turns steps, supports and loads of an Abaqus file into those of the model.
#include <ossatura/core/io/abaqus/reader.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ossatura {
namespace {

using KeyedLoads = std::vector<std::pair<std::int64_t, double>>;

/// Ascending keys, each once, with the sum of its values.
void add_up(KeyedLoads& loads) {
  std::stable_sort(loads.begin(), loads.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t count = 0;
  for (const auto& load : loads)
    if (count > 0 && loads[count - 1].first == load.first)
      loads[count - 1].second += load.second;
    else
      loads[count++] = load;
  loads.resize(count);
}

/// The same where there are many more than the `count` keys that can be: a small file may name a
/// large set in each of its lines.
void bound(KeyedLoads& loads, std::size_t count) {
  if (loads.size() > 4 * count + 64)
    add_up(loads);
}

/// `fresh`, and `earlier` where it has no such key; both as add_up() leaves them.
KeyedLoads replaced(const KeyedLoads& earlier, const KeyedLoads& fresh) {
  KeyedLoads all;
  all.reserve(earlier.size() + fresh.size());
  auto next = fresh.begin();
  for (const auto& load : earlier) {
    while (next != fresh.end() && next->first < load.first)
      all.push_back(*next++);
    if (next == fresh.end() || next->first != load.first)
      all.push_back(load);
  }
  all.insert(all.end(), next, fresh.end());
  return all;
}

/// Held components by name; those of rotations, which hexahedra have not, are left out.
constexpr struct {
  std::string_view name;
  std::uint8_t components;
} named_supports[] = {{"ENCASTRE", 7}, {"PINNED", 7}, {"XSYMM", 1},  {"YSYMM", 2},
                      {"ZSYMM", 4},    {"XASYMM", 6}, {"YASYMM", 5}, {"ZASYMM", 3}};

} // namespace

void AbaqusReader::begin_step() {
  text_.require_params(
      {"NAME", "NLGEOM", "INC", "PERTURBATION", "UNSYMM", "EXTRAPOLATION", "AMPLITUDE"});
  const AbaqusKeyword& keyword = text_.keyword();
  if (in_step_)
    text_.bad(keyword.written, " within a step; *END STEP is missing before it");
  const std::string* nonlinear = keyword.find("NLGEOM");
  if (nonlinear != nullptr && *nonlinear != "NO")
    text_.bad("large displacements (NLGEOM) are not solved; remove it for linear statics");
  if (num_steps_ == 0) {
    close_case("");
    close_supports();
  }
  in_step_ = true;
  perturbation_ = keyword.has("PERTURBATION");
  ++num_steps_;
  const std::string* name = keyword.find("NAME");
  step_ = name == nullptr || name->empty() ? "STEP " + std::to_string(num_steps_) : *name;
}

void AbaqusReader::end_step() {
  if (!in_step_)
    text_.bad(text_.keyword().written, " ends no step");
  in_step_ = false;
  close_supports();
  close_case(step_);
}

void AbaqusReader::close_case(const std::string& name) {
  add_up(fresh_.forces);
  add_up(fresh_.pressures);
  if (num_steps_ > 0 && !perturbation_) {
    fresh_.forces = replaced(earlier_.forces, fresh_.forces);
    fresh_.pressures = replaced(earlier_.pressures, fresh_.pressures);
    earlier_ = fresh_;
  }
  HexaCase made{name, {}, {}};
  for (const auto& [key, value] : fresh_.forces) {
    NodeForce force{std::int32_t(key / 3), {}};
    force.force[key % 3] = value;
    if (value != 0)
      made.forces.push_back(force);
  }
  for (const auto& [key, value] : fresh_.pressures)
    if (value != 0)
      made.pressures.push_back({std::int32_t(key / 6), int(key % 6), value});
  if (!made.forces.empty() || !made.pressures.empty())
    parts_.cases.push_back(std::move(made));
  fresh_ = {};
}

void AbaqusReader::read_static() {
  text_.require_params({"DIRECT", "SOLVER"});
  if (!in_step_)
    text_.bad(text_.keyword().written, " stands in no step");
}

void AbaqusReader::read_boundary() {
  text_.require_params({"OP", "TYPE"});
  const AbaqusKeyword& keyword = text_.keyword();
  if (num_steps_ > 0 && !in_step_)
    text_.bad("supports between steps belong to none; write them before the steps");
  const std::string* type = keyword.find("TYPE");
  if (type != nullptr && *type != "DISPLACEMENT")
    text_.bad("supports of type ", printable_word(*type), " are not solved");
  const std::string* op = keyword.find("OP");
  if (op != nullptr && *op == "NEW")
    earlier_held_.clear();
  Members one;
  while (text_.next_row()) {
    const Members& nodes = take_nodes(one);
    std::uint8_t components = 0;
    long first = 0, last = 0;
    double value = 0;
    if (text_.number(first)) {
      last = first;
      if (!text_.number_or_blank(last))
        text_.bad_field("the last degree of freedom is expected");
      if (first < 1 || last < first || last > 6)
        text_.bad("degrees of freedom ", first, " to ", last,
                  " cannot be held; 1, 2 and 3 are x, y and z");
      if (!text_.number_or_blank(value))
        text_.bad_field("a displacement is expected");
      if (value != 0 || std::isnan(value))
        text_.bad("a displacement of ", value, " is not solved; supports hold at 0");
      for (long component = first; component <= std::min(last, 3L); ++component)
        components |= std::uint8_t(1 << (component - 1));
    } else {
      const std::string name = abaqus_name(text_.field());
      const auto* found = std::find_if(std::begin(named_supports), std::end(named_supports),
                                       [&](const auto& known) { return known.name == name; });
      if (found == std::end(named_supports))
        text_.bad("'", printable_word(name),
                  "' where the degree of freedom that is held is expected, or ENCASTRE, PINNED, "
                  "XSYMM, YSYMM, ZSYMM, XASYMM, YASYMM, ZASYMM");
      components = found->components;
    }
    held_.resize(nodes_.size());
    for (const std::int32_t n : nodes)
      held_[std::size_t(n)] |= components;
  }
}

void AbaqusReader::close_supports() {
  held_.resize(nodes_.size());
  earlier_held_.resize(nodes_.size());
  for (std::size_t n = 0; n < held_.size(); ++n)
    earlier_held_[n] |= held_[n];
  held_.clear();
  if (num_steps_ <= 1)
    parts_.held = earlier_held_;
  parts_.held.resize(nodes_.size());
  if (parts_.held != earlier_held_)
    text_.bad("the supports of step ", num_steps_,
              " are not those of the first; all load cases "
              "have the same: write them before the steps");
}

void AbaqusReader::begin_loads(KeyedLoads& earlier) {
  text_.require_params({"OP"});
  if (num_steps_ > 0 && !in_step_)
    text_.bad("a load between steps belongs to none; move it into one");
  const std::string* op = text_.keyword().find("OP");
  if (op != nullptr && *op == "NEW" && !perturbation_)
    earlier.clear();
}

double AbaqusReader::take_load(const char* what) {
  double value = 0;
  if (!text_.number(value) || !std::isfinite(value))
    text_.bad_field(std::string(what) + " is expected");
  return value;
}

void AbaqusReader::read_forces() {
  begin_loads(earlier_.forces);
  Members one;
  while (text_.next_row()) {
    const Members& nodes = take_nodes(one);
    long component = 0;
    if (!text_.number(component))
      text_.bad_field("the direction of the force, 1, 2 or 3, is expected");
    const double force = take_load("a force");
    if (component >= 4 && component <= 6 && force == 0)
      continue;
    if (component < 1 || component > 3)
      text_.bad("a load on degree of freedom ", component,
                " is not solved; forces act along 1, 2 and 3");
    for (const std::int32_t n : nodes)
      fresh_.forces.emplace_back(3 * std::int64_t(n) + component - 1, force);
    bound(fresh_.forces, 3 * nodes_.size());
  }
}

int AbaqusReader::take_face(char letter) {
  // The order of [1], "Three-dimensional solid element library", is that of SolidShape::face.
  const std::string face = abaqus_name(text_.field());
  if (face.size() != 2 || face[0] != letter || face[1] < '1' || face[1] > '6')
    text_.bad("'", printable_word(face), "' where a face of solids, ", letter, "1 to ", letter,
              "6, is expected");
  return face[1] - '1';
}

void AbaqusReader::read_pressures() {
  begin_loads(earlier_.pressures);
  ElemSet one;
  while (text_.next_row()) {
    const ElemSet& elems = take_elems(one);
    const int face = take_face('P');
    const double pressure = take_load("a pressure");
    if (!elems.flat.empty())
      text_.bad("a pressure on elements without volume; name the faces of solids");
    for (const std::int32_t elem : elems.hexa) {
      require_face(elem, face);
      fresh_.pressures.emplace_back(6 * std::int64_t(elem) + face, pressure);
    }
    bound(fresh_.pressures, 6 * hexa_.size());
  }
}

void AbaqusReader::read_surface_pressures() {
  begin_loads(earlier_.pressures);
  while (text_.next_row()) {
    const std::string name = abaqus_name(text_.field());
    const auto surface = surfaces_.find(name);
    if (surface == surfaces_.end())
      text_.bad("there is no surface ", printable_word(name), " before this line");
    const std::string kind = abaqus_name(text_.field());
    if (kind != "P")
      text_.bad("a surface load of kind ", printable_word(kind), " is not solved; P is");
    const double pressure = take_load("a pressure");
    for (const std::int64_t key : surface->second)
      fresh_.pressures.emplace_back(key, pressure);
    bound(fresh_.pressures, 6 * hexa_.size());
  }
}

} // namespace ossatura
