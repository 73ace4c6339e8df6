// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/generators.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

using Nodes = std::vector<std::int32_t>;

/// A box of cells, some of which may be missing, on which nodes are found by their places.
class Lattice {
public:
  using Triple = std::array<int, 3>;

  /// Cells from first[axis] to last[axis] - 1 along each axis are missing.
  Lattice(const Triple& cells, const std::array<double, 3>& size, const Triple& first,
          const Triple& last, HexaModel& model)
      : cells_(cells)
      , size_(size)
      , first_(first)
      , last_(last)
      , model_(model) {
    const int count[3] = {cells[0], cells[1], cells[2]};
    const double length[3] = {size[0], size[1], size[2]};
    model.mesh = has_missing()
                     ? make_hexa_box_without(count, length, {first[0], first[1], first[2]},
                                             {last[0], last[1], last[2]})
                     : make_hexa_box(count, length);
    model.young = 1;
    model.poisson = 0.3;
    if (has_missing())
      for_each({cells[0] + 1, cells[1] + 1, cells[2] + 1}, [this](int i, int j, int k) {
        if (has_node(i, j, k))
          place_.push_back({i, j, k});
      });
  }

  int cells(int axis) const { return cells_[std::size_t(axis)]; }
  double size(int axis) const { return size_[std::size_t(axis)]; }

  /// Numbers, ascending, of the nodes with test(i, j, k).
  template<class Test>
  Nodes nodes(const Test& test) const {
    Nodes found;
    std::int32_t number = 0;
    for_each({cells_[0] + 1, cells_[1] + 1, cells_[2] + 1}, [&](int i, int j, int k) {
      if (has_missing() && !has_node(i, j, k))
        return;
      if (test(i, j, k))
        found.push_back(number);
      ++number;
    });
    return found;
  }
  template<class Test>
  Nodes elements(const Test& test) const {
    Nodes found;
    std::int32_t number = 0;
    for_each(cells_, [&](int i, int j, int k) {
      if (is_missing(i, j, k))
        return;
      if (test(i, j, k))
        found.push_back(number);
      ++number;
    });
    return found;
  }

  void hold(const Nodes& nodes, unsigned components) {
    for (const std::int32_t node : nodes)
      model_.held.push_back({node, std::uint8_t(components)});
  }

  /// A force that is the same everywhere on the line or rectangle which the nodes make in the
  /// lattice: ends have half the force of the others, corners a quarter.
  void spread(const std::string& name, const Nodes& nodes, const std::array<double, 3>& total) {
    Triple low = place(nodes.front()), high = low;
    for (const std::int32_t node : nodes)
      for (std::size_t d = 0; d < 3; ++d) {
        low[d] = std::min(low[d], place(node)[d]);
        high[d] = std::max(high[d], place(node)[d]);
      }
    NodeLoads loads{name, {}};
    double sum = 0;
    std::vector<double> share;
    for (const std::int32_t node : nodes) {
      double part = 1;
      for (std::size_t d = 0; d < 3; ++d)
        if (low[d] < high[d] && (place(node)[d] == low[d] || place(node)[d] == high[d]))
          part /= 2;
      share.push_back(part);
      sum += part;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const double part = share[i] / sum;
      loads.forces.push_back({nodes[i], {part * total[0], part * total[1], part * total[2]}});
    }
    model_.loads.push_back(std::move(loads));
  }

  Triple place(std::int32_t node) const {
    if (has_missing())
      return place_[std::size_t(node)];
    const int row = cells_[0] + 1, rows = cells_[1] + 1;
    return {node % row, node / row % rows, node / row / rows};
  }
  const double* point(std::int32_t node) const { return &model_.mesh.point[3 * std::size_t(node)]; }

private:
  template<class Visit>
  static void for_each(const Triple& count, const Visit& visit) {
    for (int k = 0; k < count[2]; ++k)
      for (int j = 0; j < count[1]; ++j)
        for (int i = 0; i < count[0]; ++i)
          visit(i, j, k);
  }
  bool has_missing() const { return first_[0] < last_[0]; }
  bool is_missing(int i, int j, int k) const {
    return i >= first_[0] && i < last_[0] && j >= first_[1] && j < last_[1] && k >= first_[2] &&
           k < last_[2];
  }
  /// Whether one of the cells around the place is there.
  bool has_node(int i, int j, int k) const {
    for (int bits = 0; bits < 8; ++bits) {
      const int x = i - (bits & 1), y = j - (bits >> 1 & 1), z = k - (bits >> 2);
      if (x >= 0 && x < cells_[0] && y >= 0 && y < cells_[1] && z >= 0 && z < cells_[2] &&
          !is_missing(x, y, z))
        return true;
    }
    return false;
  }

