// SPDX-License-Identifier: Apache-2.0
// The reader takes nodes, elements and their sets from an Abaqus file.
#include <ossatura/core/io/abaqus/reader.hpp>
#include <ossatura/core/io/mesh/tetra_check.hpp>

#include <algorithm>
#include <functional>
#include <iterator>

namespace ossatura {
namespace {

/// Without volume, as Gmsh writes those of lines and surfaces beside the solids.
constexpr struct {
  std::string_view name;
  std::size_t num_nodes;
} flat_types[] = {
    {"T3D2", 2}, {"CPS3", 3}, {"CPS4", 4}, {"CPE3", 3},   {"CPE4", 4},   {"S3", 3},     {"S4", 4},
    {"S4R", 4},  {"M3D3", 3}, {"M3D4", 4}, {"SFM3D3", 3}, {"SFM3D4", 4}, {"STRI3", 3},  {"S3R", 3},
    {"T3D3", 3}, {"CPS6", 6}, {"CPS8", 8}, {"CPE6", 6},   {"CPE8", 8},   {"STRI65", 6}, {"S6", 6},
    {"S8", 8},   {"S8R", 8},  {"M3D6", 6}, {"M3D8", 8},   {"SFM3D6", 6}, {"SFM3D8", 8}};

/// Those with volume, and the kind that a type is solved as.
constexpr struct {
  std::string_view name;
  SolidKind kind;
} solid_types[] = {{"C3D4", SolidKind::tetra4},
                   {"C3D10", SolidKind::tetra10},
                   {"C3D6", SolidKind::prism6},
                   {"C3D15", SolidKind::prism15},
                   {"C3D8", SolidKind::hexa8},
                   {"C3D8R", SolidKind::hexa8},
                   {"C3D8I", SolidKind::hexa8},
                   {"C3D20", SolidKind::hexa20},
                   {"C3D20R", SolidKind::hexa20r},
                   {"C3D10M", SolidKind::tetra10},
                   // hybrid ones, as meshio writes hexahedra
                   {"C3D8RH", SolidKind::hexa8},
                   {"C3D20RH", SolidKind::hexa20r}};

/// Members in order, each once.
template<class Number>
void make_unique(std::vector<Number>& members) {
  if (std::adjacent_find(members.begin(), members.end(), std::greater_equal<>()) == members.end())
    return;
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
}

/// Members come up again where a set has sets and where ranges overlap; `count` is how many there
/// can be. Keeps a small file from taking much memory.
template<class Number>
void bound(std::vector<Number>& members, std::size_t count) {
  if (members.size() > 4 * count + 64)
    make_unique(members);
}

void append(const std::vector<std::int32_t>& from, std::vector<std::int32_t>& to,
            std::size_t count) {
  to.insert(to.end(), from.begin(), from.end());
  bound(to, count);
}

template<class Sets>
auto* find_set(Sets& sets, const std::string& name) {
  const auto found = sets.find(name);
  return found == sets.end() ? nullptr : &found->second;
}

/// Names of a part's sets go back to what the part calls them where the assembly has none so.
template<class Sets>
void drop_prefix(Sets& sets, const std::string& prefix) {
  Sets plain;
  for (auto& [name, set] : sets) {
    const bool prefixed = name.compare(0, prefix.size(), prefix) == 0;
    const std::string without = prefixed ? name.substr(prefix.size()) : name;
    plain[prefixed && sets.find(without) == sets.end() ? without : name] = std::move(set);
  }
  sets = std::move(plain);
}

template<class Sets>
void add_prefix(Sets& sets, const std::string& prefix) {
  Sets renamed;
  for (auto& [name, set] : sets)
    renamed[prefix + name] = std::move(set);
  sets = std::move(renamed);
}

/// What nodes_ has for a node of an assembly, whose numbers and those of its part are apart.
constexpr std::uint64_t assembly_number(std::uint64_t number) {
  return number | std::uint64_t(1) << 63;
}

} // namespace

void AbaqusReader::read_nodes() {
  text_.require_params({"NSET", "SYSTEM"});
  const AbaqusKeyword& keyword = text_.keyword();
  const std::string* system = keyword.find("SYSTEM");
  if (system != nullptr && *system != "R")
    text_.bad("nodes in the system ", printable_word(*system), " are not read; write x, y and z");
  const std::string* name = keyword.find("NSET");
  Members* set = name == nullptr ? nullptr : &node_sets_[*name];
  while (text_.next_row()) {
    std::uint64_t number = 0;
    if (!text_.number(number))
      text_.bad_field("the number of a node is expected");
    require_few_points(parts_.path, nodes_.size() + 1);
    has_assembly_nodes_ = has_assembly_nodes_ || instance_ended_;
    if (!nodes_.add(instance_ended_ ? assembly_number(number) : number))
      text_.bad("node ", number, " is there twice; number the nodes anew");
    for (int axis = 0; axis < 3; ++axis) {
      double x = 0;
      if (!text_.number_or_blank(x))
        text_.bad_field("a coordinate is expected");
      parts_.point.push_back(x);
    }
    text_.require_end();
    if (set != nullptr)
      set->push_back(std::int32_t(nodes_.size() - 1));
  }
}

std::string AbaqusReader::node_name(std::size_t place) const {
  const std::uint64_t number = nodes_.number(place);
  if (!has_assembly_nodes_ || number != assembly_number(number))
    return "node " + std::to_string(number);
  return "node " + std::to_string(number - assembly_number(0)) + " of the assembly";
}

void AbaqusReader::read_elements() {
  text_.require_params({"TYPE", "ELSET"});
  const AbaqusKeyword& keyword = text_.keyword();
  const std::string* type = keyword.find("TYPE");
  if (type == nullptr)
    text_.bad(keyword.written, " has no TYPE");
  const std::string* name = keyword.find("ELSET");
  ElemSet* set = name == nullptr ? nullptr : &elem_sets_[*name];
  const auto* solid = std::find_if(std::begin(solid_types), std::end(solid_types),
                                   [&](const auto& known) { return known.name == *type; });
  if (solid != std::end(solid_types)) {
    if (*type != name_of(solid->kind))
      add_note("elements of type " + *type + " are solved as " + name_of(solid->kind));
    return read_solids(solid->kind, set == nullptr ? nullptr : &set->hexa);
  }
  const auto* flat = std::find_if(std::begin(flat_types), std::end(flat_types),
                                  [&](const auto& known) { return known.name == *type; });
  if (flat == std::end(flat_types))
    text_.bad(
        "elements of type ", printable_word(*type),
        " are not solved; mesh with tetrahedra, prisms or hexahedra (C3D4, C3D10, C3D6, C3D15, "
        "C3D8, C3D20, C3D20R)");
  read_flat(flat->num_nodes, flat->name[0] == 'T', set == nullptr ? nullptr : &set->flat);
}

std::uint64_t AbaqusReader::take_new_elem(NumberMap& own, const NumberMap& other) {
  std::uint64_t number = 0;
  if (!text_.number(number))
    text_.bad_field("the number of an element is expected");
  if (other.find(number) >= 0 || !own.add(number))
    text_.bad("element ", number, " is there twice; number the elements anew");
  return number;
}

std::int32_t AbaqusReader::take_node_of(std::uint64_t elem) {
  std::uint64_t node = 0;
  if (!text_.number(node))
    text_.bad_field("a node of the element is expected");
  const std::int32_t place = find_node(node);
  if (place < 0)
    text_.bad("element ", elem, " has node ", node, ", which is not among the nodes before it");
  return place;
}

void AbaqusReader::add_note(const std::string& note) {
  if (std::find(parts_.notes.begin(), parts_.notes.end(), note) == parts_.notes.end())
    parts_.notes.push_back(note);
}

void AbaqusReader::read_solids(SolidKind kind, Members* set) {
  const int num_nodes = nodes_per_elem(kind);
  while (text_.next_row()) {
    const std::uint64_t number = take_new_elem(hexa_, flat_);
    for (int k = 0; k < num_nodes; ++k) {
      if (!text_.more() && !text_.next_row())
        text_.bad("element ", number, " of type ", name_of(kind), " has ", k, " nodes of ",
                  num_nodes);
      parts_.node.push_back(take_node_of(number));
    }
    if (text_.more())
      text_.bad("element ", number, " of type ", name_of(kind), " has more than ", num_nodes,
                " nodes");
    parts_.kind.push_back(kind);
    solid_begin_.push_back(parts_.node.size());
    if (set != nullptr)
      set->push_back(std::int32_t(hexa_.size() - 1));
  }
}

void AbaqusReader::require_face(std::int32_t elem, int face) {
  const SolidShape& shape = shape_of(parts_.kind[std::size_t(elem)]);
  if (face >= shape.num_faces)
    text_.bad("face ", face + 1, " of ", parts_.elem_name(std::size_t(elem)), ", a ", shape.noun,
              ", which has faces 1 to ", shape.num_faces);
}

void AbaqusReader::read_flat(std::size_t num_nodes, bool is_curve, Members* set) {
  while (text_.next_row()) {
    const std::uint64_t number = take_new_elem(flat_, hexa_);
    for (std::size_t k = 0; k < num_nodes; ++k)
      flat_node_.push_back(take_node_of(number));
    flat_begin_.push_back(std::int32_t(flat_node_.size()));
    is_curve_.push_back(is_curve);
    if (set != nullptr)
      set->push_back(std::int32_t(flat_.size() - 1));
  }
}

const AbaqusReader::Members& AbaqusReader::require_node_set(const std::string& name) {
  Members* set = find_set(node_sets_, name);
  if (set == nullptr)
    text_.bad("there is no node set ", printable_word(name), " before this line");
  make_unique(*set); // a force acts once on a node, however often the set has it
  return *set;
}

const AbaqusReader::ElemSet& AbaqusReader::require_elem_set(const std::string& name) {
  ElemSet* set = find_set(elem_sets_, name);
  if (set == nullptr)
    text_.bad("there is no element set ", printable_word(name), " before this line");
  make_unique(set->hexa);
  make_unique(set->flat);
  return *set;
}

const AbaqusReader::Members& AbaqusReader::take_nodes(Members& one) {
  std::string set;
  return take_nodes(one, set);
}

const AbaqusReader::Members& AbaqusReader::take_nodes(Members& one, std::string& set) {
  std::uint64_t number = 0;
  set.clear();
  if (!text_.number(number)) {
    const std::string name = abaqus_name(text_.field());
    const Members& found = named_nodes(name, one);
    if (&found != &one)
      set = name;
    return found;
  }
  one.assign(1, require_node(number));
  return one;
}

std::int32_t AbaqusReader::find_node(std::uint64_t number) const {
  const bool is_of_assembly = has_assembly_nodes_ && !text_.keyword().has("INSTANCE");
  return nodes_.find(is_of_assembly ? assembly_number(number) : number);
}

std::int32_t AbaqusReader::require_node(std::uint64_t number) const {
  const std::int32_t place = find_node(number);
  if (place >= 0)
    return place;
  if (nodes_.find(number) >= 0)
    text_.bad("the assembly has nodes of its own, and no node ", number, "; that of its part is ",
              printable_word(instance_), ".", number,
              ", or in an *NSET with INSTANCE=", printable_word(instance_));
  text_.bad("there is no node ", number, " before this line");
}

const AbaqusReader::Members& AbaqusReader::named_nodes(const std::string& name, Members& one) {
  const std::string prefix = instance_ + ".";
  const bool is_of_part = instance_ended_ && name.compare(0, prefix.size(), prefix) == 0;
  const std::optional<std::uint64_t> number =
      is_of_part ? whole_number(name.substr(prefix.size())) : std::nullopt;
  if (!number || node_sets_.count(name) > 0)
    return require_node_set(name);
  const std::int32_t place = nodes_.find(*number);
  if (place < 0)
    text_.bad("the part has no node ", *number);
  one.assign(1, place);
  return one;
}

void AbaqusReader::add_elem(std::uint64_t number, ElemSet& set) {
  if (const std::int32_t place = hexa_.find(number); place >= 0)
    return set.hexa.push_back(place);
  const std::int32_t place = flat_.find(number);
  if (place < 0)
    text_.bad("there is no element ", number, " before this line");
  set.flat.push_back(place);
}

const AbaqusReader::ElemSet& AbaqusReader::take_elems(ElemSet& one) {
  std::uint64_t number = 0;
  if (!text_.number(number))
    return require_elem_set(abaqus_name(text_.field()));
  one.hexa.clear();
  one.flat.clear();
  add_elem(number, one);
  return one;
}

template<class Add, class EndRow>
void AbaqusReader::read_ranges(const Add& add, const EndRow& end_row) {
  while (text_.next_row()) {
    std::uint64_t first = 0, last = 0, step = 1;
    if (!text_.number(first) || !text_.number(last) || !text_.number_or_blank(step))
      text_.bad_field("the first and the last number of a range, and the step, are expected");
    if (step == 0 || first > last)
      text_.bad("a range from ", first, " to ", last, " by ", step, " is none");
    for (std::uint64_t left = (last - first) / step, number = first;; --left, number += step) {
      add(number);
      if (left == 0)
        break;
    }
    end_row();
  }
}

void AbaqusReader::add_nodes_of(const ElemSet& elems, Members& nodes) const {
  Members some;
  for (const std::int32_t elem : elems.hexa)
    some.insert(some.end(), parts_.node.begin() + std::ptrdiff_t(solid_begin_[std::size_t(elem)]),
                parts_.node.begin() + std::ptrdiff_t(solid_begin_[std::size_t(elem) + 1]));
  for (const std::int32_t elem : elems.flat)
    some.insert(some.end(), flat_node_.begin() + std::ptrdiff_t(flat_begin_[std::size_t(elem)]),
                flat_node_.begin() + std::ptrdiff_t(flat_begin_[std::size_t(elem) + 1]));
  append(some, nodes, nodes_.size());
}

void AbaqusReader::read_node_set() {
  text_.require_params({"NSET", "GENERATE", "ELSET", "INSTANCE", "INTERNAL", "UNSORTED"});
  const AbaqusKeyword& keyword = text_.keyword();
  const std::string* name = keyword.find("NSET");
  if (name == nullptr || name->empty())
    text_.bad(keyword.written, " has no NSET");
  Members set;
  if (const std::string* elset = keyword.find("ELSET")) {
    add_nodes_of(require_elem_set(*elset), set);
  } else if (keyword.has("GENERATE")) {
    read_ranges([&](std::uint64_t number) { set.push_back(require_node(number)); },
                [&] { bound(set, nodes_.size()); });
  } else {
    Members one;
    while (text_.next_row())
      while (text_.more())
        append(take_nodes(one), set, nodes_.size());
  }
  append(set, node_sets_[*name], nodes_.size());
}

void AbaqusReader::read_elem_set() {
  text_.require_params({"ELSET", "GENERATE", "INSTANCE", "INTERNAL", "UNSORTED"});
  const AbaqusKeyword& keyword = text_.keyword();
  const std::string* name = keyword.find("ELSET");
  if (name == nullptr || name->empty())
    text_.bad(keyword.written, " has no ELSET");
  ElemSet set;
  if (keyword.has("GENERATE"))
    read_ranges([&](std::uint64_t number) { add_elem(number, set); },
                [&] {
                  bound(set.hexa, hexa_.size());
                  bound(set.flat, flat_.size());
                });
  ElemSet one;
  while (text_.next_row())
    while (text_.more()) {
      const ElemSet& elems = take_elems(one);
      append(elems.hexa, set.hexa, hexa_.size());
      append(elems.flat, set.flat, flat_.size());
    }
  ElemSet& all = elem_sets_[*name];
  append(set.hexa, all.hexa, hexa_.size());
  append(set.flat, all.flat, flat_.size());
}

void AbaqusReader::read_surface() {
  text_.require_params({"NAME", "TYPE", "INTERNAL"});
  const AbaqusKeyword& keyword = text_.keyword();
  const std::string* name = keyword.find("NAME");
  const std::string* type = keyword.find("TYPE");
  if (name == nullptr || name->empty())
    text_.bad(keyword.written, " has no NAME");
  if (type != nullptr && *type == "NODE")
    return read_node_surface(*name);
  if (type != nullptr && *type != "ELEMENT")
    text_.bad("a surface of type ", printable_word(*type),
              " is not read; make it of nodes (TYPE=NODE) or faces of elements (TYPE=ELEMENT)");
  std::vector<std::int64_t>& surface = surfaces_[*name];
  ElemSet one;
  while (text_.next_row()) {
    const ElemSet& elems = take_elems(one);
    const int face = take_face('S');
    if (!elems.flat.empty())
      text_.bad("the surface has elements without volume; make it of faces of solids");
    for (const std::int32_t elem : elems.hexa) {
      require_face(elem, face);
      surface.push_back(6 * std::int64_t(elem) + face);
    }
    bound(surface, 6 * hexa_.size());
  }
  make_unique(surface); // a face belongs to a surface or does not
}

void AbaqusReader::begin_part() {
  if (!part_.empty())
    text_.bad("a second part is not read; merge the parts into one");
  const std::string* name = text_.keyword().find("NAME");
  part_ = name == nullptr || name->empty() ? "PART" : *name;
}

void AbaqusReader::begin_instance() {
  text_.require_params({"NAME", "PART"});
  if (!instance_.empty())
    text_.bad("a second instance is not read; merge the instances into one part");
  const std::string* name = text_.keyword().find("NAME");
  instance_ = name == nullptr || name->empty() ? "INSTANCE" : *name;
  if (text_.next_row())
    text_.bad("an instance that is moved is not read; move the part itself");
}

void AbaqusReader::end_instance() {
  if (instance_.empty() || instance_ended_)
    text_.bad(text_.keyword().written, " ends no instance");
  instance_ended_ = true;
  // Steps mean the sets of the assembly, and "INSTANCE.SET" those of the part.
  add_prefix(node_sets_, instance_ + ".");
  add_prefix(elem_sets_, instance_ + ".");
  add_prefix(surfaces_, instance_ + ".");
}

void AbaqusReader::add_faces_of(const Members& flat, const std::string& name) {
  std::vector<FaceCorners> faces;
  std::vector<EdgeEnds> edges;
  bool has_triangles = false;
  for (const std::int32_t elem : flat) {
    const auto begin = std::size_t(flat_begin_[std::size_t(elem)]);
    const std::int32_t* const n = &flat_node_[begin];
    const std::size_t num_nodes = std::size_t(flat_begin_[std::size_t(elem) + 1]) - begin;
    if (is_curve_[std::size_t(elem)]) {
      edges.push_back({n[0], n[1]});
      if (num_nodes == 3) // which one is in the middle differs by program
        edges.insert(edges.end(), {{n[0], n[2]}, {n[1], n[2]}});
    } else if (num_nodes % 4 == 0) {
      faces.push_back({n[0], n[1], n[2], n[3]});
    } else {
      faces.push_back({n[0], n[1], n[2], std::max({n[0], n[1], n[2]})});
      has_triangles = true;
    }
  }
  const auto& kinds = parts_.kind;
  if (has_triangles && std::all_of(kinds.begin(), kinds.end(),
                                   [](SolidKind kind) { return shape_of(kind).num_corners == 8; }))
    return; // they are halves of its faces
  parts_.face_sets[name] = std::move(faces);
  if (!edges.empty())
    parts_.edge_sets[name] = std::move(edges);
}

void AbaqusReader::finish_sets() {
  if (instance_ended_) {
    drop_prefix(node_sets_, instance_ + ".");
    drop_prefix(elem_sets_, instance_ + ".");
  }
  parts_.node_sets = std::move(node_sets_);
  for (auto& [name, set] : elem_sets_) {
    if (!set.flat.empty() && parts_.node_sets.count(name) == 0) { // *NSET says it better
      add_nodes_of({{}, set.flat}, parts_.node_sets[name]);
      add_faces_of(set.flat, name);
    }
    if (!set.hexa.empty() || set.flat.empty())
      parts_.elem_sets[name] = std::move(set.hexa);
  }
}

} // namespace ossatura
