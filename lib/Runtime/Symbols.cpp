//===- Symbols.cpp - What compiled code may call --------------------------===//

#include "Runtime/Support.h"
#include "Runtime/ThreadPool.h"

using namespace gradc;

const std::vector<RuntimeSymbol> &gradc::runtimeSymbols() {
  static const std::vector<RuntimeSymbol> symbols = {
      {"gradc_rt_fail", reinterpret_cast<void *>(gradc_rt_fail)},
      // The names that MLIR gives to allocation and deallocation.
      {"_mlir_memref_to_llvm_alloc", reinterpret_cast<void *>(gradc_rt_alloc)},
      {"_mlir_memref_to_llvm_free", reinterpret_cast<void *>(gradc_rt_free)},
      {"__truncsfbf2", reinterpret_cast<void *>(gradc_truncate_bf16)},
      {"gradc_parallel_for", reinterpret_cast<void *>(gradc_parallel_for)},
      {"gradc_gemm_f32", reinterpret_cast<void *>(gradc_gemm_f32)},
      {"gradc_gemm_f64", reinterpret_cast<void *>(gradc_gemm_f64)},
  };
  return symbols;
}
