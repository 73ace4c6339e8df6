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

/// Held degrees of freedom by name; bits 3 to 5 are rotations, which reference nodes alone have.
constexpr struct {
  std::string_view name;
  std::uint8_t components;
} named_supports[] = {{"ENCASTRE", 63}, {"PINNED", 7},  {"XSYMM", 49},  {"YSYMM", 42},
                      {"ZSYMM", 28},    {"XASYMM", 14}, {"YASYMM", 21}, {"ZASYMM", 35}};

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
    for (const auto& [key, value] : fresh_.displacements)
      if (value != 0)
        text_.bad(parts_.node_name(std::size_t(key / 3)), " is to move by ", value,
                  " before the first step; write displacements other than zero in a step");
    if (!fresh_.forces.empty() || !fresh_.moments.empty() || !fresh_.pressures.empty() ||
        !fresh_.masses.empty())
      text_.bad("there are loads before the first step, which belong to none; move them into it");
    fresh_ = {};
    close_supports();
  }
  in_step_ = true;
  perturbation_ = keyword.has("PERTURBATION");
  has_temperatures_ = has_procedure_ = is_of_frequencies_ = false;
  ++num_steps_;
  const std::string* name = keyword.find("NAME");
  step_ = name == nullptr || name->empty() ? "STEP " + std::to_string(num_steps_) : *name;
  if (!step_names_.insert(step_).second)
    text_.bad("a second step of the name ", printable_word(step_), "; give each a name of its own");
  if (text_.next_row()) { // a title
    text_.field();
    if (text_.more())
      refuse_row();
  }
}

void AbaqusReader::end_step() {
  if (!in_step_)
    text_.bad(text_.keyword().written, " ends no step");
  in_step_ = false;
  close_supports();
  check_rigid_bodies();
  if (is_of_frequencies_)
    end_frequencies();
  else
    close_case(step_);
}

void AbaqusReader::close_case(const std::string& name) {
  add_up(fresh_.forces);
  add_up(fresh_.moments);
  add_up(fresh_.pressures);
  settle(fresh_.displacements);
  if (num_steps_ > 0 && !perturbation_) {
    fresh_.forces = replaced(earlier_.forces, fresh_.forces);
    fresh_.moments = replaced(earlier_.moments, fresh_.moments);
    fresh_.pressures = replaced(earlier_.pressures, fresh_.pressures);
    fresh_.displacements = replaced(earlier_.displacements, fresh_.displacements);
    for (const MassLoad& one : earlier_.masses)
      if (std::none_of(fresh_.masses.begin(), fresh_.masses.end(),
                       [&](const MassLoad& other) { return other.is_gravity == one.is_gravity; }))
        fresh_.masses.push_back(one);
    earlier_ = fresh_;
  }
  HexaCase made{name, {}, {}, {}, {}, warming_of_step()};
  for (const auto& [key, value] : fresh_.forces) {
    NodeForce force{std::int32_t(key / 3), {}};
    force.force[key % 3] = value;
    if (value != 0 && find_coupling(force.node) == nullptr)
      made.forces.push_back(force);
  }
  add_coupled_forces(fresh_.forces, fresh_.moments, made.forces);
  for (const auto& [key, value] : fresh_.pressures)
    if (value != 0)
      made.pressures.push_back({std::int32_t(key / 6), int(key % 6), value});
  for (const auto& [key, value] : fresh_.displacements)
    if (value != 0)
      made.displacements.push_back({std::int32_t(key / 3), int(key % 3), value});
  for (const MassLoad& one : fresh_.masses) {
    const auto count = std::size_t(std::count(one.elems.begin(), one.elems.end(), true));
    if (count != hexa_.size())
      fail<InputError>(parts_.path, ": ", one.is_gravity ? "gravity" : "rotation", " acts on ",
                       count, " of ", hexa_.size(),
                       " elements in one step; it acts on all or none: name a set of all");
    if (!one.is_same({}) && (one.load.square_speed > 0 || one.is_gravity))
      made.body.push_back(one.load);
  }
  if (!made.forces.empty() || !made.pressures.empty() || !made.displacements.empty() ||
      !made.body.empty() || !made.warming.empty())
    parts_.cases.push_back(std::move(made));
  fresh_ = {};
}

