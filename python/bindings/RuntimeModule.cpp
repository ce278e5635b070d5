//===- RuntimeModule.cpp - Compiled modules for Python --------------------===//

#include "CAPI/Runtime.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include "nanobind/nanobind.h"
#include "nanobind/ndarray.h"
#include "nanobind/stl/shared_ptr.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include <map>
#include <memory>

namespace nb = nanobind;

/// Takes over a message of the C API.
static std::string takeString(char *text) {
  std::string result = text ? text : "unknown error";
  free(text);
  return result;
}

/// Asked for the number of threads before each call; never released, like
/// every module of a Python process.
static PyObject *threadBudget = nullptr;

static void readThreadBudget() {
  if (!threadBudget)
    return;
  nb::object threads = nb::steal(PyObject_CallNoArgs(threadBudget));
  int64_t count = threads.is_valid() ? PyLong_AsLongLong(threads.ptr()) : -1;
  if (PyErr_Occurred())
    nb::raise_python_error();
  gradcSetThreadBudget(count);
}

namespace {

class Function;

/// Owns the machine code. Functions share it, so that none outlives it.
class Executable {
public:
  Executable(MlirModule module, int optLevel) {
    char *error = nullptr;
    handle.reset(gradcExecutableCreate(module, optLevel, &error),
                 gradcExecutableDestroy);
    if (!handle)
      throw std::runtime_error(takeString(error));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (intptr_t i = 0; i < gradcExecutableGetNumFunctions(handle.get()); ++i)
      result.push_back(
          gradcFunctionGetName(gradcExecutableGetFunction(handle.get(), i)));
    return result;
  }

  Function function(const std::string &name) const;

private:
  std::shared_ptr<GradcExecutable> handle;
};

/// One entry point, resolved: what the steady state calls.
class Function {
public:
  Function(std::shared_ptr<GradcExecutable> executable, GradcFunction *handle)
      : executable(std::move(executable)), handle(handle),
        numInputs(gradcFunctionGetNumInputs(handle)),
        numOutputs(gradcFunctionGetNumOutputs(handle)) {}

  const char *name() const { return gradcFunctionGetName(handle); }
  intptr_t arenaBytes() const { return gradcFunctionGetArenaBytes(handle); }
  nb::tuple signature() const;
  void call(nb::handle inputs, nb::handle outputs) const;
  void callDlpack(nb::sequence inputs, nb::sequence outputs) const;

private:
  void addAddresses(nb::handle values, intptr_t expected, const char *what,
                    uintptr_t *pointers) const;
  void run(const uintptr_t *pointers) const;

  std::shared_ptr<GradcExecutable> executable;
  GradcFunction *handle;
  intptr_t numInputs, numOutputs;
};

} // namespace

Function Executable::function(const std::string &name) const {
  std::string known;
  for (intptr_t i = 0; i < gradcExecutableGetNumFunctions(handle.get()); ++i) {
    GradcFunction *function = gradcExecutableGetFunction(handle.get(), i);
    if (name == gradcFunctionGetName(function))
      return Function(handle, function);
    known +=
        std::string(known.empty() ? "" : ", ") + gradcFunctionGetName(function);
  }
  throw nb::key_error(
      ("no function '" + name + "' (there are: " + known + ")").c_str());
}

static nb::list getTypes(GradcFunction *function, intptr_t count,
                         GradcTensorType (*get)(GradcFunction *, intptr_t)) {
  nb::list result;
  for (intptr_t i = 0; i < count; ++i) {
    GradcTensorType type = get(function, i);
    nb::list shape;
    for (intptr_t dim = 0; dim < type.rank; ++dim)
      shape.append(type.shape[dim]);
    result.append(nb::make_tuple(type.dtype, nb::tuple(shape)));
  }
  return result;
}

nb::tuple Function::signature() const {
  return nb::make_tuple(getTypes(handle, numInputs, gradcFunctionGetInput),
                        getTypes(handle, numOutputs, gradcFunctionGetOutput));
}

