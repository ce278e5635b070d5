//===- Support.cpp - Calls, memory and failed assertions ------------------===//

#include "Runtime/Support.h"

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

using namespace gradc;

namespace {
/// What belongs to one running call of one thread.
struct Invocation {
  jmp_buf failure;
  std::vector<void *> allocations;
  const char *message = nullptr;
  Invocation *outer = nullptr;
};
} // namespace

static thread_local Invocation *current = nullptr;

void gradc_rt_fail(const char *message) {
  current->message = message;
  longjmp(current->failure, 1);
}

/// Arenas are big and touched all over: from here on, huge pages pay.
static constexpr size_t kHugePage = size_t(2) << 20;

static void *allocate(size_t bytes) {
  size_t alignment = bytes >= 2 * kHugePage ? kHugePage : 64;
  size_t rounded =
      (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, rounded);
  if (memory && alignment == kHugePage)
    madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

void *gradc_rt_alloc(int64_t bytes) {
  void *memory = allocate(bytes);
  if (!memory)
    gradc_rt_fail("out of memory");
  current->allocations.push_back(memory);
  return memory;
}

void gradc_rt_free(void *memory) {
  // Most often it is the latest.
  std::vector<void *> &allocations = current->allocations;
  auto it = std::find(allocations.rbegin(), allocations.rend(), memory);
  std::swap(*it, allocations.back());
  allocations.pop_back();
  std::free(memory);
}

float gradc_truncate_bf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bits = value == value ? (bits + 0x7fff + ((bits >> 16) & 1)) >> 16 : 0x7fc0;
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

CompiledFunction::~CompiledFunction() {
  for (void *arena : freeArenas)
    std::free(arena);
}

void *CompiledFunction::acquireArena() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!freeArenas.empty()) {
      void *arena = freeArenas.back();
      freeArenas.pop_back();
      return arena;
    }
  }
  return allocate(arenaBytes);
}

void CompiledFunction::releaseArena(void *arena) {
  std::lock_guard<std::mutex> lock(mutex);
  freeArenas.push_back(arena);
}

/// The frame that a failed assertion jumps back to. It holds no object with a
/// destructor, and nothing it changes after `setjmp` is read afterwards.
static void runIn(Invocation &invocation, void (*function)(void *),
                  void *context) {
  if (!setjmp(invocation.failure))
    function(context);
}

const char *gradc::runGuarded(void (*function)(void *), void *context) {
  Invocation invocation;
  invocation.outer = current;
  current = &invocation;
  runIn(invocation, function, context);
  current = invocation.outer;
  for (void *memory : invocation.allocations)
    std::free(memory);
  return invocation.message;
}

bool CompiledFunction::call(const uintptr_t *pointers, std::string &error) {
  void *inPlace[64];
  std::vector<void *> onHeap;
  void **arguments = inPlace;
  if (numPointers + 1 > 64) {
    onHeap.resize(numPointers + 1);
    arguments = onHeap.data();
  }
  for (size_t i = 0; i < numPointers; ++i)
    arguments[i] = reinterpret_cast<void *>(pointers[i]);
  void *arena = arenaBytes ? acquireArena() : nullptr;
  if (arenaBytes && !arena) {
    error = "out of memory";
    return false;
  }
  arguments[numPointers] = arena;

  struct Call {
    Entry entry;
    void **arguments;
  } running{entry, arguments};
  const char *message = runGuarded(
      [](void *context) {
        auto *call = static_cast<Call *>(context);
        call->entry(call->arguments);
      },
      &running);
  if (arena)
    releaseArena(arena);
  if (message)
    error = message;
  return !message;
}
