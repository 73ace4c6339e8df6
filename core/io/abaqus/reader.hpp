// SPDX-License-Identifier: Apache-2.0
// The reader makes a model of solids from an Abaqus or CalculiX input file, keyword by keyword.
// A file defines nodes, elements and sets before other keywords name them. Unknown keywords are
// refused, so that no other problem is solved than the file's.
//
// [1] Abaqus Keywords Reference Guide. [2] G. Dhondt, CalculiX CrunchiX User's Manual, "Input deck
// format", whose rules hold for loads that come up again: within a step they add up, and replace
// those of earlier steps, which stay otherwise.
#pragma once

#include <ossatura/core/io/abaqus/text.hpp>
#include <ossatura/core/io/mesh/hexa_parts.hpp>
#include <ossatura/core/io/text/number_map.hpp>

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

class AbaqusReader {
public:
  AbaqusReader(std::string path, std::string_view content, double unit);
  HexaFile read();

private:
  using Members = std::vector<std::int32_t>;
  /// Solids of any kind, and elements that have no volume, by place.
  struct ElemSet {
    Members hexa, flat;
  };
  struct Material {
    double young = 0, poisson = 0, density = 0, expansion = 0; ///< 0: has none
    std::string bad_expansion; ///< why it is not understood, with its place; empty: it is
  };
  /// By 3 * node + component, or 6 * element + face.
  using KeyedLoads = std::vector<std::pair<std::int64_t, double>>;
  /// Gravity or rotation, and the hexahedra that it acts on.
  struct MassLoad {
    bool is_gravity;
    BodyLoad load;
    std::vector<bool> elems;

    bool is_same(const BodyLoad& other) const {
      return load.acceleration == other.acceleration && load.square_speed == other.square_speed &&
             load.origin == other.origin && load.axis == other.axis;
    }
  };
  /// Nodes that follow a reference node, or take its loads.
  struct Coupling {
    enum class Kind { undecided, rigid, distributing } kind = Kind::undecided;
    std::int32_t reference = 0;
    Members nodes;
    std::vector<double> weight; ///< [nodes] of distributing ones
    bool takes_moments = false;
  };
  struct CaseLoads {
    KeyedLoads forces, pressures;
    KeyedLoads moments;           ///< on reference nodes of distributing couplings
    KeyedLoads displacements;     ///< of components that are held, zeros too; each has one value
    std::vector<MassLoad> masses; ///< at most one of each kind
  };

  using Read = void (AbaqusReader::*)();
  /// What reads the rows of a keyword, or null.
  static Read find_read(const std::string& keyword);
  void pass_over();
  void pass_alone() {}
  /// Rows of words, such as the names of results.
  void pass_names();
  void pass_numbers();
  void pass_row_of_numbers();
  [[noreturn]] void refuse_row();
  void refuse_include();

  // mesh.cpp
  void read_nodes();
  /// As messages have it ("node 12", "node 1 of the assembly").
  std::string node_name(std::size_t place) const;
  void read_elements();
  void read_solids(SolidKind kind, Members* set);
  /// Of a note that comes up again one is kept.
  void add_note(const std::string& note);
  /// Refuses a face that the element, a solid, has not.
  void require_face(std::int32_t elem, int face);
  /// The number of the next element, which gets a place in `own` and has none in `other`.
  std::uint64_t take_new_elem(NumberMap& own, const NumberMap& other);
  /// The place of the next node of an element.
  std::int32_t take_node_of(std::uint64_t elem);
  void read_flat(std::size_t num_nodes, bool is_curve, Members* set);
  void read_node_set();
  void read_elem_set();
  void read_surface();
  void begin_part();
  void begin_instance();
  void end_instance();
  /// The node set of that name; refused where there is none.
  const Members& require_node_set(const std::string& name);
  const ElemSet& require_elem_set(const std::string& name);
  /// The nodes (elements) of the next field, a number or the name of a set; `one` holds a number's.
  const Members& take_nodes(Members& one);
  /// The same; `set` becomes the name, empty for a number.
  const Members& take_nodes(Members& one, std::string& set);
  const ElemSet& take_elems(ElemSet& one);
  /// The place of a node by its number, as the keyword means it, or -1.
  std::int32_t find_node(std::uint64_t number) const;
  /// The same; refused where there is none.
  std::int32_t require_node(std::uint64_t number) const;
  /// A set, or "INSTANCE.12", a node of the part, which `one` then holds.
  const Members& named_nodes(const std::string& name, Members& one);
  void add_elem(std::uint64_t number, ElemSet& set);
  void add_nodes_of(const ElemSet& elems, Members& nodes) const;
  /// Calls add(number) for the rows of a set with GENERATE, and end_row() after each.
  template<class Add, class EndRow>
  void read_ranges(const Add& add, const EndRow& end_row);
  /// Faces and edges of the set of nodes that elements without volume make.
  void add_faces_of(const Members& flat, const std::string& name);
  /// Sets as the model has them.
  void finish_sets();