  Triple cells_;
  std::array<double, 3> size_;
  Triple first_, last_;
  HexaModel& model_;
  std::vector<Triple> place_; ///< in the lattice, of every node; where cells are missing
};

void make_cantilever(Lattice& box, GeneratedDesign& design) {
  const int end = box.cells(0);
  design.model.node_sets["FIXED"] = box.nodes([](int i, int, int) { return i == 0; });
  design.model.node_sets["LOADED"] =
      box.nodes([end](int i, int, int k) { return i == end && k == 0; });
  box.hold(design.model.node_sets["FIXED"], 7);
  box.spread("tip", design.model.node_sets["LOADED"], {0, 0, -1});
}

/// A quarter of the beam: it goes on in mirror images beyond x = 0 and y = 0.
void make_mbb(Lattice& box, GeneratedDesign& design) {
  const int end = box.cells(0), top = box.cells(2);
  design.model.node_sets["SUPPORT"] =
      box.nodes([end](int i, int, int k) { return i == end && k == 0; });
  design.model.node_sets["LOADED"] =
      box.nodes([top](int i, int, int k) { return i == 0 && k == top; });
  box.hold(design.model.node_sets["SUPPORT"], 4);
  box.spread("middle", design.model.node_sets["LOADED"], {0, 0, -1});
  design.mirrors = {{0, 0}, {1, 0}};
}

/// How many of the cells along an axis the legs of an L are wide.
int leg(int cells) {
  return std::max(1, int(std::lround(0.4 * cells)));
}

void make_lbeam(Lattice& box, GeneratedDesign& design) {
  const int end = box.cells(0), top = box.cells(2), height = leg(top);
  design.model.node_sets["FIXED"] = box.nodes([top](int, int, int k) { return k == top; });
  design.model.node_sets["LOADED"] =
      box.nodes([=](int i, int, int k) { return i == end && k == height; });
  box.hold(design.model.node_sets["FIXED"], 7);
  box.spread("tip", design.model.node_sets["LOADED"], {0, 0, -1});
}

void make_bridge(Lattice& box, GeneratedDesign& design) {
  const int end = box.cells(0);
  design.model.node_sets["FIXED"] =
      box.nodes([end](int i, int, int k) { return k == 0 && (i == 0 || i == end); });
  design.model.elem_sets["DECK"] = box.elements([](int, int, int k) { return k == 0; });
  design.model.node_sets["ROAD"] = box.nodes([](int, int, int k) { return k == 1; });
  box.hold(design.model.node_sets["FIXED"], 7);
  box.spread("full", design.model.node_sets["ROAD"], {0, 0, -1});
  box.spread("left", box.nodes([end](int i, int, int k) { return k == 1 && 2 * i <= end; }),
             {0, 0, -1});
  box.spread("right", box.nodes([end](int i, int, int k) { return k == 1 && 2 * i >= end; }),
             {0, 0, -1});
  design.passive.push_back({"DECK", DesignRole::solid});
}

void make_torsion(Lattice& box, GeneratedDesign& design) {
  const int end = box.cells(0), across = box.cells(1), top = box.cells(2);
  design.model.node_sets["FIXED"] = box.nodes([](int i, int, int) { return i == 0; });
  design.model.node_sets["LOADED"] = box.nodes([=](int i, int j, int k) {
    return i == end && (j == 0 || j == across || k == 0 || k == top);
  });
  design.model.elem_sets["PLATE"] = box.elements([end](int i, int, int) { return i == end - 1; });
  box.hold(design.model.node_sets["FIXED"], 7);
  // Forces along circles about the axis that grow with the radius, together 1 N m.
  NodeLoads loads{"torque", {}};
  double torque = 0;
  for (const std::int32_t node : design.model.node_sets["LOADED"]) {
    const double y = box.point(node)[1] - box.size(1) / 2, z = box.point(node)[2] - box.size(2) / 2;
    loads.forces.push_back({node, {0, -z, y}});
    torque += y * y + z * z;
  }
  for (NodeForce& force : loads.forces)
    for (double& component : force.force)
      component /= torque;
  design.model.loads.push_back(std::move(loads));
  design.passive.push_back({"PLATE", DesignRole::solid});
}

