// SPDX-License-Identifier: Apache-2.0
// The reader takes lists of vertices from files of openCARP.
#include <ossatura/core/io/mesh/tetra_file.hpp>
#include <ossatura/core/io/text/cursor.hpp>
#include <ossatura/core/io/text/input_file.hpp>

namespace ossatura {

std::vector<std::int32_t> read_vertex_list(const std::string& path, std::size_t num_points) {
  const std::vector<unsigned char> bytes = read_all(path);
  TextCursor text(path, text_of(bytes));
  std::uint64_t count = 0;
  if (!text.next_number(count))
    text.bad_word("the number of vertices is expected");
  if (!text.at_line_end())
    text.bad_word("only the number of vertices is expected");
  // The word says which of openCARP's grids is meant; the numbers are the same.
  if (!text.next_line())
    text.bad_word("'extra' or 'intra' is expected");
  TextCursor ahead(text);
  const std::string_view grid = ahead.word();
  if (grid != "extra" && grid != "intra")
    text.bad_word("'extra' or 'intra' is expected");
  text = ahead;
  text.require_plausible(count, 2, "vertices");
  if (count == 0)
    text.bad("the list has no vertices");
  std::vector<std::int32_t> vertex(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!text.at_line_end())
      text.bad_word("the line should end");
    std::int64_t v = 0;
    if (!text.next_line())
      text.bad("the file ends after ", i, " of ", count, " vertices: it is truncated");
    if (!text.number(v))
      text.bad_word("a vertex is expected");
    if (v < 0 || std::uint64_t(v) >= num_points)
      text.bad("vertex ", v, " is not in the mesh, whose ", num_points,
               " points are numbered from 0: the list belongs to another mesh");
    vertex[i] = std::int32_t(v);
  }
  if (!text.at_line_end() || text.next_line())
    text.bad("more than the ", count, " vertices that the file announces");
  return vertex;
}

} // namespace ossatura
