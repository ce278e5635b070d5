# Compile settings and the one function that declares a C++ library of gradc.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# pip builds in a new folder each time, where an object that used a precompiled
# header is never found again: there ccache would only cost the hashing.
find_program(GRADC_CCACHE ccache)
if(GRADC_CCACHE AND NOT SKBUILD AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header changes its time stamp, not its contents, between
  # builds; without these settings ccache never finds an object again.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${GRADC_CCACHE})
endif()

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR}/dialects/Grad ${PROJECT_BINARY_DIR}/dialects/Grad
                    ${PROJECT_SOURCE_DIR}/lib ${PROJECT_BINARY_DIR}/lib)
# torch-mlir brings another LLVM into the process: nothing of ours may be
# merged with it through unique symbols.
add_compile_options(-fno-gnu-unique)

# One precompiled header serves every library: the headers of MLIR cost more
# than our own code.
add_library(gradc_pch OBJECT ${PROJECT_SOURCE_DIR}/tools/cmake/pch.cpp)
target_compile_options(gradc_pch PRIVATE -fno-rtti -fpch-preprocess)
target_precompile_headers(gradc_pch PRIVATE ${PROJECT_SOURCE_DIR}/tools/cmake/pch.h)

# gradc_add_library(NAME sources... [DEPENDS targets...] [LINK libraries...])
# A static library against the headers of MLIR; MLIR itself is linked by what
# is built from it (libMLIR.so for tools, libMLIRPythonCAPI.so for Python).
function(gradc_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -fno-rtti -fpch-preprocess -Wall -Wno-comment)
  target_precompile_headers(${name} REUSE_FROM gradc_pch)
  add_dependencies(${name} GradDialectIncGen ${ARG_DEPENDS})
  if(ARG_LINK)
    target_link_libraries(${name} PUBLIC ${ARG_LINK})
  endif()
endfunction()

# gradc_add_passes(TARGET FOLDER-PREFIX): generates Passes.h.inc from the
# folder's Passes.td.
function(gradc_add_passes target)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${target})
  add_public_tablegen_target(${target}PassesIncGen)
endfunction()

# gradc_set_rpath(TARGET): finds MLIR beside the package when installed (two
# folders deep, in gradc/_lib or gradc/_bin), where it was built against when
# not.
function(gradc_set_rpath target)
  set_target_properties(${target} PROPERTIES
    BUILD_RPATH "${GRADC_MLIR_PYTHON}/_mlir_libs;${GRADC_MLIR_PYTHON}/lib;${GRADC_MLIR_PYTHON}/../llvm/lib"
    INSTALL_RPATH "$ORIGIN/../_lib;$ORIGIN/../../mlir/_mlir_libs;$ORIGIN/../../mlir/lib;$ORIGIN/../../llvm/lib")
endfunction()