void AbaqusReader::read_static() {
  text_.require_params({"DIRECT", "SOLVER"});
  if (!in_step_)
    text_.bad(text_.keyword().written, " stands in no step");
  if (has_procedure_)
    text_.bad(text_.keyword().written, " beside another procedure; give it a step of its own");
  has_procedure_ = true;
  if (text_.next_row()) // increments
    pass_row_of_numbers();
}

void AbaqusReader::read_boundary() {
  text_.require_params({"OP", "TYPE"});
  const AbaqusKeyword& keyword = text_.keyword();
  if (num_steps_ > 0 && !in_step_)
    text_.bad("supports between steps belong to none; write them before the steps");
  const std::string* type = keyword.find("TYPE");
  if (type != nullptr && *type != "DISPLACEMENT")
    text_.bad("supports of type ", printable_word(*type), " are not solved");
  if (is_new()) {
    earlier_held_.clear();
    earlier_rotations_.clear();
    if (num_steps_ <= 1) // later steps have the same supports
      parts_.held_parts.clear();
    if (!perturbation_)
      earlier_.displacements.clear();
  }
  Members one;
  std::string set;
  while (text_.next_row()) {
    const Members& nodes = take_nodes(one, set);
    double displacement = 0;
    const std::uint8_t components = take_held(displacement);
    text_.require_end();
    held_.resize(nodes_.size());
    if (!set.empty())
      add_held_set(set, components & 7, nodes, held_parts_);
    for (const std::int32_t n : nodes)
      if (is_reference(n)) {
        hold_reference(n, components, displacement);
      } else {
        hold_node(n, components & 7, displacement);
        if (set.empty())
          add_held_node(num_boundaries_, components & 7, n, held_parts_);
      }
    if (fresh_.displacements.size() > 12 * nodes_.size() + 64)
      settle(fresh_.displacements);
  }
  ++num_boundaries_;
}

void AbaqusReader::hold_node(std::int32_t node, unsigned components, double displacement) {
  std::uint8_t& held = held_[std::size_t(node)];
  held = std::uint8_t(held | components);
  for (int c = 0; c < 3; ++c)
    if ((components >> c & 1) != 0)
      fresh_.displacements.emplace_back(3 * std::int64_t(node) + c, displacement);
}

std::uint8_t AbaqusReader::take_held(double& displacement) {
  long first = 0;
  if (!text_.number(first)) {
    const std::string name = abaqus_name(text_.field());
    const auto* found = std::find_if(std::begin(named_supports), std::end(named_supports),
                                     [&](const auto& known) { return known.name == name; });
    if (found == std::end(named_supports))
      text_.bad("'", printable_word(name),
                "' where the degree of freedom that is held is expected, or ENCASTRE, PINNED, "
                "XSYMM, YSYMM, ZSYMM, XASYMM, YASYMM, ZASYMM");
    return found->components;
  }
  long last = first;
  if (!text_.number_or_blank(last))
    text_.bad_field("the last degree of freedom is expected");
  if (first < 1 || last < first || last > 6)
    text_.bad("degrees of freedom ", first, " to ", last,
              " cannot be held; 1, 2 and 3 are x, y and z");
  if (!text_.number_or_blank(displacement))
    text_.bad_field("a displacement is expected");
  if (displacement != 0 && last > 3)
    text_.bad("a rotation of ", displacement, " is not solved; 1, 2 and 3 are displacements");
  std::uint8_t components = 0;
  for (long component = first; component <= last; ++component)
    components |= std::uint8_t(1 << (component - 1));
  return components;
}

