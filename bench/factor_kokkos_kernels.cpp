// SPDX-License-Identifier: BSD-3-Clause
#include "bench/factor_kokkos_kernels.hpp"

#include "bench/factor_rows.hpp"
#include "kernels/upload.hpp"

#if defined(FEMURA_BENCH_KOKKOS_KERNELS)
#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_sptrsv.hpp>
#endif

#include <memory>
#include <type_traits>

namespace femura::bench {

#if defined(FEMURA_BENCH_KOKKOS_KERNELS)
namespace {

/// One triangle and its levels.
template<class Exec>
struct Triangle {
  using Memory = typename Exec::memory_space;
  using Handle =
      KokkosKernels::Experimental::KokkosKernelsHandle<int, int, double, Exec, Memory, Memory>;
  /// Arrays of host backends belong to the default one, which the library does not let pass.
  template<class T>
  using View = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::Device<Exec, Memory>>;
  Handle handle;
  View<int> row_begin, column;
  View<double> value;

  Triangle(const Exec& exec, const CsrMatrix<double>& rows, bool teams, bool lower)
      : row_begin(upload(exec, "femura::bench::row_begin", rows.row_begin))
      , column(upload(exec, "femura::bench::column", rows.column))
      , value(upload(exec, "femura::bench::value", rows.value)) {
    using KokkosSparse::Experimental::SPTRSVAlgorithm;
    handle.create_sptrsv_handle(teams ? SPTRSVAlgorithm::SEQLVLSCHD_TP1
                                      : SPTRSVAlgorithm::SEQLVLSCHD_RP,
                                int(rows.num_rows()), lower);
    KokkosSparse::Experimental::sptrsv_symbolic(&handle, row_begin, column);
    fence(exec, "femura::bench::triangle");
  }
  ~Triangle() { handle.destroy_sptrsv_handle(); }
  Triangle(const Triangle&) = delete;
  Triangle& operator=(const Triangle&) = delete;

  void solve(const Array<double, Exec>& b, const Array<double, Exec>& x) {
    KokkosSparse::Experimental::sptrsv_solve(&handle, row_begin, column, value, View<double>(b),
                                             View<double>(x));
  }
};

/// Whether the library was built for the backend.
template<class Exec>
constexpr bool has_kernels() {
#if defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOSKERNELS_INST_EXECSPACE_CUDA)
  return !std::is_same_v<Exec, Cuda>;
#else
  return true;
#endif
}

} // namespace
#endif

template<class Exec>
TriangleSolves kokkos_kernels_solves([[maybe_unused]] const Exec& exec,
                                     [[maybe_unused]] const CsrMatrix<double>& rows,
                                     [[maybe_unused]] bool teams,
                                     [[maybe_unused]] const Array<double, Exec>& r,
                                     [[maybe_unused]] const Array<double, Exec>& y,
                                     [[maybe_unused]] const Array<double, Exec>& z) {
#if defined(FEMURA_BENCH_KOKKOS_KERNELS)
  if constexpr (has_kernels<Exec>()) {
    const CsrMatrix<double> with_diagonal = with_unit_diagonal(rows);
    const auto lower = std::make_shared<Triangle<Exec>>(exec, with_diagonal, teams, true);
    const auto upper =
        std::make_shared<Triangle<Exec>>(exec, transpose(with_diagonal), teams, false);
    return {[=] { lower->solve(r, y); }, [=] { upper->solve(y, z); }};
  }
#endif
  return {};
}

#define FEMURA_INSTANTIATE(Exec)                                                                   \
  template TriangleSolves kokkos_kernels_solves(                                                   \
      const Exec&, const CsrMatrix<double>&, bool, const Array<double, Exec>&,                     \
      const Array<double, Exec>&, const Array<double, Exec>&);
FEMURA_FOR_EACH_BACKEND(FEMURA_INSTANTIATE)
#undef FEMURA_INSTANTIATE

} // namespace femura::bench
