# Finds MLIR and LLVM 22 and their Python package.
#
# By default they are the wheels beside the Python interpreter; any MLIR 22
# built with Python bindings will do when MLIR_DIR, LLVM_DIR and
# GRADC_MLIR_PYTHON (the folder of the `mlir` package) are given.

find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)

if(NOT GRADC_MLIR_PYTHON)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c "import mlir; print(list(mlir.__path__)[0])"
    OUTPUT_VARIABLE GRADC_MLIR_PYTHON OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE _status)
  if(NOT _status EQUAL 0)
    message(FATAL_ERROR "the Python package `mlir` (xtc-mlir-python-bindings 22.1.8) is not installed "
                        "for ${Python_EXECUTABLE}; set GRADC_MLIR_PYTHON, MLIR_DIR and LLVM_DIR to use another MLIR 22")
  endif()
endif()
set(MLIR_DIR ${GRADC_MLIR_PYTHON}/lib/cmake/mlir CACHE PATH "CMake package of MLIR 22")
set(LLVM_DIR ${GRADC_MLIR_PYTHON}/../llvm/lib/cmake/llvm CACHE PATH "CMake package of LLVM 22")

find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "gradc needs MLIR 22, found ${LLVM_VERSION}")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)