void Function::run(const uintptr_t *pointers) const {
  char *error = nullptr;
  bool succeeded;
  readThreadBudget();
  {
    nb::gil_scoped_release release;
    succeeded = gradcFunctionCall(handle, pointers, &error);
  }
  if (!succeeded)
    throw std::runtime_error(takeString(error));
}

void Function::addAddresses(nb::handle values, intptr_t expected,
                            const char *what, uintptr_t *pointers) const {
  nb::object sequence = nb::steal(
      PySequence_Fast(values.ptr(), "expected a sequence of addresses"));
  if (!sequence.is_valid())
    nb::raise_python_error();
  Py_ssize_t size = PySequence_Fast_GET_SIZE(sequence.ptr());
  if (size != expected)
    throw nb::value_error((std::string(name()) + " takes " +
                           std::to_string(expected) + " " + what + ", got " +
                           std::to_string(size))
                              .c_str());
  PyObject **items = PySequence_Fast_ITEMS(sequence.ptr());
  for (Py_ssize_t i = 0; i < size; ++i) {
    pointers[i] = PyLong_AsSize_t(items[i]);
    if (pointers[i] == static_cast<uintptr_t>(-1) && PyErr_Occurred())
      nb::raise_python_error();
  }
}

void Function::call(nb::handle inputs, nb::handle outputs) const {
  uintptr_t inPlace[64];
  std::vector<uintptr_t> onHeap;
  uintptr_t *pointers = inPlace;
  if (numInputs + numOutputs > 64) {
    onHeap.resize(numInputs + numOutputs);
    pointers = onHeap.data();
  }
  addAddresses(inputs, numInputs, "inputs", pointers);
  addAddresses(outputs, numOutputs, "outputs", pointers + numInputs);
  run(pointers);
}

/// The name of a DLPack element type as MLIR writes it.
static std::string getDtype(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  std::string bits = std::to_string(type.bits);
  switch (static_cast<Code>(type.code)) {
  case Code::Float:
    return "f" + bits;
  case Code::Bfloat:
    return "bf" + bits;
  case Code::Bool:
    return "i1";
  case Code::Int:
    return "i" + bits;
  case Code::UInt:
    return "ui" + bits;
  case Code::Complex:
    return "complex<f" + std::to_string(type.bits / 2) + ">";
  default:
    return "an element type that gradc does not know";
  }
}

/// Signed, unsigned and signless integers of one width are one thing here.
static bool isSameDtype(std::string a, std::string b) {
  for (std::string *dtype : {&a, &b})
    if (dtype->size() > 2 && ((*dtype)[0] == 'u' || (*dtype)[0] == 's'))
      dtype->erase(0, 1);
  return a == b;
}

static std::string describe(const std::string &dtype, const int64_t *shape,
                            size_t rank) {
  std::string text = "(";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return dtype + text + ")";
}

template <typename Array>
static uintptr_t checkArray(const Array &array, const GradcTensorType &type,
                            const std::string &where) {
  if (array.device_type() != nb::device::cpu::value)
    throw nb::value_error((where + " is not in the memory of the CPU").c_str());
  std::string dtype = getDtype(array.dtype());
  bool matches = isSameDtype(dtype, type.dtype) &&
                 array.ndim() == static_cast<size_t>(type.rank);
  for (intptr_t i = 0; matches && i < type.rank; ++i)
    matches = static_cast<int64_t>(array.shape(i)) == type.shape[i];
  if (!matches)
    throw nb::type_error(
        (where + " is " + describe(dtype, array.shape_ptr(), array.ndim()) +
         ", expected " + describe(type.dtype, type.shape, type.rank))
            .c_str());
  int64_t stride = 1;
  for (size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) > 1 && array.stride(i) != stride && array.size() > 0)
      throw nb::value_error(
          (where + " is not contiguous; copy it first").c_str());
    stride *= array.shape(i);
  }
  return reinterpret_cast<uintptr_t>(array.data());
}

