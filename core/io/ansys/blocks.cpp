// SPDX-License-Identifier: Apache-2.0
// The reader takes nodes, elements and components from an Ansys archive.
#include <ossatura/core/io/ansys/reader.hpp>
#include <ossatura/core/io/mesh/tetra_check.hpp>

#include <algorithm>

namespace ossatura {
namespace {

constexpr std::int64_t mesh_only = 200; ///< MESH200, which has no stiffness

/// The number of an element's type by name ("SOLID185") or number; -1 where it has none.
std::int64_t type_number(const std::string& name) {
  const std::size_t digits = name.find_first_of("0123456789");
  std::int64_t number = -1;
  if (digits != std::string::npos)
    std::from_chars(name.data() + digits, name.data() + name.size(), number);
  return number;
}

} // namespace

void AnsysReader::read_type() {
  std::int64_t type = 1;
  text_.number(1, type, "the number of an element type");
  ElemType& made = types_[type] = {type_number(text_.field(2)), {}};
  for (std::int64_t i = 1; i <= 6; ++i)
    text_.number(std::size_t(2 + i), made.key[i], "a key of the element type");
}

void AnsysReader::read_types() {
  const AnsysFormat format = text_.take_format();
  while (text_.next_row()) {
    const std::int64_t type = text_.integer(format.integer[0]);
    if (type < 0)
      return;
    ElemType& made = types_[type] = {text_.integer(format.integer.back()), {}};
    std::int64_t i = 0;
    for (const std::size_t width : format.real)
      if (!text_.row_ends())
        made.key[++i] = text_.integer(width);
  }
  text_.bad("the block of element types does not end with -1: the file is truncated or damaged");
}

void AnsysReader::read_key() {
  std::int64_t type = 0, i = 0, value = 0;
  if (!text_.is_number(1)) // of contact, which is not read
    return;
  text_.number(1, type, "the number of an element type");
  text_.number(2, i, "the number of a key");
  text_.number(3, value, "a key of the element type");
  types_[type].key[i] = value;
}

void AnsysReader::read_nodes() {
  const AnsysFormat format = text_.take_format();
  if (format.real.size() < 3)
    text_.bad("nodes without coordinates");
  while (text_.next_row()) {
    const std::int64_t number = text_.integer(format.integer[0]);
    if (number == -1)
      return;
    for (std::size_t i = 1; i < format.integer.size(); ++i)
      text_.integer(format.integer[i]);
    require_few_points(parts_.path, nodes_.size() + 1);
    if (number < 1 || !nodes_.add(std::uint64_t(number)))
      text_.bad("node ", number, number < 1 ? " has no positive number" : " is there twice");
    for (std::size_t axis = 0; axis < 3; ++axis)
      parts_.point.push_back(text_.real(format.real[axis]));
    bool rotated = false;
    for (std::size_t i = 3; i < format.real.size() && !text_.row_ends(); ++i)
      rotated = text_.real(format.real[i]) != 0 || rotated;
    text_.require_row_end();
    if (rotated) {
      rotated_.resize(nodes_.size());
      rotated_.back() = true;
    }
  }
  // N,R5.3,LOC,-1, or -1 alone, ends it.
  if (!text_.next_command() || text_.command() != "N" || text_.field(3) != "-1")
    text_.bad(
        "the block of nodes does not end with N,...,LOC,-1: the file is truncated or damaged");
}

void AnsysReader::read_node_end() {
  if (text_.field(3) != "-1")
    text_.bad("nodes written one by one are not read; write the archive in blocks (CDWRITE,DB)");
}

void AnsysReader::read_elements() {
  if (text_.field(2) != "SOLID")
    text_.bad("element blocks without the word SOLID are not read; write the archive with "
              "CDWRITE,DB");
  const AnsysFormat format = text_.take_format();
  const std::size_t width = format.integer[0];
  while (text_.next_row()) {
    std::int64_t head[11] = {};
    head[0] = text_.integer(width);
    if (head[0] == -1)
      return;
    for (int i = 1; i < 11; ++i) {
      if (text_.row_ends())
        text_.bad("an element of ", i, " columns; the archive has 11 before the nodes");
      head[i] = text_.integer(width);
    }
    const std::int64_t material = head[0], num_nodes = head[8], number = head[10];
    const auto type = types_.find(head[1]);
    if (type == types_.end() || type->second.number < 0)
      text_.bad("element ", number, " is of type ", head[1],
                ", of which no ET before it says what that is");
    const std::int64_t type_number = type->second.number;
    const bool is_hexa = type_number == 185 || type_number == 45;
    if (!is_hexa && type_number != mesh_only)
      text_.bad("element ", number, " is of Ansys's type ", type_number,
                ", which is not solved; mesh with hexahedra of eight nodes (SOLID185)");
    if (number < 1 || hexa_.find(std::uint64_t(number)) >= 0 ||
        !(is_hexa ? hexa_ : flat_).add(std::uint64_t(number)))
      text_.bad("element ", number, number < 1 ? " has no positive number" : " is there twice");
    if (!is_hexa) {
      if (num_nodes > 8 && !text_.next_row())
        text_.bad("element ", number, " ends within its nodes");
      continue;
    }
    if (num_nodes != 8)
      text_.bad("element ", number, " has ", num_nodes, " nodes; hexahedra have 8");
    for (int k = 0; k < 8; ++k) {
      if (text_.row_ends())
        text_.bad("element ", number, " has ", k, " nodes of 8");
      const std::int64_t node = text_.integer(width);
      const std::int32_t place = node < 0 ? -1 : nodes_.find(std::uint64_t(node));
      if (place < 0)
        text_.bad("element ", number, " has node ", node,
                  ", which is not among the nodes before it");
      parts_.node.push_back(place);
    }
    text_.require_row_end();
    used_types_.insert(head[1]);
    if (used_materials_.empty() || last_material_ != material)
      used_materials_.insert(material);
    last_material_ = material;
  }
  text_.bad("the block of elements does not end with -1: the file is truncated or damaged");
}

void AnsysReader::read_component() {
  const std::string name = text_.field(1), kind = text_.field(2);
  const bool of_nodes = kind == "NODE" || kind == "NODES";
  if (name.empty() || (!of_nodes && kind.substr(0, 4) != "ELEM"))
    text_.bad("a component of kind ", printable_word(kind), " is not read; of NODE or ELEM");
  std::int64_t count = -1;
  text_.number(3, count, "the number of entries");
  if (count < 0)
    text_.bad("a component without the number of its entries");
  const AnsysFormat format = text_.take_format();
  Members members;
  std::int64_t last = 0;
  const auto add = [&](std::int64_t number) {
    const std::int32_t place = (of_nodes ? nodes_ : hexa_).find(std::uint64_t(number));
    if (place >= 0)
      members.push_back(place);
    else if (of_nodes || flat_.find(std::uint64_t(number)) < 0)
      text_.bad("component ", printable_word(name), " names ", of_nodes ? "node " : "element ",
                number, ", which is not there before it");
    last = number;
  };
  for (std::int64_t i = 0; i < count;) {
    if (!text_.next_row())
      text_.bad("component ", printable_word(name), " has ", i, " entries of ", count);
    for (std::size_t k = 0; k < format.integer.size() && i < count && !text_.row_ends(); ++k, ++i) {
      const std::int64_t entry = text_.integer(format.integer[k]);
      if (entry == 0 || (entry < 0 && (last == 0 || -(entry + 1) < last)))
        text_.bad("the entry ", entry, " of component ", printable_word(name), " behind ", last);
      if (entry > 0)
        add(entry);
      else
        for (std::int64_t number = last + 1; number <= -(entry + 1) + 1; ++number)
          add(number);
    }
    text_.require_row_end();
  }
  (of_nodes ? parts_.node_sets : parts_.elem_sets)[name] = std::move(members);
}

void AnsysReader::select_component() {
  const std::string kind = text_.field(1), name = text_.field(2);
  if (parts_.elem_sets.count(name) > 0) { // loads are on elements by number
    all_elements_ = false;
    return;
  }
  if ((kind != "S" && !kind.empty()) || parts_.node_sets.count(name) == 0)
    text_.bad("the selection of component ", printable_word(name),
              " is not read; select one that is there (CMSEL,S)");
  selected_ = name;
  selection_known_ = true;
}

void AnsysReader::select_nodes() {
  const std::string kind = text_.field(1);
  selection_known_ = kind == "ALL";
  selected_.clear();
}

void AnsysReader::select_elements() {
  all_elements_ = text_.field(1) == "ALL";
}

void AnsysReader::select_all() {
  const std::string kind = text_.field(1), entity = text_.field(2).substr(0, 4);
  const bool of_all = entity.empty() || entity == "ALL";
  const bool is_all = kind.empty() || kind == "ALL"; // else those below what is selected
  all_elements_ = all_elements_ || (is_all && (of_all || entity == "ELEM"));
  if (is_all && !of_all && entity != "NODE")
    return;
  selection_known_ = is_all;
  selected_.clear();
}

std::string AnsysReader::missing_of(const ElemType& type) {
  const auto key = [&](std::int64_t i) {
    const auto found = type.key.find(i);
    return found == type.key.end() ? std::int64_t(0) : found->second;
  };
  // Element Reference: SOLID185, SOLID45.
  if (type.number == 45)
    return key(2) == 1   ? "reduced integration (KEYOPT(2) = 1)"
           : key(1) == 0 ? "the extra displacement shapes of SOLID45 (KEYOPT(1) = 0)"
                         : "";
  constexpr const char* technology[] = {"reduced integration (KEYOPT(2) = 1)",
                                        "enhanced strains (KEYOPT(2) = 2)",
                                        "simplified enhanced strains (KEYOPT(2) = 3)"};
  if (key(2) >= 1 && key(2) <= 3)
    return technology[key(2) - 1];
  return key(6) != 0 ? "mixed formulation (KEYOPT(6) = " + std::to_string(key(6)) + ")" : "";
}

void AnsysReader::finish_elements() {
  for (const std::int64_t number : used_types_) {
    const ElemType& type = types_[number];
    if (const auto layered = type.key.find(3);
        type.number == 185 && layered != type.key.end() && layered->second != 0)
      fail<InputError>(parts_.path, ": element type ", number,
                       " is of layers (KEYOPT(3) = ", layered->second,
                       " of SOLID185), which are not solved; KEYOPT(3) = 0 is");
    if (const std::string missing = missing_of(type); !missing.empty())
      parts_.notes.push_back("elements of type SOLID" + std::to_string(type.number) + " with " +
                             missing + " are solved as hexahedra with full integration");
  }
}

void AnsysReader::note_component() {
  parts_.notes.push_back("component " + printable_word(text_.field(1)) +
                         " is made of a selection (CM), which is not read; CDWRITE writes it out");
}

} // namespace ossatura
