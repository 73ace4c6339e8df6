// SPDX-License-Identifier: Apache-2.0
// The reader turns couplings and rigid bodies of an Abaqus file into loads and supports of nodes.
// Nodes have no equations between them here: a distributing coupling needs none, for its load
// becomes forces on its nodes; those of a free rigid body do, too. A rigid body or kinematic
// coupling needs none where its reference node is held or moved in all directions and does not
// turn, for its nodes then do the same.
#include <ossatura/core/io/abaqus/reader.hpp>

#include <ossatura/core/mesh/mechanics/distribute_load.hpp>
#include <ossatura/core/mesh/solids/shape.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ossatura {
namespace {

constexpr const char* rigid_remedy =
    "; hold or move its reference node in 1, 2 and 3 and hold its rotations 4, 5 and 6, or leave "
    "all six free, or let a *COUPLING with *DISTRIBUTING take its loads, which stiffens nothing";

} // namespace

std::int32_t AbaqusReader::require_reference(const char* param) {
  const AbaqusKeyword& keyword = text_.keyword();
  const std::string* name = keyword.find(param);
  if (name == nullptr || name->empty())
    text_.bad(keyword.written, " has no ", param);
  Members one;
  const std::optional<std::uint64_t> number = whole_number(*name);
  if (number)
    return require_node(*number);
  const Members& set = named_nodes(*name, one);
  if (set.size() != 1)
    text_.bad("the set ", printable_word(*name), " has ", set.size(),
              " nodes where one reference node is expected");
  return set[0];
}

AbaqusReader::Coupling& AbaqusReader::add_coupling(std::int32_t reference) {
  const auto is_held = [&](const std::vector<std::uint8_t>& held) {
    return std::size_t(reference) < held.size() && held[std::size_t(reference)] != 0;
  };
  if (num_steps_ > 0 || is_held(held_))
    text_.bad(text_.keyword().written, " stands behind steps or behind supports of its reference ",
              parts_.node_name(std::size_t(reference)), "; write it before them");
  if (!coupling_of_.emplace(reference, couplings_.size()).second)
    text_.bad(parts_.node_name(std::size_t(reference)),
              " is the reference node of two couplings; give each its own");
  couplings_.emplace_back();
  couplings_.back().reference = reference;
  return couplings_.back();
}

void AbaqusReader::begin_coupling() {
  text_.require_params({"CONSTRAINTNAME", "REFNODE", "SURFACE"});
  require_decided();
  const std::string* name = text_.keyword().find("SURFACE");
  if (name == nullptr || name->empty())
    text_.bad(text_.keyword().written, " has no SURFACE");
  const std::int32_t reference = require_reference("REFNODE");
  Coupling& coupling = add_coupling(reference);
  if (const auto nodes = node_surfaces_.find(*name); nodes != node_surfaces_.end()) {
    coupling.nodes = nodes->second;
    coupling.weight.assign(coupling.nodes.size(), 1);
  } else if (const auto faces = surfaces_.find(*name); faces != surfaces_.end()) {
    weigh_faces(faces->second, coupling);
  } else {
    text_.bad("there is no surface ", printable_word(*name), " before this line");
  }
  if (coupling.nodes.empty())
    text_.bad("the surface ", printable_word(*name), " has no nodes");
  require_few_coupled();
}

void AbaqusReader::require_few_coupled() const {
  // A small file may name a large set in each of its lines.
  constexpr std::size_t most = 100;
  std::size_t count = 0;
  for (const Coupling& coupling : couplings_)
    count += coupling.nodes.size();
  if (count > most * (nodes_.size() + 64))
    text_.bad("the couplings up to here have more than ", most, " times the nodes of the mesh");
}

void AbaqusReader::weigh_faces(const std::vector<std::int64_t>& faces, Coupling& coupling) const {
  std::map<std::int32_t, double> weight;
  std::array<std::int32_t, std::size_t(most_solid_nodes)> numbers{};
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const std::int64_t key : faces) {
    const auto elem = std::size_t(key / 6);
    const std::int32_t* const node = parts_.node.data() + solid_begin_[elem];
    const auto num_nodes = std::size_t(nodes_per_elem(parts_.kind[elem]));
    SolidMesh alone;
    alone.add(parts_.kind[elem], numbers.data());
    for (std::size_t i = 0; i < num_nodes; ++i)
      for (std::size_t axis = 0; axis < 3; ++axis)
        alone.point.push_back(parts_.point[3 * std::size_t(node[i]) + axis]);
    const auto share = face_shares(alone, {0, int(key % 6)});
    // Of second-order faces those of corners are zero or negative: mid-nodes have all of the area.
    double area = 0, positive = 0;
    for (const double part : share) {
      area += part;
      positive += std::max(0.0, part);
    }
    if (!(area > 0 && std::isfinite(area)))
      text_.bad("the surface has no area around ", parts_.node_name(std::size_t(node[0])));
    const SolidFaceNodes of_face = face_nodes(parts_.kind[elem], int(key % 6));
    for (int k = 0; k < of_face.num_nodes; ++k) {
      const auto i = std::size_t(of_face.node[k]);
      weight[node[i]] += share[i] > 1e-9 * area ? share[i] * area / positive : 0;
    }
  }
  for (const auto& [node, area] : weight) {
    coupling.nodes.push_back(node);
    coupling.weight.push_back(area);
  }
}

