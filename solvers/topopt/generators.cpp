// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/generators.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

using Nodes = std::vector<std::int32_t>;

/// A range of places along each axis.
struct Places {
  std::array<int, 3> low, high; ///< both included
};

/// Sets, supports and loads on a box of cells, some of which may be missing, by places in it.
class Lattice {
public:
  using Triple = std::array<int, 3>;

  Lattice(const LatticeBody& body, const std::array<double, 3>& size, HexaModel& model)
      : body_(body)
      , size_(size)
      , model_(model) {
    model.young = 1;
    model.poisson = 0.3;
  }

  int cells(int axis) const { return body_.cells()[std::size_t(axis)]; }
  double size(int axis) const { return size_[std::size_t(axis)]; }

  /// All places with this one along an axis.
  Places nodes_in_plane(int axis, int place) const { return in_plane(body_.node(), axis, place); }
  Places elements_in_plane(int axis, int place) const {
    return in_plane(body_.elem(), axis, place);
  }

  /// Numbers, ascending, of the nodes at these places with test(i, j, k).
  template<class Test>
  Nodes nodes(const Places& in, const Test& test) const {
    return numbers(body_.node(), in, test);
  }
  Nodes nodes(const Places& in) const { return nodes(in, everywhere); }
  template<class Test>
  Nodes elements(const Places& in, const Test& test) const {
    return numbers(body_.elem(), in, test);
  }
  Nodes elements(const Places& in) const { return elements(in, everywhere); }

  void hold(const Nodes& nodes, unsigned components) {
    for (const std::int32_t node : nodes)
      model_.held.push_back({node, std::uint8_t(components)});
  }

