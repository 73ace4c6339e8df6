// SPDX-License-Identifier: Apache-2.0
// The reader makes the mesh of a soft body from a Gmsh file.
#include <ossatura/core/io/gmsh/read_mesh.hpp>
#include <ossatura/core/io/gmsh/stream.hpp>
#include <ossatura/core/io/mesh/element_collector.hpp>

namespace ossatura {
namespace {

std::optional<ElementShape> shape_of(const GmshType& type) {
  switch (type.number) {
  case gmsh_triangle:
    return ElementShape::triangle;
  case gmsh_tetra:
    return ElementShape::tetra;
  case gmsh_hexa:
    return ElementShape::hexa;
  default:
    return std::nullopt;
  }
}

class GmshAnyElements : public GmshMesh {
public:
  GmshAnyElements(const std::string& path, const ElementFileOptions& options)
      : GmshMesh(options.unit)
      , collector_(path, options, [this](std::size_t place) { return describe(place); }) {}
  ElementFile file;

  void accept(const GmshStream& in, const GmshType&) override { in_ = &in; }

  void add(const GmshStream& in, const GmshType& type, const std::int64_t* node,
           std::int64_t) override {
    collector_.add({type.dimension, type.number, type.name, shape_of(type)}, node,
                   in.text.position());
  }

  void finish(GmshStream&) override { file = collector_.finish(std::move(point)); }

private:
  std::string describe(std::size_t position) const {
    GmshStream there(*in_);
    there.text.seek(position);
    return there.text.path() + ": " + there.place() + ": the element";
  }

  const GmshStream* in_ = nullptr;
  ElementCollector collector_;
};

} // namespace

ElementFile read_gmsh_elements(const std::string& path, const ElementFileOptions& options) {
  GmshAnyElements out(path, options);
  read_gmsh_file(path, out);
  return std::move(out.file);
}

} // namespace ossatura