void AbaqusReader::settle(KeyedLoads& displacements) const {
  std::stable_sort(displacements.begin(), displacements.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t count = 0;
  for (const auto& one : displacements)
    if (count == 0 || displacements[count - 1].first != one.first)
      displacements[count++] = one;
    else if (displacements[count - 1].second != one.second)
      text_.bad(parts_.node_name(std::size_t(one.first / 3)), " is to move by ",
                displacements[count - 1].second, " and by ", one.second, " along ",
                one.first % 3 + 1, " in one step; keep one of them");
  displacements.resize(count);
}

void AbaqusReader::close_supports() {
  held_.resize(nodes_.size());
  earlier_held_.resize(nodes_.size());
  for (std::size_t n = 0; n < held_.size(); ++n)
    earlier_held_[n] |= held_[n];
  held_.clear();
  for (const auto& [node, rotations] : rotations_) {
    std::uint8_t& all = earlier_rotations_[node];
    all = std::uint8_t(all | rotations);
  }
  rotations_.clear();
  if (num_steps_ <= 1) {
    parts_.held = earlier_held_;
    for (auto& [key, part] : held_parts_) {
      HeldPart& all = parts_.held_parts[key];
      all.components = std::uint8_t(all.components | part.components);
      if (all.nodes.size() < part.nodes.size())
        all.nodes = std::move(part.nodes);
    }
  }
  held_parts_.clear();
  parts_.held.resize(nodes_.size());
  if (parts_.held != earlier_held_)
    text_.bad("the supports of step ", num_steps_,
              " are not those of the first; all load cases "
              "have the same: write them before the steps");
}

bool AbaqusReader::is_new() const {
  const std::string* op = text_.keyword().find("OP");
  if (op != nullptr && *op != "NEW" && *op != "MOD")
    text_.bad("OP is ", printable_word(*op), " where NEW or MOD is expected");
  return op != nullptr && *op == "NEW";
}

bool AbaqusReader::begin_loads(KeyedLoads& earlier) {
  text_.require_params({"OP"});
  refuse_loads_of_frequencies();
  if (num_steps_ > 0 && !in_step_)
    text_.bad("a load between steps belongs to none; move it into one");
  const bool is_of_step_alone = is_new() && !perturbation_;
  if (is_of_step_alone)
    earlier.clear();
  return is_of_step_alone;
}

double AbaqusReader::take_load(const char* what) {
  double value = 0;
  if (!text_.number(value))
    text_.bad_field(std::string(what) + " is expected");
  return value;
}

void AbaqusReader::read_forces() {
  if (begin_loads(earlier_.forces))
    earlier_.moments.clear();
  Members one;
  while (text_.next_row()) {
    const Members& nodes = take_nodes(one);
    long component = 0;
    if (!text_.number(component))
      text_.bad_field("the direction of the force, 1, 2 or 3, is expected");
    const double force = take_load("a force");
    text_.require_end();
    if (component < 1 || component > 6)
      text_.bad("a load on degree of freedom ", component,
                " is not solved; forces act along 1, 2 and 3");
    for (const std::int32_t n : nodes)
      add_force(n, component, force);
    bound(fresh_.forces, 3 * nodes_.size());
    bound(fresh_.moments, 3 * nodes_.size());
  }
}

void AbaqusReader::add_force(std::int32_t node, long component, double force) {
  const Coupling* coupling = find_coupling(node);
  const bool turns =
      coupling != nullptr && (coupling->takes_moments || coupling->kind == Coupling::Kind::rigid);
  if (component > 3 && force != 0 && !turns)
    text_.bad("a load on degree of freedom ", component,
              " is not solved; forces act along 1, 2 and 3, and moments on reference nodes of "
              "rigid bodies, and of distributing couplings of all degrees of freedom");
  if (component <= 3)
    fresh_.forces.emplace_back(3 * std::int64_t(node) + component - 1, force);
  else if (coupling != nullptr)
    fresh_.moments.emplace_back(3 * std::int64_t(node) + component - 4, force);
}

int AbaqusReader::take_face(char letter) {
  return face_of(abaqus_name(text_.field()), letter);
}

int AbaqusReader::face_of(const std::string& name, char letter) const {
  // The order of [1], "Three-dimensional solid element library", is that of SolidShape::face.
  if (name.size() != 2 || name[0] != letter || name[1] < '1' || name[1] > '6')
    text_.bad("'", printable_word(name), "' where a face of solids, ", letter, "1 to ", letter,
              "6, is expected", letter == 'P' ? ", or GRAV or CENTRIF" : "");
  return name[1] - '1';
}

void AbaqusReader::read_pressures() {
  if (begin_loads(earlier_.pressures))
    earlier_.masses.clear();
  ElemSet one;
  while (text_.next_row()) {
    const ElemSet* elems = text_.pass_blank() ? nullptr : &take_elems(one);
    const std::string kind = abaqus_name(text_.field());
    if (kind == "GRAV" || kind == "CENTRIF") {
      read_mass_load(elems, kind == "GRAV");
      continue;
    }
    const int face = face_of(kind, 'P');
    const double pressure = take_load("a pressure");
    text_.require_end();
    if (elems == nullptr)
      text_.bad("a pressure on no elements; name a set of them");
    if (!elems->flat.empty())
      text_.bad("a pressure on elements without volume; name the faces of solids");
    for (const std::int32_t elem : elems->hexa) {
      require_face(elem, face);
      fresh_.pressures.emplace_back(6 * std::int64_t(elem) + face, pressure);
    }
    bound(fresh_.pressures, 6 * hexa_.size());
  }
}

std::array<double, 3> AbaqusReader::take_direction() {
  std::array<double, 3> direction{};
  for (double& component : direction)
    component = take_load("a component of a direction");
  const double length = std::hypot(direction[0], direction[1], direction[2]);
  if (!(length > 0 && std::isfinite(length)))
    text_.bad("a direction of length ", length);
  for (double& component : direction)
    component /= length;
  return direction;
}

void AbaqusReader::read_mass_load(const ElemSet* elems, bool is_gravity) {
  BodyLoad load;
  const double size = take_load(is_gravity ? "an acceleration" : "the square of a speed");
  if (is_gravity) {
    const std::array<double, 3> direction = take_direction();
    for (std::size_t axis = 0; axis < 3; ++axis)
      load.acceleration[axis] = size * direction[axis];
  } else {
    if (size < 0)
      text_.bad("the square of a speed of rotation is ", size);
    load.square_speed = size;
    for (double& x : load.origin)
      x = take_load("a coordinate of a point on the axis");
    load.axis = take_direction();
  }
  text_.require_end();
  const char* name = is_gravity ? "gravity" : "rotation";
  const auto of_kind = [&](std::vector<MassLoad>& loads) {
    const auto found = std::find_if(loads.begin(), loads.end(), [&](const MassLoad& one) {
      return one.is_gravity == is_gravity;
    });
    return found == loads.end() ? nullptr : &*found;
  };
  if (MassLoad* earlier = of_kind(earlier_.masses);
      earlier != nullptr && !perturbation_ && !earlier->is_same(load))
    text_.bad("the ", name, " of an earlier step is another; say by *DLOAD, OP=NEW that it ends");
  MassLoad* own = of_kind(fresh_.masses);
  if (own == nullptr) {
    fresh_.masses.push_back({is_gravity, load, {}});
    own = &fresh_.masses.back();
  }
  if (!own->is_same(load))
    text_.bad("a second ", name, " in one step; all elements have the same");
  own->elems.resize(hexa_.size());
  if (elems == nullptr)
    own->elems.assign(hexa_.size(), true);
  else
    for (const std::int32_t elem : elems->hexa)
      own->elems[std::size_t(elem)] = true;
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
    text_.require_end();
    for (const std::int64_t key : surface->second)
      fresh_.pressures.emplace_back(key, pressure);
    bound(fresh_.pressures, 6 * hexa_.size());
  }
}

} // namespace ossatura