  // loads.cpp
  void begin_step();
  void end_step();
  void read_static();
  void read_boundary();
  /// The degrees of freedom of the next fields (bits) and the displacement that they get.
  std::uint8_t take_held(double& displacement);
  void hold_node(std::int32_t node, unsigned components, double displacement);
  /// Ascending keys, each once; refused where a component has two displacements.
  void settle(KeyedLoads& displacements) const;
  void read_forces();
  void add_force(std::int32_t node, long component, double force);
  void read_pressures();
  /// The rest of a row of gravity, or of rotation; on all elements where `elems` is null.
  void read_mass_load(const ElemSet* elems, bool is_gravity);
  /// Three numbers, made of length 1.
  std::array<double, 3> take_direction();
  void read_surface_pressures();
  /// Whether the keyword has OP=NEW: what earlier steps have is dropped.
  bool is_new() const;
  /// At the keyword of a load. Drops `earlier` with OP=NEW, and returns whether it did.
  bool begin_loads(KeyedLoads& earlier);
  double take_load(const char* what);
  /// The face of the next field ("S3", "P3": 2).
  int take_face(char letter);
  int face_of(const std::string& name, char letter) const;
  /// Makes a case of the loads since the last.
  void close_case(const std::string& name);
  /// The supports of all cases are those of the first.
  void close_supports();

  // couplings.cpp
  void begin_coupling();
  void read_kinematic();
  void read_distributing();
  void read_rigid_body();
  void read_node_surface(const std::string& name);
  static void make_unique_nodes(Members& nodes);
  /// The node that a parameter of the keyword names, by number or by a set.
  std::int32_t require_reference(const char* param);
  Coupling& add_coupling(std::int32_t reference);
  /// All nodes of faces, which weigh as much as they have of the area, or nothing.
  void weigh_faces(const std::vector<std::int64_t>& faces, Coupling& coupling) const;
  /// Leaves out the nodes that weigh nothing, and take no load.
  static void drop_weightless(Coupling& coupling);
  void decide_coupling(bool is_rigid);
  void require_decided() const;
  void require_few_coupled() const;
  /// The degrees of freedom of the rows of the keyword (bits); all where there is none.
  unsigned take_coupled();
  /// That whose reference node this is, or null.
  const Coupling* find_coupling(std::int32_t node) const;
  bool is_reference(std::int32_t node) const {
    return coupling_of_.count(node) > 0 || turning_.count(node) > 0;
  }
  /// Holds or moves a reference node, or a node of rotations.
  void hold_reference(std::int32_t node, unsigned components, double displacement);
  void check_rigid_bodies() const;
  /// Displacements (bits 0 to 2) and rotations (3 to 5) of the reference node that steps hold.
  unsigned held_of(const Coupling& coupling) const;
  void take_free_bodies();
  void finish_couplings() const;
  /// Adds what loads on reference nodes are on nodes of the body.
  void add_coupled_forces(const KeyedLoads& forces, const KeyedLoads& moments,
                          std::vector<NodeForce>& result) const;

  // temperatures.cpp
  void read_expansion();
  /// The coefficient of an *EXPANSION.
  double take_expansion();
  void read_initial_conditions();
  void read_temperatures();
  /// The rows of temperatures by node or set, of which the last one counts.
  void take_temperatures(std::vector<double>& of_node);
  /// NodeLoads::warming of this step; refused where a node had no temperature at first.
  std::vector<double> warming_of_step() const;
  /// Where steps have temperatures.
  void refuse_bad_expansion() const;

  // frequencies.cpp
  void read_frequencies();
  static bool has_loads(const CaseLoads& loads);
  /// At the keyword of a load.
  void refuse_loads_of_frequencies();
  /// At the end of such a step.
  void end_frequencies();

  // materials.cpp
  void begin_material();
  void read_elastic();
  void read_density();
  void read_section();
  void finish_materials();

  AbaqusText text_;
  HexaParts parts_;
  NumberMap nodes_, hexa_, flat_; ///< nodes of an assembly by assembly_number()
  bool has_assembly_nodes_ = false;
  Members flat_node_;
  std::vector<std::size_t> flat_begin_{0};
  std::vector<bool> is_curve_;              ///< of those without volume
  std::vector<std::size_t> solid_begin_{0}; ///< of each solid into parts_.node
  std::map<std::string, Members> node_sets_;
  std::map<std::string, ElemSet> elem_sets_;
  std::map<std::string, std::vector<std::int64_t>> surfaces_; ///< 6 * element + face
  std::string part_, instance_;                               ///< names
  bool instance_ended_ = false;

  int num_steps_ = 0;
  bool in_step_ = false, perturbation_ = false;
  bool has_procedure_ = false, is_of_frequencies_ = false; ///< this step
  std::string step_;
  std::set<std::string> step_names_;
  CaseLoads fresh_, earlier_;                     ///< of this step, and of general steps before it
  std::vector<std::uint8_t> held_, earlier_held_; ///< likewise: components by node; may end early
  HeldParts held_parts_;                          ///< of this step; earlier ones are in parts_
  std::int64_t num_boundaries_ = 0;               ///< keywords

  /// By node, NaN: none; may end early. Those of steps stay in the steps after them.
  std::vector<double> initial_temperature_, temperature_;
  bool has_temperatures_ = false; ///< in this step

  std::vector<Coupling> couplings_;
  std::map<std::int32_t, std::size_t> coupling_of_; ///< by reference node
  std::map<std::int32_t, std::int32_t> turning_;    ///< reference node by node of rotations
  std::map<std::string, Members> node_surfaces_;
  /// Rotations of reference nodes that are held (bits), as held_ and earlier_held_.
  std::map<std::int32_t, std::uint8_t> rotations_, earlier_rotations_;

  std::map<std::string, Material> materials_;
  std::string material_;               ///< that is being described
  std::vector<std::string> sectioned_; ///< materials with a section, each once
  std::vector<std::uint8_t>
      section_; ///< by hexahedron, 1 + number of these, 0: none; may end early
};

} // namespace ossatura
