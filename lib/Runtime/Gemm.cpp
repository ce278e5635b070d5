//===- Gemm.cpp - Matrix products -----------------------------------------===//
//
// Compiled code hands over pointers, sizes and arbitrary strides. OpenBLAS
// takes matrices with one unit stride: whatever has none is copied first.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Support.h"
#include "Runtime/ThreadPool.h"

#include <atomic>
#include <climits>
#include <cstring>
#include <dlfcn.h>

namespace {

enum CblasConstant { RowMajor = 101, NoTrans = 111, Trans = 112 };

template <typename T>
using GemmFn = void (*)(int order, int transA, int transB, int m, int n, int k,
                        T alpha, const T *a, int lda, const T *b, int ldb,
                        T beta, T *c, int ldc);
template <typename T>
using GemvFn = void (*)(int order, int trans, int m, int n, T alpha, const T *a,
                        int lda, const T *x, int incX, T beta, T *y, int incY);

template <typename T>
struct Blas {
  static GemmFn<T> gemm;
  static GemvFn<T> gemv;
};
template <typename T>
GemmFn<T> Blas<T>::gemm = nullptr;
template <typename T>
GemvFn<T> Blas<T>::gemv = nullptr;

void (*setBlasThreads)(int) = nullptr;

/// A matrix in memory, with strides in elements.
template <typename T>
struct Matrix {
  T *data;
  int64_t rows, cols, rowStride, colStride;

  Matrix transposed() const { return {data, cols, rows, colStride, rowStride}; }
  bool fitsInt() const {
    return rows <= INT_MAX && cols <= INT_MAX && rowStride <= INT_MAX &&
           colStride <= INT_MAX;
  }
  /// Rows are contiguous and do not overlap: what BLAS calls row major.
  bool isRowMajor() const {
    return (cols == 1 || colStride == 1) && (rows == 1 || rowStride >= cols);
  }
  int leadingDimension() const {
    return static_cast<int>(rows == 1 ? cols : rowStride);
  }
};

/// Below this many multiplications a library call costs more than the work.
constexpr int64_t kTiny = 512;

} // namespace

template <typename T>
static void multiplyLoops(Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t l = 0; l < a.cols; ++l) {
      T factor = a.data[i * a.rowStride + l * a.colStride];
      const T *row = b.data + l * b.rowStride;
      T *result = c.data + i * c.rowStride;
      for (int64_t j = 0; j < c.cols; ++j)
        result[j * c.colStride] += factor * row[j * b.colStride];
    }
}

/// OpenBLAS has one number of threads for all callers: the latest that any of
/// them asked for.
static void followThreadBudget() {
  static std::atomic<int64_t> known{0};
  int64_t threads = gradc::getThreadBudget();
  if (known.load(std::memory_order_relaxed) != threads &&
      known.exchange(threads) != threads)
    setBlasThreads(static_cast<int>(threads));
}

/// `matrix` in row-major form, in `storage` if it was in neither form.
/// `transpose` says that the result is the transpose.
template <typename T>
static Matrix<const T> normalize(Matrix<const T> matrix,
                                 std::vector<T> &storage, bool &transpose) {
  transpose = false;
  if (matrix.isRowMajor())
    return matrix;
  if (matrix.transposed().isRowMajor()) {
    transpose = true;
    return matrix.transposed();
  }
  storage.resize(matrix.rows * matrix.cols);
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.cols; ++j)
      storage[i * matrix.cols + j] =
          matrix.data[i * matrix.rowStride + j * matrix.colStride];
  return {storage.data(), matrix.rows, matrix.cols, matrix.cols, 1};
}

template <typename T>
static void clear(Matrix<T> c) {
  for (int64_t i = 0; i < c.rows; ++i) {
    if (c.colStride == 1)
      std::memset(c.data + i * c.rowStride, 0, c.cols * sizeof(T));
    else
      for (int64_t j = 0; j < c.cols; ++j)
        c.data[i * c.rowStride + j * c.colStride] = 0;
  }
}

/// y += A x for a column `x` and a column `y`.
template <typename T>
static void multiplyVector(Matrix<const T> a, Matrix<const T> x, Matrix<T> y,
                           std::vector<T> &storage) {
  bool transpose;
  Matrix<const T> matrix = normalize(a, storage, transpose);
  Blas<T>::gemv(RowMajor, transpose ? Trans : NoTrans,
                static_cast<int>(matrix.rows), static_cast<int>(matrix.cols),
                T(1), matrix.data, matrix.leadingDimension(), x.data,
                x.rows == 1 ? 1 : static_cast<int>(x.rowStride), T(1), y.data,
                y.rows == 1 ? 1 : static_cast<int>(y.rowStride));
}