void AbaqusReader::drop_weightless(Coupling& coupling) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < coupling.nodes.size(); ++i)
    if (coupling.weight[i] > 0) {
      coupling.nodes[count] = coupling.nodes[i];
      coupling.weight[count++] = coupling.weight[i];
    }
  coupling.nodes.resize(count);
  coupling.weight.resize(count);
}

void AbaqusReader::read_node_surface(const std::string& name) {
  Members& nodes = node_surfaces_[name];
  Members one;
  while (text_.next_row()) {
    const Members& more = take_nodes(one);
    nodes.insert(nodes.end(), more.begin(), more.end());
    if (nodes.size() > 4 * nodes_.size() + 64)
      make_unique_nodes(nodes);
    double weight = 1;
    if (text_.more() && (!text_.number(weight) || weight != 1))
      text_.bad_field("a node alone is expected, whose weight is 1");
  }
  make_unique_nodes(nodes);
}

void AbaqusReader::make_unique_nodes(Members& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

unsigned AbaqusReader::take_coupled() {
  unsigned components = 0;
  while (text_.next_row()) {
    long first = 0;
    if (!text_.number(first))
      text_.bad_field("the first degree of freedom is expected");
    long last = first;
    if (!text_.number_or_blank(last))
      text_.bad_field("the last degree of freedom is expected");
    if (first < 1 || last < first || last > 6)
      text_.bad("degrees of freedom ", first, " to ", last, "; they are 1 to 6");
    for (long component = first; component <= last; ++component)
      components |= 1u << (component - 1);
  }
  return components == 0 ? 63 : components;
}

void AbaqusReader::decide_coupling(bool is_rigid) {
  const AbaqusKeyword& keyword = text_.keyword();
  const std::string written = keyword.written;
  if (is_rigid)
    text_.require_params({});
  else
    text_.require_params({"WEIGHTINGMETHOD"});
  if (const std::string* method = keyword.find("WEIGHTINGMETHOD"); method && *method != "UNIFORM")
    text_.bad("the weighting method ", printable_word(*method), " is not known; UNIFORM is");
  if (couplings_.empty() || couplings_.back().kind != Coupling::Kind::undecided)
    text_.bad(written, " belongs to no *COUPLING");
  Coupling& coupling = couplings_.back();
  coupling.kind = is_rigid ? Coupling::Kind::rigid : Coupling::Kind::distributing;
  if (!is_rigid)
    drop_weightless(coupling);
  const unsigned components = take_coupled();
  if ((components & 7) != 7)
    text_.bad(written, " of some of the displacements 1, 2 and 3 is not solved; couple all");
  coupling.takes_moments = components == 63;
}

void AbaqusReader::read_kinematic() {
  decide_coupling(true);
}

void AbaqusReader::read_distributing() {
  decide_coupling(false);
}

void AbaqusReader::read_rigid_body() {
  text_.require_params({"NSET", "TIENSET", "PINNSET", "ELSET", "REFNODE", "ROTNODE"});
  require_decided();
  const AbaqusKeyword& keyword = text_.keyword();
  Coupling& coupling = add_coupling(require_reference("REFNODE"));
  coupling.kind = Coupling::Kind::rigid;
  for (const char* param : {"NSET", "TIENSET", "PINNSET"})
    if (const std::string* name = keyword.find(param)) {
      const Members& set = require_node_set(*name);
      coupling.nodes.insert(coupling.nodes.end(), set.begin(), set.end());
    }
  if (const std::string* name = keyword.find("ELSET"))
    add_nodes_of(require_elem_set(*name), coupling.nodes);
  make_unique_nodes(coupling.nodes);
  coupling.nodes.erase(
      std::remove(coupling.nodes.begin(), coupling.nodes.end(), coupling.reference),
      coupling.nodes.end());
  if (coupling.nodes.empty())
    text_.bad(keyword.written, " has no nodes; give NSET or ELSET");
  require_few_coupled();
  if (keyword.has("ROTNODE"))
    turning_.emplace(require_reference("ROTNODE"), coupling.reference);
}

void AbaqusReader::require_decided() const {
  if (!couplings_.empty() && couplings_.back().kind == Coupling::Kind::undecided)
    text_.bad("the *COUPLING before has neither *KINEMATIC nor *DISTRIBUTING");
}

const AbaqusReader::Coupling* AbaqusReader::find_coupling(std::int32_t node) const {
  const auto found = coupling_of_.find(node);
  return found == coupling_of_.end() ? nullptr : &couplings_[found->second];
}

void AbaqusReader::hold_reference(std::int32_t node, unsigned components, double displacement) {
  require_decided();
  if (const auto turns = turning_.find(node); turns != turning_.end()) {
    if (displacement != 0)
      text_.bad("a rotation of ", displacement,
                " is not solved; hold the rotations of a rigid body");
    std::uint8_t& rotations = rotations_[turns->second];
    rotations = std::uint8_t(rotations | (components & 7));
    return;
  }
  const Coupling& coupling = *find_coupling(node);
  if (coupling.kind == Coupling::Kind::distributing)
    text_.bad(parts_.node_name(std::size_t(node)),
              " is the reference node of a distributing coupling, whose mean displacement is not "
              "held; hold nodes of the body, or take *KINEMATIC");
  std::uint8_t& rotations = rotations_[node];
  rotations = std::uint8_t(rotations | components >> 3);
  held_[std::size_t(node)] |= std::uint8_t(components & 7);
  for (const std::int32_t follower : coupling.nodes)
    hold_node(follower, components & 7, displacement);
  HeldPart& part = held_parts_[{"", -1 - std::int64_t(node)}];
  part.components = std::uint8_t(part.components | (components & 7));
  part.nodes = coupling.nodes;
}

void AbaqusReader::check_rigid_bodies() const {
  for (const Coupling& coupling : couplings_) {
    if (coupling.kind != Coupling::Kind::rigid)
      continue;
    const unsigned held = held_of(coupling);
    const std::string name = parts_.node_name(std::size_t(coupling.reference));
    if (held == 0)
      continue;
    if (held != 63)
      text_.bad("the rigid body or kinematic coupling at ", name, " is free to ",
                (held & 7) != 7 ? "move" : "turn", ", but not in all ways, which is not solved",
                rigid_remedy);
    for (const KeyedLoads* loads : {&fresh_.forces, &fresh_.moments})
      for (const auto& [key, value] : *loads)
        if (value != 0 && key / 3 == coupling.reference)
          text_.bad(name, " is the reference node of a rigid body or kinematic coupling that is "
                          "held, where loads do nothing; leave all six of its degrees of freedom "
                          "free, or let a *COUPLING with *DISTRIBUTING take them");
  }
}

unsigned AbaqusReader::held_of(const Coupling& coupling) const {
  const auto reference = std::size_t(coupling.reference);
  const auto turned = earlier_rotations_.find(coupling.reference);
  const unsigned moves = reference < earlier_held_.size() ? earlier_held_[reference] : 0;
  return moves | (turned == earlier_rotations_.end() ? 0u : unsigned(turned->second) << 3);
}

void AbaqusReader::take_free_bodies() {
  for (const Coupling& coupling : couplings_)
    if (coupling.kind == Coupling::Kind::rigid && held_of(coupling) == 0)
      parts_.rigid.push_back(coupling.nodes);
}

void AbaqusReader::finish_couplings() const {
  require_decided();
  std::vector<bool> has_elem(nodes_.size());
  for (const std::int32_t node : parts_.node)
    has_elem[std::size_t(node)] = true;
  const auto require_alone = [&](std::int32_t node) {
    if (has_elem[std::size_t(node)])
      fail<InputError>(parts_.path, ": ", parts_.node_name(std::size_t(node)),
                       " is a reference node, and of an element, too; give the coupling a node of "
                       "its own");
  };
  for (const Coupling& coupling : couplings_)
    require_alone(coupling.reference);
  for (const auto& [node, reference] : turning_)
    require_alone(node);
}

void AbaqusReader::add_coupled_forces(const KeyedLoads& forces, const KeyedLoads& moments,
                                      std::vector<NodeForce>& result) const {
  std::map<std::int32_t, std::array<std::array<double, 3>, 2>> loads; // force, moment
  for (const auto& [key, value] : forces)
    if (value != 0 && find_coupling(std::int32_t(key / 3)) != nullptr)
      loads[std::int32_t(key / 3)][0][std::size_t(key % 3)] = value;
  for (const auto& [key, value] : moments)
    if (value != 0)
      loads[std::int32_t(key / 3)][1][std::size_t(key % 3)] = value;
  for (const auto& [node, load] : loads) {
    const Coupling& coupling = *find_coupling(node);
    std::vector<WeightedNode> nodes;
    for (std::size_t i = 0; i < coupling.nodes.size(); ++i)
      nodes.push_back({coupling.nodes[i], // of a rigid body resultants count
                       coupling.kind == Coupling::Kind::rigid ? 1 : coupling.weight[i]});
    const double* x = &parts_.point[3 * std::size_t(node)];
    std::string problem;
    const std::vector<NodeForce> spread =
        distribute_load(parts_.point, nodes, {x[0], x[1], x[2]}, load[0], load[1], problem);
    if (!problem.empty())
      fail<InputError>(parts_.path, ": the coupling at ", parts_.node_name(std::size_t(node)), ": ",
                       problem, "; couple more nodes");
    for (const NodeForce& one : spread)
      if (one.force[0] != 0 || one.force[1] != 0 || one.force[2] != 0)
        result.push_back(one);
  }
}

} // namespace ossatura
