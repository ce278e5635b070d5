//===- Support.h - What compiled code needs while it runs -------*- C++ -*-===//
//
// The runtime proper: calls into compiled code, its memory, failed
// assertions, and matrix products. It knows nothing of MLIR or LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RUNTIME_SUPPORT_H
#define GRADC_RUNTIME_SUPPORT_H

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace gradc {

/// A symbol that compiled code may refer to.
struct RuntimeSymbol {
  const char *name;
  void *address;
};

/// Every symbol that compiled code may refer to.
const std::vector<RuntimeSymbol> &runtimeSymbols();

/// Uses the OpenBLAS of the `scipy-openblas32` package at `path` for matrix
/// products. Returns an empty string or what went wrong; without a library,
/// products run on a plain loop nest.
std::string loadBlas(const std::string &path);

/// Calls `function`. Returns the message of the assertion that ended it, or
/// null; messages live as long as the code they are from. Memory from
/// `gradc_rt_alloc` is returned.
const char *runGuarded(void (*function)(void *), void *context);

/// A compiled function: its entry point and the scratch memory it wants.
/// Calls from several threads at once each get an arena of their own; arenas
/// are kept for the next call.
class CompiledFunction {
public:
  using Entry = void (*)(void **);

  CompiledFunction(Entry entry, size_t numPointers, size_t arenaBytes)
      : entry(entry), numPointers(numPointers), arenaBytes(arenaBytes) {}
  CompiledFunction(const CompiledFunction &) = delete;
  CompiledFunction &operator=(const CompiledFunction &) = delete;
  ~CompiledFunction();

  /// Runs the function on the data pointers of its inputs and outputs.
  /// Returns false, with the message of the assertion, when one fails; the
  /// outputs then hold unspecified values.
  bool call(const uintptr_t *pointers, std::string &error);

  size_t getNumPointers() const { return numPointers; }
  size_t getArenaBytes() const { return arenaBytes; }

private:
  void *acquireArena();
  void releaseArena(void *arena);

  Entry entry;
  size_t numPointers;
  size_t arenaBytes;
  std::mutex mutex;
  std::vector<void *> freeArenas;
};

} // namespace gradc

extern "C" {
/// Ends the running call with `message`, which is not copied; never returns.
[[noreturn]] void gradc_rt_fail(const char *message);

/// Memory whose size is known only while the code runs. It lives until it is
/// freed or the running call ends, in whichever way.
void *gradc_rt_alloc(int64_t bytes);
void gradc_rt_free(void *memory);

/// `value` rounded to bf16, for targets that have no instruction: the code
/// generator calls it by the name that compiler runtimes give it. A bf16 is
/// returned in the low half of the register of a float.
float gradc_truncate_bf16(float value);

/// C[m,n] = sum_k A[m,k] B[k,n], added to C when `accumulate` is not 0.
/// Strides count elements and may be anything, also zero.
void gradc_gemm_f32(const float *a, const float *b, float *c, int64_t m,
                    int64_t n, int64_t k, int64_t aRow, int64_t aCol,
                    int64_t bRow, int64_t bCol, int64_t cRow, int64_t cCol,
                    int64_t accumulate);
void gradc_gemm_f64(const double *a, const double *b, double *c, int64_t m,
                    int64_t n, int64_t k, int64_t aRow, int64_t aCol,
                    int64_t bRow, int64_t bCol, int64_t cRow, int64_t cCol,
                    int64_t accumulate);
}

#endif // GRADC_RUNTIME_SUPPORT_H
