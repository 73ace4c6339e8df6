// SPDX-License-Identifier: Apache-2.0
#include "bench/softbody/factor_kokkos_kernels.hpp"

#include "bench/softbody/factor_rows.hpp"
#include <ossatura/kernels/algebra/upload.hpp>

#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_sptrsv.hpp>
#if defined(KOKKOSKERNELS_ENABLE_SUPERNODAL_SPTRSV)
#include <KokkosSparse_sptrsv_supernode.hpp>
#endif
#endif

#include <memory>
#include <type_traits>

namespace ossatura::bench {

#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
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
  bool teams;

  Triangle(const Exec& exec, const CsrMatrix<double>& rows, bool teams_, bool lower)
      : row_begin(upload(exec, "ossatura::bench::row_begin", rows.row_begin))
      , column(upload(exec, "ossatura::bench::column", rows.column))
      , value(upload(exec, "ossatura::bench::value", rows.value))
      , teams(teams_) {
    using KokkosSparse::Experimental::SPTRSVAlgorithm;
    handle.create_sptrsv_handle(teams ? SPTRSVAlgorithm::SEQLVLSCHD_TP1
                                      : SPTRSVAlgorithm::SEQLVLSCHD_RP,
                                int(rows.num_rows()), lower);
    KokkosSparse::Experimental::sptrsv_symbolic(&handle, row_begin, column);
    fence(exec, "ossatura::bench::triangle");
  }
  ~Triangle() { handle.destroy_sptrsv_handle(); }
  Triangle(const Triangle&) = delete;
  Triangle& operator=(const Triangle&) = delete;

  void solve(const Exec& exec, const Array<double, Exec>& b, const Array<double, Exec>& x) {
    if (!teams) // that solve of 4.5 adds to what x has
      Kokkos::deep_copy(exec, x, 0.0);
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

#if defined(KOKKOSKERNELS_ENABLE_SUPERNODAL_SPTRSV)
/// L and its transpose from the same panels: the library wants the columns of L with the diagonal
/// blocks as squares, which is how ours are stored.
template<class Exec>
class Supernodes {
public:
  Supernodes(const FactorPattern& pattern, const std::vector<double>& panel)
      : parent_(pattern.parent) {
    using KokkosSparse::Experimental::SPTRSVAlgorithm;
    using Solver = typename Handle::SPTRSVHandleType;
    using Matrix = typename Solver::host_crsmat_t;
    const int n = 3 * pattern.num_nodes;
    typename Matrix::row_map_type::non_const_type begin("ossatura::bench::begin", n + 1);
    typename Matrix::index_type::non_const_type row("ossatura::bench::row", panel.size());
    typename Matrix::values_type::non_const_type value("ossatura::bench::value", panel.size());
    std::vector<int> first;
    int entry = 0;
    for (int s = 0; s < pattern.num_panels(); ++s) {
      first.push_back(3 * pattern.first[s]);
      for (int column = first[s]; column < 3 * pattern.first[s + 1]; ++column) {
        begin(column) = entry;
        for (int i = first[s]; i < 3 * pattern.first[s + 1]; ++i)
          row(entry++) = i;
        for (int i = 3 * pattern.row_begin[s]; i < 3 * pattern.row_begin[s + 1]; ++i)
          row(entry++) = 3 * pattern.row[i / 3] + i % 3;
      }
    }
    first.push_back(n);
    begin(n) = entry;
    for (std::size_t i = 0; i < panel.size(); ++i)
      value(i) = panel[i];
    const Matrix columns("ossatura::bench::columns", n, n, entry, value, begin, row);
    for (Handle* handle : {&lower_, &upper_})
      handle->create_sptrsv_handle(SPTRSVAlgorithm::SUPERNODAL_ETREE, n, handle == &lower_);
    KokkosSparse::Experimental::sptrsv_supernodal_symbolic(pattern.num_panels(), first.data(),
                                                           parent_.data(), columns.graph, &lower_,
                                                           columns.graph, &upper_);
    KokkosSparse::Experimental::sptrsv_compute(&lower_, columns);
    KokkosSparse::Experimental::sptrsv_compute(&upper_, columns);
  }
  ~Supernodes() {
    lower_.destroy_sptrsv_handle();
    upper_.destroy_sptrsv_handle();
  }
  Supernodes(const Supernodes&) = delete;
  Supernodes& operator=(const Supernodes&) = delete;

  /// `upper` overwrites b.
  void solve(bool upper, const Array<double, Exec>& b, const Array<double, Exec>& x) {
    using Vector = typename Triangle<Exec>::template View<double>;
    KokkosSparse::Experimental::sptrsv_solve(upper ? &upper_ : &lower_, Vector(x), Vector(b));
  }

private:
  using Handle = typename Triangle<Exec>::Handle;
  std::vector<int> parent_; ///< the handles refer to it
  Handle lower_, upper_;
};
#endif

} // namespace
#endif

bool has_kokkos_kernels_supernodes() {
#if defined(OSSATURA_BENCH_KOKKOS_KERNELS) && defined(KOKKOSKERNELS_ENABLE_SUPERNODAL_SPTRSV)
  return true;
#else
  return false;
#endif
}

template<class Exec>
TriangleSolves kokkos_kernels_solves([[maybe_unused]] const Exec& exec,
                                     [[maybe_unused]] const CsrMatrix<double>& rows,
                                     [[maybe_unused]] bool teams,
                                     [[maybe_unused]] const Array<double, Exec>& r,
                                     [[maybe_unused]] const Array<double, Exec>& y,
                                     [[maybe_unused]] const Array<double, Exec>& z) {
#if defined(OSSATURA_BENCH_KOKKOS_KERNELS)
  if constexpr (has_kernels<Exec>()) {
    const CsrMatrix<double> with_diagonal = with_unit_diagonal(rows);
    const auto lower = std::make_shared<Triangle<Exec>>(exec, with_diagonal, teams, true);
    const auto upper =
        std::make_shared<Triangle<Exec>>(exec, transpose(with_diagonal), teams, false);
    return {[=] { lower->solve(exec, r, y); }, [=] { upper->solve(exec, y, z); }};
  }
#endif
  return {};
}

template<class Exec>
TriangleSolves kokkos_kernels_supernodes([[maybe_unused]] const Exec& exec,
                                         [[maybe_unused]] const FactorPattern& pattern,
                                         [[maybe_unused]] const std::vector<double>& panel,
                                         [[maybe_unused]] const Array<double, Exec>& r,
                                         [[maybe_unused]] const Array<double, Exec>& y,
                                         [[maybe_unused]] const Array<double, Exec>& z) {
#if defined(OSSATURA_BENCH_KOKKOS_KERNELS) && defined(KOKKOSKERNELS_ENABLE_SUPERNODAL_SPTRSV)
  if constexpr (has_kernels<Exec>()) {
    const auto solver = std::make_shared<Supernodes<Exec>>(pattern, panel);
    fence(exec, "ossatura::bench::supernodes");
    return {[=] { solver->solve(false, r, y); }, [=] { solver->solve(true, y, z); }};
  }
#endif
  return {};
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template TriangleSolves kokkos_kernels_supernodes(                                               \
      const Exec&, const FactorPattern&, const std::vector<double>&, const Array<double, Exec>&,   \
      const Array<double, Exec>&, const Array<double, Exec>&);                                     \
  template TriangleSolves kokkos_kernels_solves(                                                   \
      const Exec&, const CsrMatrix<double>&, bool, const Array<double, Exec>&,                     \
      const Array<double, Exec>&, const Array<double, Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::bench
