// SPDX-License-Identifier: Apache-2.0
// This file loads cuSPARSE's SpSV when a row asks for it: a benchmark built with its headers also
// runs where the library is not installed.
#include "bench/host/factor_cusparse.hpp"

#include <cusparse.h>
#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace ossatura::bench {

namespace {

#define OSSATURA_CUSPARSE_FUNCTIONS(X)                                                             \
  X(cusparseCreate)                                                                                \
  X(cusparseDestroy)                                                                               \
  X(cusparseSetStream)                                                                             \
  X(cusparseGetErrorString)                                                                        \
  X(cusparseCreateCsr)                                                                             \
  X(cusparseDestroySpMat)                                                                          \
  X(cusparseSpMatSetAttribute)                                                                     \
  X(cusparseCreateDnVec)                                                                           \
  X(cusparseDestroyDnVec)                                                                          \
  X(cusparseSpSV_createDescr)                                                                      \
  X(cusparseSpSV_destroyDescr)                                                                     \
  X(cusparseSpSV_bufferSize)                                                                       \
  X(cusparseSpSV_analysis)                                                                         \
  X(cusparseSpSV_solve)

struct Library {
#define OSSATURA_DECLARE(name) decltype(&::name) name = nullptr;
  OSSATURA_CUSPARSE_FUNCTIONS(OSSATURA_DECLARE)
#undef OSSATURA_DECLARE

  Library() {
    const std::string file = "libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR);
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      throw std::runtime_error(file + " is not here: set LD_LIBRARY_PATH");
#define OSSATURA_LOAD(name)                                                                        \
  name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name));                                \
  if (!name)                                                                                       \
    throw std::runtime_error(file + " has no " #name);
    OSSATURA_CUSPARSE_FUNCTIONS(OSSATURA_LOAD)
#undef OSSATURA_LOAD
  }
};
#undef OSSATURA_CUSPARSE_FUNCTIONS

const Library& library() {
  static const Library loaded;
  return loaded;
}

void check(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + library().cusparseGetErrorString(status));
}

} // namespace

struct CusparseSolve::Implementation {
  const Library& cusparse = library();
  cudaDataType type = CUDA_R_64F;
  const double one = 1;
  const float one_single = 1;
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t r = nullptr, y = nullptr, z = nullptr;
  cusparseSpSVDescr_t lower = nullptr, upper = nullptr;

  const void* scale() const {
    return type == CUDA_R_64F ? static_cast<const void*>(&one) : &one_single;
  }

  explicit Implementation(const CusparseTriangle& triangle)
      : type(triangle.single_precision ? CUDA_R_32F : CUDA_R_64F) {
    check(cusparse.cusparseCreate(&handle), "cusparseCreate");
    check(cusparse.cusparseSetStream(handle, static_cast<cudaStream_t>(triangle.stream)),
          "cusparseSetStream");
    check(cusparse.cusparseCreateCsr(&matrix, triangle.num_rows, triangle.num_rows,
                                     triangle.num_entries, triangle.row_begin, triangle.column,
                                     triangle.value, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_BASE_ZERO, type),
          "cusparseCreateCsr");
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_UNIT;
    check(cusparse.cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill),
          "cusparseSpMatSetAttribute");
    check(cusparse.cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal,
                                             sizeof diagonal),
          "cusparseSpMatSetAttribute");
    make_vector(r, triangle.num_rows, triangle.r);
    make_vector(y, triangle.num_rows, triangle.y);
    make_vector(z, triangle.num_rows, triangle.z);
    analyse(triangle, CUSPARSE_OPERATION_NON_TRANSPOSE, r, y, lower);
    analyse(triangle, CUSPARSE_OPERATION_TRANSPOSE, y, z, upper);
  }

  ~Implementation() {
    if (lower)
      cusparse.cusparseSpSV_destroyDescr(lower);
    if (upper)
      cusparse.cusparseSpSV_destroyDescr(upper);
    for (const cusparseDnVecDescr_t vector : {r, y, z})
      if (vector)
        cusparse.cusparseDestroyDnVec(vector);
    if (matrix)
      cusparse.cusparseDestroySpMat(matrix);
    if (handle)
      cusparse.cusparseDestroy(handle);
  }

  void make_vector(cusparseDnVecDescr_t& vector, std::int64_t size, void* values) {
    check(cusparse.cusparseCreateDnVec(&vector, size, values, type), "cusparseCreateDnVec");
  }

  void analyse(const CusparseTriangle& triangle, cusparseOperation_t operation,
               cusparseDnVecDescr_t from, cusparseDnVecDescr_t to, cusparseSpSVDescr_t& descr) {
    check(cusparse.cusparseSpSV_createDescr(&descr), "cusparseSpSV_createDescr");
    std::size_t bytes = 0;
    check(cusparse.cusparseSpSV_bufferSize(handle, operation, scale(), matrix, from, to, type,
                                           CUSPARSE_SPSV_ALG_DEFAULT, descr, &bytes),
          "cusparseSpSV_bufferSize");
    check(cusparse.cusparseSpSV_analysis(handle, operation, scale(), matrix, from, to, type,
                                         CUSPARSE_SPSV_ALG_DEFAULT, descr,
                                         triangle.allocate(bytes)),
          "cusparseSpSV_analysis");
  }

  void solve(cusparseOperation_t operation, cusparseDnVecDescr_t from, cusparseDnVecDescr_t to,
             cusparseSpSVDescr_t descr) {
    check(cusparse.cusparseSpSV_solve(handle, operation, scale(), matrix, from, to, type,
                                      CUSPARSE_SPSV_ALG_DEFAULT, descr),
          "cusparseSpSV_solve");
  }
};

CusparseSolve::CusparseSolve(const CusparseTriangle& triangle)
    : implementation_(std::make_unique<Implementation>(triangle)) {}
CusparseSolve::~CusparseSolve() = default;

void CusparseSolve::lower() {
  Implementation& own = *implementation_;
  own.solve(CUSPARSE_OPERATION_NON_TRANSPOSE, own.r, own.y, own.lower);
}
void CusparseSolve::upper() {
  Implementation& own = *implementation_;
  own.solve(CUSPARSE_OPERATION_TRANSPOSE, own.y, own.z, own.upper);
}

} // namespace ossatura::bench
