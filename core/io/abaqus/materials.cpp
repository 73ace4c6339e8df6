// SPDX-License-Identifier: Apache-2.0
// The reader turns materials and sections of an Abaqus file into moduli of elements.
#include <ossatura/core/io/abaqus/reader.hpp>

#include <algorithm>

namespace ossatura {

void AbaqusReader::begin_material() {
  text_.require_params({"NAME"});
  const std::string* name = text_.keyword().find("NAME");
  if (name == nullptr || name->empty())
    text_.bad(text_.keyword().written, " has no NAME");
  material_ = *name;
  if (!materials_.try_emplace(material_).second)
    text_.bad("material ", printable_word(material_), " is there twice; give it another name");
}

void AbaqusReader::read_elastic() {
  text_.require_params({"TYPE"});
  if (material_.empty())
    text_.bad(text_.keyword().written, " belongs to no *MATERIAL");
  const std::string* type = text_.keyword().find("TYPE");
  if (type != nullptr && *type != "ISO" && *type != "ISOTROPIC")
    text_.bad("elasticity of type ", printable_word(*type), " is not solved; isotropic is");
  if (!text_.next_row())
    text_.bad("the modulus and Poisson's ratio are missing");
  Material& material = materials_[material_];
  if (material.young > 0)
    text_.bad("a second modulus of the material ", printable_word(material_), "; keep one");
  double temperature = 0; // on which they do not depend
  if (!text_.number(material.young) || !text_.number_or_blank(material.poisson))
    text_.bad_field("the modulus and Poisson's ratio are expected");
  if (!(material.young > 0))
    text_.bad("a modulus of ", material.young, " is not positive");
  if (!(material.poisson > -1 && material.poisson < 0.5))
    text_.bad("a Poisson's ratio of ", material.poisson, " is not above -1 and below 0.5");
  if (!text_.number_or_blank(temperature))
    text_.bad_field("a temperature is expected");
  text_.require_end();
  if (material.poisson == 0 && temperature != 0) // 210000, 0,3
    text_.bad("a Poisson's ratio of 0 at a temperature of ", temperature,
              ": decimals are written with a point; leave the temperature out");
  if (text_.next_row())
    text_.bad("a modulus that depends on temperature is not solved; keep one row");
}

void AbaqusReader::read_density() {
  text_.require_params({});
  if (material_.empty())
    text_.bad(text_.keyword().written, " belongs to no *MATERIAL");
  double& density = materials_[material_].density;
  double temperature = 0; // on which it does not depend
  if (density > 0)
    text_.bad("a second density of the material ", printable_word(material_), "; keep one");
  if (!text_.next_row() || !text_.number(density))
    text_.bad_field("a density is expected");
  if (!text_.number_or_blank(temperature))
    text_.bad_field("a temperature is expected");
  text_.require_end();
  if (!(density > 0))
    text_.bad("a density of ", density, " is not positive");
  if (text_.next_row())
    text_.bad("a density that depends on temperature is not solved; keep one row");
  if (temperature != 0) // 7,85e-9
    text_.bad("a density of ", density, " at a temperature of ", temperature,
              ": decimals are written with a point; leave the temperature out");
}

void AbaqusReader::read_section() {
  text_.require_params({"ELSET", "MATERIAL", "CONTROLS"});
  const std::string* name = text_.keyword().find("ELSET");
  const std::string* material = text_.keyword().find("MATERIAL");
  if (name == nullptr || material == nullptr)
    text_.bad(text_.keyword().written, " has no ELSET or no MATERIAL");
  const ElemSet& elems = require_elem_set(*name);
  if (!elems.flat.empty())
    text_.bad("the set ", printable_word(*name),
              " has elements without volume, which are not solved; give hexahedra a section");
  const auto place = std::find(sectioned_.begin(), sectioned_.end(), *material);
  const std::size_t number = std::size_t(place - sectioned_.begin());
  if (place == sectioned_.end())
    sectioned_.push_back(*material);
  constexpr std::size_t most = 255;
  if (sectioned_.size() > most)
    text_.bad("sections of more than ", most, " materials");
  section_.resize(hexa_.size());
  for (const std::int32_t elem : elems.hexa) {
    std::uint8_t& section = section_[std::size_t(elem)];
    if (section != 0 && section != number + 1)
      text_.bad(parts_.elem_name(std::size_t(elem)), " has a section of material ",
                printable_word(sectioned_[section - std::size_t(1)]), " already; it is of one");
    section = std::uint8_t(number + 1);
  }
  if (text_.next_row()) // a thickness, which solids have none of
    pass_row_of_numbers();
}

void AbaqusReader::finish_materials() {
  const bool has_sections = !sectioned_.empty();
  if (!has_sections)
    for (const auto& [name, material] : materials_)
      sectioned_.push_back(name);
  section_.resize(hexa_.size());
  for (std::size_t elem = 0; has_sections && elem < hexa_.size(); ++elem)
    if (section_[elem] == 0)
      fail<InputError>(parts_.path, ": ", parts_.elem_name(elem),
                       " has no *SOLID SECTION, though others have");
  for (const std::string& name : sectioned_) {
    const auto found = materials_.find(name);
    if (found == materials_.end())
      fail<InputError>(parts_.path, ": a section is of material ", printable_word(name),
                       ", which is not there");
    const Material& material = found->second;
    if (material.young == 0)
      fail<InputError>(parts_.path, ": material ", printable_word(name), " has no *ELASTIC");
    parts_.materials.push_back(
        {name, material.young, material.poisson, material.density, material.expansion});
  }
  if (parts_.materials.empty())
    return;
  const HexaMaterial& first = parts_.materials[0];
  for (const HexaMaterial& one : parts_.materials)
    if (!has_sections && (one.young != first.young || one.poisson != first.poisson ||
                          one.density != first.density || one.expansion != first.expansion))
      fail<InputError>(parts_.path, ": material ", printable_word(one.name), " differs from ",
                       printable_word(first.name),
                       ", and no *SOLID SECTION says which elements are of which");
  parts_.young = first.young;
  parts_.poisson = first.poisson;
  if (!has_sections)
    parts_.materials.resize(1);
  if (parts_.materials.size() > 1)
    for (const std::uint8_t section : section_)
      parts_.material.push_back(std::uint8_t(section - 1));
}

} // namespace ossatura
