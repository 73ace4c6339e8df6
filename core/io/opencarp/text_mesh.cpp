// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/opencarp/text_mesh.hpp>

#include <ossatura/core/io/mesh/tetra_check.hpp>
#include <ossatura/core/io/opencarp/element_types.hpp>
#include <ossatura/core/io/text/cursor.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/io/text/parallel_reader.hpp>

#include <cmath>
#include <vector>

namespace ossatura {
namespace {

/// The line with the number of `things`, each of at least `bytes` bytes.
std::uint64_t read_count(TextCursor& text, const char* things, std::size_t bytes) {
  std::uint64_t count = 0;
  if (!text.next_number(count))
    text.bad_word(std::string("the number of ") + things + " is expected");
  if (!text.at_line_end())
    text.bad_word("only the number of " + std::string(things) + " is expected");
  text.require_plausible(count, bytes, things);
  return count;
}

/// The rows of a file that has announced their number: of `things`, each `a_thing`.
template<class Row>
void read_announced(TextCursor& text, std::uint64_t count, const char* a_thing, const char* things,
                    const Row& row) {
  const std::uint64_t found = read_rows(text, count, a_thing, row);
  if (found < count)
    text.bad("the file ends after ", found, " of ", count, " ", things, ": it is truncated");
  if (text.next_line())
    text.bad("more lines than the ", count, " ", things, " that the file announces");
}

void read_points(TextCursor text, double unit, std::vector<double>& point) {
  const std::uint64_t count = read_count(text, "points", 6); // "0 0 0\n"
  require_few_points(text.path(), count);
  point.resize(3 * count);
  read_announced(text, count, "a point", "points", [&](TextCursor& line, std::uint64_t i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double& x = point[3 * i + axis];
      if (!line.number(x))
        line.bad_word("a coordinate is expected");
      x *= unit;
      if (!std::isfinite(x))
        line.bad("a coordinate of point ", i, " is not finite");
    }
  });
}

[[noreturn]] void refuse_type(const TextCursor& text, std::string_view word) {
  for (const OpencarpType& type : opencarp_types)
    if (word == type.code)
      text.bad(refusal_of(type));
  text.bad("'", printable_word(word),
           "' is no element type that is read; only tetrahedra (Tt) are");
}

void read_elements(TextCursor text, TetraMesh& mesh) {
  const std::uint64_t count = read_count(text, "elements", 11); // "Tt 0 1 2 3\n"
  const std::int64_t num_points = std::int64_t(mesh.num_points());
  mesh.tetra.resize(4 * count);
  mesh.tag.assign(count, 0);
  read_announced(text, count, "an element", "elements", [&](TextCursor& line, std::uint64_t i) {
    const std::string_view type = line.word();
    if (type != "Tt")
      refuse_type(line, type);
    std::int64_t v[4];
    for (std::size_t k = 0; k < 4; ++k) {
      if (!line.number(v[k]))
        line.bad_word("a vertex is expected");
      mesh.tetra[4 * i + k] = std::int32_t(v[k]);
    }
    if (!is_tetra(v, num_points))
      line.bad(describe_bad_tetra(v, num_points));
    if (!line.at_line_end() && !line.number(mesh.tag[i]))
      line.bad_word("the tag, a 32-bit integer, is expected");
  });
}

/// Directions per row: from the header line, or from the length of the first one in old files
/// without it.
std::size_t count_axes(TextCursor& text) {
  TextCursor ahead(text);
  std::size_t num_words = 0;
  text.at_end();
  for (ahead.at_end(); !ahead.at_line_end() && num_words < 7; ++num_words)
    ahead.word();
  std::size_t axes = num_words / 3;
  if (num_words == 1) {
    if (!text.number(axes))
      text.bad_word("the number of directions, 1 or 2, is expected");
    text.at_line_end();
  } else if (num_words != 3 && num_words != 6) {
    text.bad("the number of directions, 1 or 2, or one or two directions of three numbers are "
             "expected");
  }
  if (axes != 1 && axes != 2)
    text.bad(axes, " directions; 1 (fibres) or 2 (fibres and sheets) are read");
  return axes;
}

} // namespace

TetraMesh read_opencarp_text(const std::string& points, const std::string& elements, double unit) {
  TetraMesh mesh;
  const std::vector<unsigned char> point_bytes = read_all(points);
  const TextCursor point_text(points, text_of(point_bytes));
  read_points(point_text, unit, mesh.point);
  {
    const std::vector<unsigned char> bytes = read_all(elements);
    read_elements(TextCursor(elements, text_of(bytes)), mesh);
  }
  finish_tetra_mesh(elements, mesh, {}, [&](std::size_t point) {
    const long line = point_text.line_of_word(0, 1 + 3 * point);
    return points + ": line " + std::to_string(line);
  });
  return mesh;
}

void read_text_directions(const std::string& path, TetraMesh& mesh) {
  const std::vector<unsigned char> bytes = read_all(path);
  TextCursor text(path, text_of(bytes));
  const std::size_t axes = count_axes(text);
  const std::size_t count = mesh.num_tetra();
  text.require_plausible(count, 6 * axes, "elements with a direction each");
  std::vector<float>* const direction[] = {&mesh.fibre, &mesh.sheet};
  for (std::size_t axis = 0; axis < axes; ++axis)
    direction[axis]->resize(3 * count);
  const auto read_row = [&](TextCursor& line, std::uint64_t i) {
    for (std::size_t k = 0; k < 3 * axes; ++k) {
      float& x = (*direction[k / 3])[3 * i + k % 3];
      if (!line.number(x))
        line.bad_word("a component of a direction is expected");
      if (!std::isfinite(x))
        line.bad("the direction of element ", i, " is not finite");
    }
  };
  const std::uint64_t found = read_rows(text, count, "an element's directions", read_row);
  if (found < count)
    text.bad("the file ends after ", found, " lines, but the mesh has ", count,
             " elements, a line for each: lines are missing");
  if (text.next_line())
    text.bad("more lines than the ", count, " elements of the mesh");
}

} // namespace ossatura