template <typename T>
static void multiply(Matrix<const T> a, Matrix<const T> b, Matrix<T> c,
                     bool accumulate) {
  if (c.rows == 0 || c.cols == 0)
    return;
  bool small = c.rows * c.cols * a.cols <= kTiny;
  if (small || a.cols == 0 || !Blas<T>::gemm || !a.fitsInt() || !b.fitsInt() ||
      !c.fitsInt()) {
    if (!accumulate)
      clear(c);
    multiplyLoops(a, b, c);
    return;
  }
  followThreadBudget();

  // One matrix a thread for each operand: they only grow, so that the steady
  // state allocates nothing.
  static thread_local std::vector<T> storageA, storageB, storageC;
  if ((c.cols == 1 && (b.rows == 1 || b.rowStride > 0)) ||
      (c.rows == 1 && (a.cols == 1 || a.colStride > 0))) {
    // The vector kernels of OpenBLAS scale what is there, NaN included.
    if (!accumulate)
      clear(c);
    if (c.cols == 1)
      multiplyVector(a, b, c, storageA);
    else
      multiplyVector(b.transposed(), a.transposed(), c.transposed(), storageB);
    return;
  }

  if (!c.isRowMajor() && c.transposed().isRowMajor()) {
    multiply<T>(b.transposed(), a.transposed(), c.transposed(), accumulate);
    return;
  }
  Matrix<T> target = c;
  if (!c.isRowMajor()) {
    storageC.assign(c.rows * c.cols, T(0));
    target = {storageC.data(), c.rows, c.cols, c.cols, 1};
  }
  bool transposeA, transposeB;
  Matrix<const T> left = normalize(a, storageA, transposeA);
  Matrix<const T> right = normalize(b, storageB, transposeB);
  bool direct = target.data == c.data;
  Blas<T>::gemm(RowMajor, transposeA ? Trans : NoTrans,
                transposeB ? Trans : NoTrans, static_cast<int>(c.rows),
                static_cast<int>(c.cols), static_cast<int>(a.cols), T(1),
                left.data, left.leadingDimension(), right.data,
                right.leadingDimension(), T(direct && accumulate), target.data,
                target.leadingDimension());
  if (direct)
    return;
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.cols; ++j) {
      T &element = c.data[i * c.rowStride + j * c.colStride];
      T value = target.data[i * c.cols + j];
      element = accumulate ? element + value : value;
    }
}

void gradc_gemm_f32(const float *a, const float *b, float *c, int64_t m,
                    int64_t n, int64_t k, int64_t aRow, int64_t aCol,
                    int64_t bRow, int64_t bCol, int64_t cRow, int64_t cCol,
                    int64_t accumulate) {
  multiply<float>({a, m, k, aRow, aCol}, {b, k, n, bRow, bCol},
                  {c, m, n, cRow, cCol}, accumulate);
}

void gradc_gemm_f64(const double *a, const double *b, double *c, int64_t m,
                    int64_t n, int64_t k, int64_t aRow, int64_t aCol,
                    int64_t bRow, int64_t bCol, int64_t cRow, int64_t cCol,
                    int64_t accumulate) {
  multiply<double>({a, m, k, aRow, aCol}, {b, k, n, bRow, bCol},
                   {c, m, n, cRow, cCol}, accumulate);
}

std::string gradc::loadBlas(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return dlerror();
  auto *sgemm =
      reinterpret_cast<GemmFn<float>>(dlsym(library, "scipy_cblas_sgemm"));
  auto *dgemm =
      reinterpret_cast<GemmFn<double>>(dlsym(library, "scipy_cblas_dgemm"));
  auto *sgemv =
      reinterpret_cast<GemvFn<float>>(dlsym(library, "scipy_cblas_sgemv"));
  auto *dgemv =
      reinterpret_cast<GemvFn<double>>(dlsym(library, "scipy_cblas_dgemv"));
  auto *setThreads = reinterpret_cast<void (*)(int)>(
      dlsym(library, "scipy_openblas_set_num_threads"));
  if (!setThreads || !sgemm || !dgemm || !sgemv || !dgemv)
    return path + " is not the OpenBLAS of scipy-openblas32";
  setBlasThreads = setThreads;
  Blas<float>::gemv = sgemv;
  Blas<double>::gemv = dgemv;
  Blas<float>::gemm = sgemm;
  Blas<double>::gemm = dgemm;
  return "";
}
