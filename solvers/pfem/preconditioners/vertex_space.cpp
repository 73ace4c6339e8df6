// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/preconditioners/vertex_space.hpp>

#include <ossatura/kernels/algebra/dense/inverse.hpp>
#include <ossatura/kernels/algebra/dense/operator.hpp>
#include <ossatura/kernels/algebra/sparse/block_operator.hpp>
#include <ossatura/kernels/hexa/block_matrix.hpp>
#include <ossatura/kernels/pfem/vertex_matrix.hpp>

namespace ossatura::detail {

template<class Exec>
VertexSpace<Exec>::VertexSpace(const Exec& exec, const ElementMesh& mesh,
                               const std::vector<std::uint8_t>& held, int most_direct)
    : arrays_(make_hexa_arrays(exec, mesh))
    , held_(make_constraints(exec, upload(exec, "ossatura::vertices::held", held)))
    , direct_(arrays_.num_nodes <= most_direct) {
  graph_ = make_hexa_graph(exec, arrays_);
  if (direct_) {
    z_ = make_zeros<double>(exec, 3 * std::int64_t(arrays_.num_nodes), "ossatura::vertices::z");
  } else {
    const AggregationOptions options;
    hierarchy_ = std::make_shared<AggregationHierarchy<Exec>>(
        make_aggregation_hierarchy(exec, graph_, arrays_.point, held_, options));
    multigrid_ = std::make_unique<AggregationMultigrid<Exec, double>>(exec, hierarchy_, options);
  }
  value_ = make_zeros<double>(exec, 9 * graph_.num_entries(), "ossatura::vertices::matrix");
}

template<class Exec>
void VertexSpace<Exec>::add(const Exec& exec, HexaSpace space, int order,
                            const ElementMatrices<Exec>& elements) {
  const std::vector<HierarchicMode> modes = hierarchic_modes(space, order);
  int vertex_mode[8] = {};
  for (std::size_t a = 0; a < modes.size(); ++a) {
    const HexaEntity entity = entity_of(modes[a]);
    if (entity.dimension == 0)
      vertex_mode[entity.number] = int(a);
  }
  add_to_vertex_matrix(exec, arrays_, graph_, vertex_mode, elements, value_);
}

template<class Exec>
void VertexSpace<Exec>::prepare(const Exec& exec) {
  if (direct_) {
    const auto dense = dense_vertex_matrix(exec, graph_, held_.mask, value_);
    inverse_ = invert_semidefinite<double>(exec, dense, z_.extent(0), 1e-13);
    fence(exec, "ossatura::VertexSpace::prepare"); // scratch goes
    value_ = {};
    return;
  }
  product_ = std::make_unique<BlockOperator<Exec, double>>(graph_, value_);
  multigrid_->prepare(exec, *product_, value_);
}

template<class Exec>
Array<double, Exec> VertexSpace<Exec>::apply(const Exec& exec, const Array<double, Exec>& b) {
  const std::int64_t n = 3 * std::int64_t(arrays_.num_nodes);
  const Array<double, Exec> part = Kokkos::subview(b, std::make_pair(std::int64_t(0), n));
  if (!direct_)
    return multigrid_->apply(exec, part);
  apply_dense(exec, inverse_, part, z_);
  return z_;
}

template<class Exec>
std::string VertexSpace<Exec>::describe() const {
  return direct_ ? std::to_string(arrays_.num_nodes) + " vertices, direct" : hierarchy_->describe();
}

#define OSSATURA_INSTANTIATE(Exec) template class VertexSpace<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::detail
