// SPDX-License-Identifier: Apache-2.0
// The reader goes through the sections that both formats of Gmsh share.
#include <ossatura/core/io/gmsh/stream.hpp>
#include <ossatura/core/io/text/input_file.hpp>

namespace ossatura {
namespace {

/// 2 or 4, of the versions that are read.
int read_format(GmshStream& in) {
  TextCursor& text = in.text;
  if (text.next_word() != "$MeshFormat")
    fail<InputError>(text.path(), ": is no Gmsh mesh: it does not begin with $MeshFormat");
  const std::string_view version = text.next_word();
  if (version != "2.2" && version != "4.1")
    text.bad("version '", printable_word(version),
             "' of the format is not read; save as 2.2 or 4.1 (gmsh -format msh41 -save)");
  std::int64_t kind = 0, bytes = 0;
  if (!text.next_number(kind) || !text.next_number(bytes) || kind < 0 || kind > 1)
    text.bad_word("the kind of file, 0 (text) or 1 (binary), and the size of its numbers are "
                  "expected");
  if (kind == 1) {
    if (bytes != 8)
      text.bad("binary files with numbers of ", bytes, " bytes are not read; of 8 only");
    text.take_line();
    const unsigned char* one = text.bytes(4);
    if (one == nullptr || (one[0] != 1 && one[3] != 1) || one[1] != 0 || one[2] != 0 ||
        one[0] + one[3] != 1)
      text.bad("the binary number 1, which tells the byte order, is missing: the file is damaged");
    in.order = one[0] == 1 ? ByteOrder::little : ByteOrder::big;
    in.binary = true;
  }
  if (text.next_word() != "$EndMeshFormat")
    text.bad("$EndMeshFormat is missing: the file is damaged");
  return version == "2.2" ? 2 : 4;
}

/// Passes the end of a section that has been read.
void end_section(GmshStream& in, const std::string& name) {
  if (in.text.next_word() != "$End" + name)
    in.bad("$End", name, " is missing: the file is damaged, or the numbers in the section wrong");
}

/// Names are text in binary files, too.
void read_names(GmshStream& in, GmshMesh& out) {
  std::uint64_t count = 0;
  if (!in.text.next_number(count))
    in.text.bad_word("the number of physical groups is expected");
  in.text.require_plausible(count, 6, "physical groups"); // "0 1 \"\"\n"
  for (std::uint64_t i = 0; i < count; ++i) {
    std::int64_t dimension = 0, number = 0;
    if (!in.text.next_number(dimension) || !in.text.next_number(number))
      in.text.bad_word("the dimension and the number of a physical group are expected");
    const std::size_t place = in.text.position();
    const std::string_view line = in.text.take_line();
    const std::size_t first = line.find('"'), last = line.rfind('"');
    if (first == last) {
      in.text.seek(place);
      in.text.bad("the name of a physical group, in quotes, is expected");
    }
    out.group_name[{dimension, number}] = line.substr(first + 1, last - first - 1);
  }
}

/// Passes a section that is not read.
void skip_section(GmshStream& in, const std::string& name) {
  const std::string end = "$End" + name;
  const std::size_t found = in.text.rest().find(end);
  if (found == std::string_view::npos)
    in.bad("the section $", printable_word(name), " does not end: the file is truncated");
  in.text.seek(in.text.position() + found + end.size());
}

/// Binary sections begin right after the line of their name.
void begin_section(GmshStream& in) {
  if (in.binary)
    in.text.take_line();
}

} // namespace

void read_gmsh_file(const std::string& path, GmshMesh& out) {
  const std::vector<unsigned char> bytes = read_all(path);
  GmshStream in(path, text_of(bytes));
  const int version = read_format(in);
  GmshEntities entities;
  bool has_nodes = false, has_elements = false;
  while (!in.text.at_end()) {
    const std::string_view word = in.text.next_word();
    if (word.size() < 2 || word.size() > 64 || word[0] != '$' || word.substr(0, 4) == "$End")
      in.bad("the name of a section ($Nodes, $Elements, ...) is expected: the file is damaged");
    const std::string name(word.substr(1));
    // What a mesh is made of stands before its elements; data on it may follow.
    for (const char* part :
         {"MeshFormat", "PhysicalNames", "Entities", "PartitionedEntities", "Nodes", "Elements"})
      if (has_elements && name == part)
        in.bad("$", part, " stands behind $Elements and would not be read: save one mesh only");
    if (name == "Nodes") {
      if (has_nodes)
        in.bad("the file has nodes twice; save one mesh only");
      begin_section(in);
      (version == 2 ? read_gmsh_2_nodes : read_gmsh_4_nodes)(in, out);
      if (const auto twice = out.nodes.sort())
        in.bad("two nodes have the number ", *twice, "; save the mesh again");
      has_nodes = true;
    } else if (name == "Elements") {
      if (!has_nodes)
        in.bad("$Elements comes before $Nodes: the file is damaged");
      begin_section(in);
      if (version == 2)
        read_gmsh_2_elements(in, out);
      else
        read_gmsh_4_elements(in, entities, out);
      has_elements = true;
    } else if (version == 4 && (name == "Entities" || name == "PartitionedEntities")) {
      begin_section(in);
      read_gmsh_4_entities(in, name != "Entities", entities);
    } else if (name == "PhysicalNames") {
      read_names(in, out);
    } else {
      skip_section(in, name);
      continue;
    }
    end_section(in, name);
  }
  if (!has_elements)
    fail<InputError>(path, ": has no section $Elements: it is truncated or holds no mesh");
  out.finish(in);
}

} // namespace ossatura