/// A quarter of the mechanism: it goes on beyond y = 0 and z = 0.
void make_inverter(Lattice& box, GeneratedDesign& design) {
  const int end = box.cells(0), across = box.cells(1), top = box.cells(2);
  const auto patch = [](int cells) { return std::max(1, int(std::lround(cells / 10.0))); };
  const int b = patch(across), c = patch(top);
  const auto is_middle = [=](int j, int k) { return j <= b && k <= c; };
  design.model.node_sets["INPUT"] =
      box.nodes([=](int i, int j, int k) { return i == 0 && is_middle(j, k); });
  design.model.node_sets["OUTPUT"] =
      box.nodes([=](int i, int j, int k) { return i == end && is_middle(j, k); });
  design.model.node_sets["FIXED"] =
      box.nodes([=](int i, int j, int k) { return i == 0 && (j >= across - b || k >= top - c); });
  design.model.elem_sets["PORTS"] =
      box.elements([=](int i, int j, int k) { return (i == 0 || i == end - 1) && j < b && k < c; });
  box.hold(design.model.node_sets["FIXED"], 7);
  box.spread("input", design.model.node_sets["INPUT"], {1, 0, 0});
  const double stiffness = 0.1 * box.size(1);
  design.is_mechanism = true;
  design.passive.push_back({"PORTS", DesignRole::solid});
  design.outputs.push_back({"OUTPUT", {-1, 0, 0}});
  design.springs.push_back({"INPUT", {stiffness, 0, 0}});
  design.springs.push_back({"OUTPUT", {stiffness, 0, 0}});
  design.mirrors = {{1, 0}, {2, 0}};
}

using Make = void (*)(Lattice&, GeneratedDesign&);
constexpr Make makes[] = {make_cantilever, make_mbb,     make_lbeam,
                          make_bridge,     make_torsion, make_inverter};

} // namespace

const std::vector<GeneratorInfo>& generator_infos() {
  static const std::vector<GeneratorInfo> infos = {
      {"cantilever",
       {60, 30, 30},
       {1, 1, 1},
       "a beam clamped at one end, a line load at the other"},
      {"mbb", {60, 10, 20}, {1, 1, 1}, "a quarter of a beam on two rollers, loaded in the middle"},
      {"lbeam", {50, 20, 50}, {2, 1, 2}, "an L that hangs, loaded at its tip"},
      {"bridge", {80, 20, 20}, {2, 1, 2}, "a deck between two abutments, three load cases"},
      {"torsion", {60, 20, 20}, {2, 1, 1}, "a bar clamped at one end, twisted at the other"},
      {"inverter", {40, 20, 20}, {3, 3, 3}, "a quarter of a mechanism that turns a push around"}};
  return infos;
}

std::vector<std::string> generator_names() {
  std::vector<std::string> names;
  for (const GeneratorInfo& info : generator_infos())
    names.push_back(info.name);
  return names;
}

GeneratedDesign generate_design(const std::string& name, const std::array<int, 3>& cells,
                                const std::array<double, 3>& size) {
  const auto& infos = generator_infos();
  const auto found = std::find_if(infos.begin(), infos.end(),
                                  [&name](const GeneratorInfo& info) { return name == info.name; });
  OSSATURA_REQUIRE(found != infos.end(), "no generator '" << name << "'");
  for (std::size_t d = 0; d < 3; ++d)
    if (cells[d] < found->least[d])
      fail<InputError>(name, " of ", cells[0], "x", cells[1], "x", cells[2], " cells: at least ",
                       found->least[0], "x", found->least[1], "x", found->least[2]);
  std::array<int, 3> first{}, last{};
  if (name == "lbeam") {
    first = {leg(cells[0]), 0, leg(cells[2])};
    last = cells;
  }
  GeneratedDesign design;
  Lattice box(cells, size, first, last, design.model);
  makes[found - infos.begin()](box, design);
  return design;
}

} // namespace ossatura
