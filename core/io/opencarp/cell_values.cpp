// SPDX-License-Identifier: Apache-2.0
// The reader takes values of tetrahedra from text files of openCARP, a line for each element.
#include <ossatura/core/io/mesh/tetra_file.hpp>
#include <ossatura/core/io/text/cursor.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <cmath>

namespace ossatura {

std::vector<double> read_cell_values(const std::string& path, std::size_t num_tetra) {
  const std::vector<unsigned char> bytes = read_all(path);
  TextCursor text(path, text_of(bytes));
  text.require_plausible(num_tetra, 2, "tetrahedra with a line each"); // "0\n"
  std::size_t row = 0;
  TextCursor ahead(text);
  ahead.at_end();
  while (!ahead.at_line_end() && row < 4) {
    ahead.word();
    ++row;
  }
  if (row > 3)
    text.bad("more than three numbers in a line");
  std::vector<double> value;
  value.reserve(row * num_tetra);
  text.at_end();
  for (std::size_t i = 0; i < num_tetra; ++i) {
    if ((i > 0 && !text.next_line()) || text.at_end())
      text.bad("the file ends after ", i, " lines, but the mesh has ", num_tetra,
               " tetrahedra, a line for each");
    for (std::size_t k = 0; k < row; ++k) {
      double x = 0;
      if (!text.number(x) || std::isinf(x))
        text.bad_word("a number of tetrahedron " + std::to_string(i) + " is expected");
      value.push_back(x);
    }
    if (!text.at_line_end())
      text.bad_word("the line of tetrahedron " + std::to_string(i) + " should end");
  }
  if (text.next_line())
    text.bad("more lines than the ", num_tetra, " tetrahedra of the mesh");
  return value;
}

} // namespace ossatura