void Function::callDlpack(nb::sequence inputs, nb::sequence outputs) const {
  std::vector<uintptr_t> pointers;
  std::vector<nb::ndarray<nb::ro>> inputArrays;
  std::vector<nb::ndarray<>> outputArrays;
  auto checkCount = [&](nb::sequence values, intptr_t expected,
                        const char *what) {
    if (static_cast<intptr_t>(nb::len(values)) != expected)
      throw nb::value_error((std::string(name()) + " takes " +
                             std::to_string(expected) + " " + what + ", got " +
                             std::to_string(nb::len(values)))
                                .c_str());
  };
  checkCount(inputs, numInputs, "inputs");
  checkCount(outputs, numOutputs, "outputs");
  for (intptr_t i = 0; i < numInputs; ++i) {
    inputArrays.push_back(nb::cast<nb::ndarray<nb::ro>>(inputs[i], false));
    pointers.push_back(checkArray(inputArrays.back(),
                                  gradcFunctionGetInput(handle, i),
                                  "input " + std::to_string(i)));
  }
  for (intptr_t i = 0; i < numOutputs; ++i) {
    outputArrays.push_back(nb::cast<nb::ndarray<>>(outputs[i], false));
    pointers.push_back(checkArray(outputArrays.back(),
                                  gradcFunctionGetOutput(handle, i),
                                  "output " + std::to_string(i)));
  }
  run(pointers.data());
}

void bindRuntime(nb::module_ &module) {
  nb::class_<Function>(module, "Function",
                       "A compiled function on addresses of dense data.")
      .def_prop_ro("name", &Function::name)
      .def_prop_ro("arena_bytes", &Function::arenaBytes,
                   "Bytes of scratch memory that a call needs.")
      .def_prop_ro("signature", &Function::signature,
                   "Inputs and outputs, each a list of (dtype, shape).")
      .def("__call__", &Function::call, nb::arg("inputs"), nb::arg("outputs"),
           "Runs the function on addresses. Raises RuntimeError when an "
           "assertion of the program fails.")
      .def("call_dlpack", &Function::callDlpack, nb::arg("inputs"),
           nb::arg("outputs"),
           "Runs the function on objects with __dlpack__, without copying.");

  nb::class_<Executable>(module, "Executable",
                         "Machine code of a module that grad-to-llvm-cpu "
                         "lowered.")
      .def(nb::init<MlirModule, int>(), nb::arg("module"),
           nb::arg("opt_level") = 3)
      .def_prop_ro("functions", &Executable::names)
      .def("function", &Executable::function, nb::arg("name"),
           "The function called `name`, to be kept and called many times.")
      .def(
          "signature",
          [](const Executable &self, const std::string &name) {
            return self.function(name).signature();
          },
          nb::arg("name"))
      .def(
          "arena_bytes",
          [](const Executable &self, const std::string &name) {
            return self.function(name).arenaBytes();
          },
          nb::arg("name"))
      .def(
          "call",
          [](const Executable &self, const std::string &name, nb::handle inputs,
             nb::handle outputs) { self.function(name).call(inputs, outputs); },
          nb::arg("name"), nb::arg("inputs"), nb::arg("outputs"))
      .def(
          "call_dlpack",
          [](const Executable &self, const std::string &name,
             nb::sequence inputs, nb::sequence outputs) {
            self.function(name).callDlpack(inputs, outputs);
          },
          nb::arg("name"), nb::arg("inputs"), nb::arg("outputs"));

  module.def(
      "load_blas",
      [](const std::string &path) {
        if (char *error = gradcLoadBlas(path.c_str()))
          throw std::runtime_error(takeString(error));
      },
      nb::arg("path"),
      "Uses the OpenBLAS of scipy-openblas32 at `path` for matrix products.");
  module.def(
      "set_thread_budget",
      [](nb::callable budget) { threadBudget = budget.release().ptr(); },
      nb::arg("budget"),
      "Calls `budget` before each call of a function: it says how many threads "
      "the call may use. Without one, a call may use every CPU.");
}
