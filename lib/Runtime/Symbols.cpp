//===- Symbols.cpp - What compiled code may call --------------------------===//

#include "Runtime/Support.h"

using namespace gradc;

const std::vector<RuntimeSymbol> &gradc::runtimeSymbols() {
  static const std::vector<RuntimeSymbol> symbols = {
      {"gradc_rt_fail", reinterpret_cast<void *>(gradc_rt_fail)},
      {"gradc_rt_alloc", reinterpret_cast<void *>(gradc_rt_alloc)},
      {"gradc_gemm_f32", reinterpret_cast<void *>(gradc_gemm_f32)},
      {"gradc_gemm_f64", reinterpret_cast<void *>(gradc_gemm_f64)},
  };
  return symbols;
}
