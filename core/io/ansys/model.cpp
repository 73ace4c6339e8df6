// SPDX-License-Identifier: Apache-2.0
// The reader dispatches each command of an Ansys archive to the function that understands the
// command.
#include <ossatura/core/io/ansys/model.hpp>

#include <ossatura/core/io/ansys/reader.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <iterator>

namespace ossatura {
namespace {

/// Settings, output and bookkeeping, which the displacements of linear statics do not depend on.
constexpr std::string_view passed_over[] = {
    "NUMO", "DOF",  "R",    "RMOR", "TYPE", "MAT",  "REAL", "ESYS", "SECN", "SECT", "SECD",
    "SECO", "SECC", "SHPP", "EXTO", "ERES", "KUSE", "TIME", "KBC",  "ALPH", "BETA", "DMPR",
    "DMPS", "DMPO", "CRPL", "NCNV", "NEQI", "OUTR", "OUTP", "EQSL", "CNVT", "PRED", "LNSR",
    "NSUB", "DELT", "AUTO", "RESC", "FINI", "SAVE", "ETCO", "TOFF", "EMUN", "LOCA", "CSCI",
    "CSYS", "DSYS", "MPTE", "CMGR", "CMDE", "LSSO", "BCSO", "PCGO", "STEF", "THOP", "TIMI",
    "TINT", "QRDO", "CGLO", "EXIT", "CHEC", "TRNO", "MXPA"};

} // namespace

AnsysReader::AnsysReader(std::string path, std::string_view content, double unit)
    : text_(path, content)
    , parts_(make_numbered_parts(std::move(path), unit, nodes_, hexa_)) {}

void AnsysReader::refuse() {
  text_.bad("the command ", printable_word(text_.field(0)),
            " is not among those of linear statics and modes of hexahedra that are read; remove it "
            "if the "
            "problem is the same without it");
}

void AnsysReader::require_zeros() {
  for (std::size_t i = 1; i < text_.num_fields(); ++i) {
    double value = 0;
    text_.number(i, value, "a number");
    if (value != 0)
      text_.bad(printable_word(text_.field(0)), " of ", value,
                ": loads of the body's own mass are not solved");
  }
}

HexaFile AnsysReader::read() {
  using R = AnsysReader;
  static const struct {
    std::string_view name;
    void (R::*read)();
  } commands[] = {
      {"ET", &R::read_type},
      {"ETBL", &R::read_types},
      {"KEYO", &R::read_key},
      {"RLBL", &R::pass_rows},
      {"SECB", &R::pass_rows},
      {"NBLO", &R::read_nodes},
      {"N", &R::read_node_end},
      {"EBLO", &R::read_elements},
      {"CMBL", &R::read_component},
      {"CMSE", &R::select_component},
      {"NSEL", &R::select_nodes},
      {"ALLS", &R::select_all},
      {"ESEL", &R::select_elements},
      {"CM", &R::note_component},
      {"MP", &R::read_property},
      {"MPDA", &R::read_property_table},
      {"D", &R::read_support},
      {"F", &R::read_force},
      {"SFE", &R::read_pressure},
      {"FDEL", &R::delete_forces},
      {"SFED", &R::delete_pressures},
      {"LSWR", &R::write_step},
      {"SOLV", &R::write_step},
      {"ANTY", &R::read_analysis},
      {"MODO", &R::read_modes},
      {"PSTR", &R::read_prestress},
      {"LUMP", &R::read_lumping},
      {"NLGE", &R::require_small_displacements},
      {"TREF", &R::read_reference_temperature},
      {"BFUN", &R::read_temperature},
      {"ACEL", &R::require_zeros},
      {"OMEG", &R::require_zeros},
      {"DOME", &R::require_zeros},
      {"CGOM", &R::require_zeros},
      {"DCGO", &R::require_zeros},
      {"IRLF", &R::require_zeros},
      {"*SET", &R::pass_over},
      {"*DIM", &R::pass_over},
      {"*GET", &R::pass_over},
      {"*ELSE", &R::pass_over},
      {"*ENDIF", &R::pass_over},
      {"/INPUT", &R::refuse},
  };
  while (text_.next_command()) {
    const std::string& name = text_.command();
    if (name == "/EOF")
      break;
    const auto* found = std::find_if(std::begin(commands), std::end(commands),
                                     [&](const auto& c) { return c.name == name; });
    if (found != std::end(commands))
      (this->*found->read)();
    else if (name == "*IF" && text_.field(1) == "_CDRDOFF")
      continue; // CDWRITE asks whether a solid model was read before
    else if (name.empty() || name[0] == '*' ||
             (name[0] != '/' && name.find('=') == std::string::npos &&
              std::find(std::begin(passed_over), std::end(passed_over), name) ==
                  std::end(passed_over)))
      refuse();
  }
  finish_elements();
  finish_loads();
  finish_materials();
  return make_hexa_file(std::move(parts_));
}

HexaFile read_ansys(const std::string& path, double unit) {
  const std::vector<unsigned char> bytes = read_all(path);
  return AnsysReader(path, text_of(bytes), unit).read();
}

} // namespace ossatura
