// SPDX-License-Identifier: Apache-2.0
// The reader makes a model of hexahedra, with load steps, from an Ansys archive as CDWRITE,DB
// writes it (blocked). An archive defines nodes, elements and components before other commands name
// them. Unknown commands are refused, so that no other problem is solved than the file's.
//
// [1] Ansys Mechanical APDL, Command Reference: NBLOCK, EBLOCK, CMBLOCK, MPDATA, D, F, SFE,
// LSWRITE.
#pragma once

#include <ossatura/core/io/ansys/text.hpp>
#include <ossatura/core/io/mesh/hexa_parts.hpp>
#include <ossatura/core/io/text/number_map.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ossatura {

class AnsysReader {
public:
  AnsysReader(std::string path, std::string_view content, double unit);
  HexaFile read();

private:
  using Members = std::vector<std::int32_t>;
  struct Material {
    double young = 0, poisson = 0, density = 0;
    bool has_young = false, has_poisson = false, expands = false;
    std::optional<double> reference_temperature; ///< MP,REFT; else that of all
  };
  struct ElemType {
    std::int64_t number = -1;                 ///< Ansys's, 185 of SOLID185
    std::map<std::int64_t, std::int64_t> key; ///< KEYOPT(i) that are not 0
  };

  void pass_over() {}
  void pass_rows() { text_.pass_rows(); }
  void refuse();
  void require_zeros();

  // blocks.cpp
  void read_type();
  void read_types();
  void read_key();
  void read_nodes();
  void read_node_end();
  void read_elements();
  void read_component();
  void select_component();
  void select_nodes();
  void select_elements();
  void select_all();
  void note_component();
  void finish_elements();
  /// What solids of that type are by their keys, and solved without; empty: nothing.
  static std::string missing_of(const ElemType& type);

  // loads.cpp
  void read_analysis();
  void read_modes();
  void read_prestress();
  void read_lumping();
  void require_small_displacements();
  void read_temperature();
  void read_reference_temperature();
  void read_support();
  void read_force();
  void read_pressure();
  void delete_forces();
  void delete_pressures();
  void write_step();
  /// Refuses to solve for a part of the nodes or elements.
  void require_all_selected() const;
  void close_case(const std::string& name);
  void close_modes(const std::string& name);
  /// The nodes of the range or set that the command names in `first`, with its end and increment in
  /// `last` and the field after it; `one` holds those of a range.
  const Members& take_nodes(std::size_t first, std::size_t last, Members& one);
  /// Notes what the row of D with these nodes holds together.
  void add_held_row(const Members& nodes, std::uint8_t components);
  void finish_loads();

  // materials.cpp
  void read_property();
  void read_property_table();
  void set_property(const std::string& label, std::int64_t material, double value);
  /// Refuses materials that are to expand.
  void require_no_expansion();
  void finish_materials();

  AnsysText text_;
  HexaParts parts_;
  NumberMap nodes_, hexa_, flat_;
  std::map<std::int64_t, ElemType> types_; ///< by ET's number
  std::set<std::int64_t> used_types_;      ///< of hexahedra
  std::vector<bool> rotated_;              ///< nodes with axes of their own
  std::string selected_;                   ///< component; empty: all nodes
  bool selection_known_ = true, all_elements_ = true;

  std::map<std::int64_t, double> forces_, pressures_; ///< 3 * node + component, 6 * element + face
  bool loads_changed_ = false;                        ///< since the last load step
  int num_steps_ = 0;
  std::size_t in_ranges_ = 0; ///< nodes of the ranges that are held
  bool is_modal_ = false, is_stressed_ = false, is_lumped_ = false;
  FrequencyRequest modes_; ///< of the last MODOPT; count 0: none

  std::map<std::int64_t, Material> materials_;
  std::set<std::int64_t> used_materials_; ///< of hexahedra
  std::int64_t last_material_ = 0;        ///< of the hexahedron before
  double reference_temperature_ = 0;
  std::vector<double> temperatures_; ///< of all nodes (BFUNIF); none: the reference temperature
};

} // namespace ossatura
