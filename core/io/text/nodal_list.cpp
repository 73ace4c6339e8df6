// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/text/nodal_list.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/cursor.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ossatura {

std::vector<NodalValue> read_nodal_list(const std::string& path, const std::array<int, 3>& shape) {
  require_input_file(path);
  const std::vector<unsigned char> bytes = read_all(path);
  std::istringstream file(std::string(text_of(bytes).substr(length_of_mark(text_of(bytes)))));
  std::vector<NodalValue> values;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line.resize(std::min(line.find('#'), line.size()));
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream row(line);
    std::string component, rest;
    NodalValue v{};
    if (!(row >> v.node[0])) {
      row.clear();
      if (row >> rest)
        fail<InputError>(path, ":", number, ": '", rest,
                         "' is no node coordinate; a row is "
                         "x, y, z, component, value");
      continue; // blank or comment
    }
    if (!(row >> v.node[1] >> v.node[2] >> component >> v.value) || row >> rest ||
        !std::isfinite(v.value))
      fail<InputError>(path, ":", number,
                       ": a row is x, y, z, component, value, such as "
                       "10, 12, 0, z, -0.1");
    const std::size_t at = std::string("xyz012").find(component);
    if (component.size() != 1 || at == std::string::npos)
      fail<InputError>(path, ":", number, ": component '", component, "' is none of x, y, z");
    v.component = int(at % 3);
    for (int d = 0; d < 3; ++d)
      if (v.node[d] < 0 || v.node[d] > shape[d])
        fail<InputError>(path, ":", number, ": node coordinate ", v.node[d], " along ", "xyz"[d],
                         " is outside 0 .. ", shape[d]);
    values.push_back(v);
  }
  if (values.empty())
    fail<InputError>(path, ": no rows x, y, z, component, value");
  return values;
}

} // namespace ossatura
