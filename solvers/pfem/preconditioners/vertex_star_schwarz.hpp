// SPDX-License-Identifier: Apache-2.0
// The vertex-star preconditioner adds the modes of order 1 and, for each vertex, all modes of its
// star [1]:
//   z = R_0^T A_0^-1 R_0 r + sum over vertices v of R_v^T A_v^-1 R_v r.
// A_v are sums of blocks of element matrices; their inverses are kept. Not for users.
//
// [1] L. Pavarino. Additive Schwarz methods for the p-version finite element method. Numer. Math.
//     66 (1994) 493-515, doi:10.1007/BF01385709.
#pragma once

#include <ossatura/core/pfem/hexa_map.hpp>
#include <ossatura/kernels/pfem/operator.hpp>
#include <ossatura/kernels/pfem/stars/vertex_stars.hpp>
#include <ossatura/kernels/pfem/stiffness/method.hpp>
#include <ossatura/solvers/pfem/preconditioners/vertex_space.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ossatura::detail {

struct VertexStarOptions {
  StiffnessMethod form = StiffnessMethod::automatic;
  bool single = true;           ///< inverses in fp32; they are formed in fp64
  int most_direct = 1000;       ///< vertices, see VertexSpace
  std::int64_t memory = 0;      ///< bytes there are; 0: unknown
  std::int64_t workset = 0;     ///< bytes of element matrices at a time; 0: 256 MiB at most
  std::int64_t star_memory = 0; ///< bytes of stars in fp64 at a time; 0: 1 GiB at most
};

template<class Exec>
class VertexStarSchwarz {
public:
  /// `held` [num_modes]. Throws BackendError where the inverses do not fit the memory. Fences.
  VertexStarSchwarz(const Exec& exec, const CurvedHexaMesh& mesh,
                    const HierarchicNumbering& numbering, const HierarchicModel<Exec>& model,
                    const std::vector<std::uint8_t>& held, const VertexStarOptions& options);

  /// z [num_modes, 3] of r, zero at held components, as r is; the next call overwrites it. Does not
  /// fence.
  Array<double, Exec> apply(const Exec& exec, const Array<double, Exec>& r);

  std::int64_t bytes() const; ///< of the inverses
  std::string describe() const;

private:
  void form(const Exec& exec, const HierarchicModel<Exec>& model, const HierarchicStars& stars,
            const Array<std::uint8_t, Exec>& held, const VertexStarOptions& options);

  VertexSpace<Exec> vertices_;
  VertexStars<Exec> stars_;
  Array<float, Exec> single_;
  Array<double, Exec> double_; ///< one of the two
  Array<double, Exec> y_, z_;
};

} // namespace ossatura::detail
