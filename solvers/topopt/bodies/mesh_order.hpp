// SPDX-License-Identifier: Apache-2.0
// A MeshOrderBody keeps nodes and elements in the order of its mesh.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/topopt/bodies/body.hpp>

#include <algorithm>

namespace ossatura {

template<class Exec>
class MeshOrderBody : public DesignBody<Exec> {
public:
  using Vector = Array<double, Exec>;

  Vector upload_nodes(const Exec& exec, const std::vector<double>& values) const override {
    return upload(exec, "ossatura::design::by_node", values);
  }
  Array<int, Exec> place_nodes(const Exec& exec,
                               const std::vector<std::int32_t>& nodes) const override {
    return upload(exec, "ossatura::design::nodes", nodes);
  }
  DesignForce<Exec> place_forces(const Exec& exec,
                                 const std::vector<NodeForce>& forces) const override {
    std::vector<double> sum(std::size_t(this->num_dofs()));
    for (const NodeForce& one : forces)
      std::copy(one.force, one.force + 3, sum.begin() + 3 * std::ptrdiff_t(one.node));
    DesignForce<Exec> force{upload(exec, "ossatura::design::by_node", sum), {}};
    clear(exec, this->held(), force.vector);
    return force;
  }
  std::vector<double> download_nodes(const Exec& exec, const Vector& values) const override {
    return download(exec, values);
  }
  Vector upload_elements(const Exec& exec, const std::vector<double>& values) const override {
    return upload(exec, "ossatura::design::by_element", values);
  }
  std::vector<double> download_elements(const Exec& exec, const Vector& values) const override {
    return download(exec, values);
  }
  Array<std::uint8_t, Exec> upload_roles(const Exec& exec,
                                         const std::vector<std::uint8_t>& role) const override {
    return upload(exec, "ossatura::design::role", role);
  }
};

} // namespace ossatura
