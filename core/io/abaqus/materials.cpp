// SPDX-License-Identifier: Apache-2.0
// The reader turns materials and sections of an Abaqus file into moduli of elements.
#include <ossatura/core/io/abaqus/reader.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

void AbaqusReader::begin_material() {
  text_.require_params({"NAME"});
  const std::string* name = text_.keyword().find("NAME");
  if (name == nullptr || name->empty())
    text_.bad(text_.keyword().written, " has no NAME");
  material_ = *name;
  materials_[material_];
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
  Material material;
  if (!text_.number(material.young) || !text_.number_or_blank(material.poisson))
    text_.bad_field("the modulus and Poisson's ratio are expected");
  if (!(material.young > 0 && std::isfinite(material.young)))
    text_.bad("a modulus of ", material.young, " is not positive");
  if (!(material.poisson > -1 && material.poisson < 0.5))
    text_.bad("a Poisson's ratio of ", material.poisson, " is not above -1 and below 0.5");
  materials_[material_] = material;
  if (text_.next_row())
    text_.bad("a modulus that depends on temperature is not solved; keep one row");
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
  has_section_.resize(hexa_.size());
  for (const std::int32_t elem : elems.hexa)
    has_section_[std::size_t(elem)] = true;
  sectioned_.push_back(*material);
}

void AbaqusReader::finish_materials() {
  if (sectioned_.empty())
    for (const auto& [name, material] : materials_)
      sectioned_.push_back(name);
  else
    for (std::size_t elem = 0; elem < hexa_.size(); ++elem)
      if (elem >= has_section_.size() || !has_section_[elem])
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
    if (parts_.young != 0 && (material.young != parts_.young || material.poisson != parts_.poisson))
      fail<InputError>(parts_.path, ": material ", printable_word(name),
                       " differs from another; one material is solved");
    parts_.young = material.young;
    parts_.poisson = material.poisson;
  }
}

} // namespace ossatura
