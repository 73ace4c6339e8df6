// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/published/kokkos_kernels_product.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/algebra/sparse/block_multiply.hpp>

#if defined(OSSATURA_KOKKOS_KERNELS)
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#endif

namespace ossatura {

#if defined(OSSATURA_KOKKOS_KERNELS)
namespace {

template<class Exec>
class KokkosKernelsMultiply : public MatrixMultiply<Exec> {
public:
  KokkosKernelsMultiply(const Exec& exec, const BlockMatrix<Exec>& blocks)
      : csr_(to_csr(exec, blocks)) {
    fence(exec, "ossatura::kokkos_kernels_multiply");
    matrix_ = Matrix("ossatura::kokkos_kernels_multiply", csr_.num_rows, csr_.num_rows,
                     csr_.num_entries(), typename Matrix::values_type(csr_.value),
                     typename Matrix::row_map_type(csr_.row_begin),
                     typename Matrix::index_type(csr_.column));
  }

  void update(const Exec& exec, const BlockMatrix<Exec>& blocks) override {
    update_csr(exec, blocks, csr_);
  }

  void apply(const Exec& exec, const Array<double, Exec>& x,
             const Array<double, Exec>& y) const override {
#if defined(KOKKOSKERNELS_VERSION) && KOKKOSKERNELS_VERSION >= 40400
    KokkosSparse::spmv(exec, "N", 1.0, matrix_, x, 0.0, y);
#else // on the default instance alone
    fence(exec, "ossatura::kokkos_kernels_multiply::direction");
    KokkosSparse::spmv("N", 1.0, matrix_, x, 0.0, y);
    fence(Exec(), "ossatura::kokkos_kernels_multiply::spmv");
#endif
  }
  OperatorCost cost() const override {
    return cost_of_rows<double, int, 1>(csr_.num_entries(), csr_.num_rows);
  }
  /// The library promises nothing.
  bool is_deterministic() const override {
    return false;
  }

private:
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  using Matrix = KokkosSparse::CrsMatrix<double, int, Device, void, int>;

  CsrMatrix<Exec> csr_;
  Matrix matrix_;
};

} // namespace

bool has_kokkos_kernels() {
  return true;
}

template<class Exec>
std::unique_ptr<MatrixMultiply<Exec>>
make_kokkos_kernels_multiply(const Exec& exec, const BlockMatrix<Exec>& matrix) {
  return std::make_unique<KokkosKernelsMultiply<Exec>>(exec, matrix);
}

#else

bool has_kokkos_kernels() {
  return false;
}

template<class Exec>
std::unique_ptr<MatrixMultiply<Exec>> make_kokkos_kernels_multiply(const Exec&,
                                                                   const BlockMatrix<Exec>&) {
  fail<UsageError>("the product kokkos-kernels: this ossatura was built without Kokkos Kernels; "
                   "choose blocks, or build it with one for the same Kokkos");
}

#endif

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::unique_ptr<MatrixMultiply<Exec>> make_kokkos_kernels_multiply(                     \
      const Exec&, const BlockMatrix<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
