//===- ThreadPool.h - Loops on all cores ------------------------*- C++ -*-===//
//
// One pool for the process. A call takes as many threads as its budget says,
// one loop at a time: a loop that finds the pool busy, or that runs inside
// another, runs on the thread it was called on.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RUNTIME_THREADPOOL_H
#define GRADC_RUNTIME_THREADPOOL_H

#include <cstdint>

namespace gradc {

/// How many threads the calls of this thread may use from now on, itself
/// included. Until it is set, or with 0, as many as there are CPUs.
void setThreadBudget(int64_t threads);
int64_t getThreadBudget();

} // namespace gradc

extern "C" {
/// Runs `body` on [0, size), cut at multiples of `grain`. Iterations are
/// independent of each other. A failed assertion in any of them ends the call,
/// with the message of the first that fails in the order of the loop.
void gradc_parallel_for(int64_t size, int64_t grain,
                        void (*body)(int64_t begin, int64_t end, void *context),
                        void *context);
}

#endif // GRADC_RUNTIME_THREADPOOL_H