  /// A force that is the same everywhere on the line or rectangle which the nodes make in the
  /// lattice: ends have half the force of the others, corners a quarter.
  void spread(const std::string& name, const Nodes& nodes, const std::array<double, 3>& total) {
    std::vector<Triple> places;
    for (const std::int32_t node : nodes)
      places.push_back(body_.node().place(node));
    Triple low = places.front(), high = low;
    for (const Triple& place : places)
      for (std::size_t d = 0; d < 3; ++d) {
        low[d] = std::min(low[d], place[d]);
        high[d] = std::max(high[d], place[d]);
      }
    NodeLoads loads{name, {}};
    double sum = 0;
    std::vector<double> share;
    for (const Triple& place : places) {
      double part = 1;
      for (std::size_t d = 0; d < 3; ++d)
        if (low[d] < high[d] && (place[d] == low[d] || place[d] == high[d]))
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

  std::array<double, 3> point(std::int32_t node) const {
    return body_.point(body_.node().place(node));
  }

private:
  static constexpr auto everywhere = [](int, int, int) { return true; };

  static Places in_plane(const LatticeRows& rows, int axis, int place) {
    Places places{{0, 0, 0}, {rows.shape[0] - 1, rows.shape[1] - 1, rows.shape[2] - 1}};
    places.low[std::size_t(axis)] = places.high[std::size_t(axis)] = place;
    return places;
  }
  template<class Test>
  static Nodes numbers(const LatticeRows& rows, const Places& in, const Test& test) {
    Nodes found;
    for (int k = in.low[2]; k <= in.high[2]; ++k)
      for (int j = in.low[1]; j <= in.high[1]; ++j)
        for (int i = in.low[0]; i <= in.high[0]; ++i)
          if (rows.has({i, j, k}) && test(i, j, k))
            found.push_back(rows.number({i, j, k}));
    return found;
  }

  const LatticeBody& body_;
  std::array<double, 3> size_;
  HexaModel& model_;
};

void make_cantilever(Lattice& box, GeneratedDesign& design) {
  const int end = box.cells(0);
  design.model.node_sets["FIXED"] = box.nodes(box.nodes_in_plane(0, 0));
  design.model.node_sets["LOADED"] =
      box.nodes(box.nodes_in_plane(0, end), [](int, int, int k) { return k == 0; });
  box.hold(design.model.node_sets["FIXED"], 7);
  box.spread("tip", design.model.node_sets["LOADED"], {0, 0, -1});
}

/// A quarter of the beam: it goes on in mirror images beyond x = 0 and y = 0.
void make_mbb(Lattice& box, GeneratedDesign& design) {
  const int end = box.cells(0), top = box.cells(2);
  design.model.node_sets["SUPPORT"] =
      box.nodes(box.nodes_in_plane(0, end), [](int, int, int k) { return k == 0; });
  design.model.node_sets["LOADED"] =
      box.nodes(box.nodes_in_plane(0, 0), [top](int, int, int k) { return k == top; });
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
  design.model.node_sets["FIXED"] = box.nodes(box.nodes_in_plane(2, top));
  design.model.node_sets["LOADED"] =
      box.nodes(box.nodes_in_plane(0, end), [=](int, int, int k) { return k == height; });
  box.hold(design.model.node_sets["FIXED"], 7);
  box.spread("tip", design.model.node_sets["LOADED"], {0, 0, -1});
}

void make_bridge(Lattice& box, GeneratedDesign& design) {
  const int end = box.cells(0);
  design.model.node_sets["FIXED"] =
      box.nodes(box.nodes_in_plane(2, 0), [end](int i, int, int) { return i == 0 || i == end; });
  design.model.elem_sets["DECK"] = box.elements(box.elements_in_plane(2, 0));
  const Places road = box.nodes_in_plane(2, 1);
  design.model.node_sets["ROAD"] = box.nodes(road);
  box.hold(design.model.node_sets["FIXED"], 7);
  box.spread("full", design.model.node_sets["ROAD"], {0, 0, -1});
  box.spread("left", box.nodes(road, [end](int i, int, int) { return 2 * i <= end; }), {0, 0, -1});
  box.spread("right", box.nodes(road, [end](int i, int, int) { return 2 * i >= end; }), {0, 0, -1});
  design.passive.push_back({"DECK", DesignRole::solid});
}

void make_torsion(Lattice& box, GeneratedDesign& design) {
  const int end = box.cells(0), across = box.cells(1), top = box.cells(2);
  design.model.node_sets["FIXED"] = box.nodes(box.nodes_in_plane(0, 0));
  design.model.node_sets["LOADED"] = box.nodes(box.nodes_in_plane(0, end), [=](int, int j, int k) {
    return j == 0 || j == across || k == 0 || k == top;
  });
  design.model.elem_sets["PLATE"] = box.elements(box.elements_in_plane(0, end - 1));
  box.hold(design.model.node_sets["FIXED"], 7);
  // Forces along circles about the axis that grow with the radius, together 1 N m.
  NodeLoads loads{"torque", {}};
  double torque = 0;
  for (const std::int32_t node : design.model.node_sets["LOADED"]) {
    const std::array<double, 3> x = box.point(node);
    const double y = x[1] - box.size(1) / 2, z = x[2] - box.size(2) / 2;
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
      box.nodes(box.nodes_in_plane(0, 0), [=](int, int j, int k) { return is_middle(j, k); });
  design.model.node_sets["OUTPUT"] =
      box.nodes(box.nodes_in_plane(0, end), [=](int, int j, int k) { return is_middle(j, k); });
  design.model.node_sets["FIXED"] = box.nodes(
      box.nodes_in_plane(0, 0), [=](int, int j, int k) { return j >= across - b || k >= top - c; });
  design.model.elem_sets["PORTS"] =
      box.elements({{0, 0, 0}, {end - 1, b - 1, c - 1}},
                   [=](int i, int, int) { return i == 0 || i == end - 1; });
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
  GeneratedDesign design = generate_lattice_design(name, cells, size);
  design.model.mesh = design.lattice->mesh();
  design.lattice.reset();
  return design;
}

GeneratedDesign generate_lattice_design(const std::string& name, const std::array<int, 3>& cells,
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
  design.lattice = std::make_shared<const LatticeBody>(make_lattice_box(cells, size, first, last));
  Lattice box(*design.lattice, size, design.model);
  makes[found - infos.begin()](box, design);
  return design;
}

} // namespace ossatura
