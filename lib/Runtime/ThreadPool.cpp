//===- ThreadPool.cpp - Loops on all cores --------------------------------===//
//
// The iterations of a loop are cut into chunks, a few for each thread. Every
// thread begins with a stretch of chunks of its own, the same one in each loop
// of a size, so that it finds in its cache what it wrote there; then it takes
// what others have left. What a chunk computes does not depend on who runs it.
//
//===----------------------------------------------------------------------===//

#include "Runtime/ThreadPool.h"

#include "Runtime/Support.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <vector>

using namespace gradc;

/// How long a thread looks for work before it sleeps: waking it takes about as
/// long, and the next loop of a program often follows at once.
static constexpr std::chrono::microseconds kSpin{50};

/// How many chunks a thread gets, so that a late one leaves some to others.
static constexpr int64_t kChunksPerThread = 4;

static thread_local int64_t budget = 0;
static thread_local bool insideLoop = false;

static int64_t getNumCPUs() {
  static const int64_t count =
      std::max<int64_t>(1, std::thread::hardware_concurrency());
  return count;
}

void gradc::setThreadBudget(int64_t threads) { budget = threads; }

int64_t gradc::getThreadBudget() { return budget > 0 ? budget : getNumCPUs(); }

/// Waits until `condition` holds, for about `kSpin`. Whoever else wants the CPU
/// gets it: the threads of OpenBLAS, for one.
template <typename Condition>
static bool spinUntil(Condition condition) {
  auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (condition())
        return true;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
    sched_yield();
  } while (std::chrono::steady_clock::now() < end);
  return condition();
}

namespace {
using Body = void (*)(int64_t, int64_t, void *);

/// One chunk, as a call of `runGuarded`.
struct Chunk {
  Body body;
  int64_t begin, end;
  void *context;

  static void run(void *chunk) {
    auto *self = static_cast<Chunk *>(chunk);
    self->body(self->begin, self->end, self->context);
  }
};

/// The loop that is running. It stays in the pool, where a thread that comes
/// late may look at it.
struct Loop {
  Body body;
  void *context;
  int64_t size, chunkSize;
  unsigned numThreads;
  /// Rounding mode and treatment of subnormal numbers, as the caller set them.
  fenv_t environment;
  std::mutex failureMutex;
  int64_t failedChunk;
  const char *failure;

  void runChunk(int64_t index);
};

/// The chunks that one thread begins with.
struct alignas(64) Stretch {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};

struct alignas(64) Worker {
  unsigned index;
  class ThreadPool *pool;
  /// Counts the loops that it was asked to help with.
  std::atomic<uint64_t> asked{0};
  std::atomic<bool> sleeping{false};
  std::mutex mutex;
  std::condition_variable wake;

  void ask();
  void waitForWork(uint64_t seen);
};

class ThreadPool {
public:
  /// Returns false if the loop has to run on the calling thread.
  bool run(int64_t size, int64_t grain, Body body, void *context,
           const char *&failure);
  void help(unsigned index);

private:
  unsigned startWorkers(unsigned wanted);
  void takeChunks(unsigned first);
  void waitForHelpers();

  /// Set while helpers may join; below it, the number of those at work.
  static constexpr uint32_t kOpen = uint32_t(1) << 31;

  std::mutex busy;
  std::vector<Worker *> workers;
  Loop loop;
  std::vector<std::unique_ptr<Stretch>> stretches;
  std::atomic<uint32_t> gate{0};
  std::mutex doneMutex;
  std::condition_variable done;
};
} // namespace

void Loop::runChunk(int64_t index) {
  int64_t begin = index * chunkSize;
  Chunk chunk{body, begin, std::min(size, begin + chunkSize), context};
  const char *message = runGuarded(Chunk::run, &chunk);
  if (!message)
    return;
  std::lock_guard<std::mutex> lock(failureMutex);
  if (!failure || index < failedChunk) {
    failure = message;
    failedChunk = index;
  }
}

void Worker::ask() {
  asked.fetch_add(1);
  if (!sleeping.load())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  wake.notify_one();
}

void Worker::waitForWork(uint64_t seen) {
  auto isAsked = [&] { return asked.load() != seen; };
  if (spinUntil(isAsked))
    return;
  std::unique_lock<std::mutex> lock(mutex);
  sleeping.store(true);
  wake.wait(lock, isAsked);
  sleeping.store(false);
}

static void *runWorker(void *argument) {
  auto *worker = static_cast<Worker *>(argument);
  insideLoop = true;
  uint64_t seen = 0;
  for (;;) {
    worker->waitForWork(seen);
    seen = worker->asked.load();
    worker->pool->help(worker->index);
  }
  return nullptr;
}

/// Returns how many workers there are, at most `wanted`.
unsigned ThreadPool::startWorkers(unsigned wanted) {
  if (workers.size() >= wanted)
    return wanted;
  // Signals are for threads that know what to do with them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (workers.size() < wanted) {
    auto *worker = new Worker;
    worker->index = workers.size();
    worker->pool = this;
    pthread_t thread;
    if (pthread_create(&thread, nullptr, runWorker, worker)) {
      delete worker;
      break;
    }
    pthread_setname_np(thread, "gradc");
    pthread_detach(thread);
    workers.push_back(worker);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return workers.size();
}

void ThreadPool::takeChunks(unsigned first) {
  for (unsigned i = 0; i < loop.numThreads; ++i) {
    Stretch &stretch = *stretches[(first + i) % loop.numThreads];
    for (;;) {
      int64_t chunk = stretch.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= stretch.end)
        break;
      loop.runChunk(chunk);
    }
  }
}

/// What a worker does when it is asked. It may find that the work is done, or
/// that another loop runs by now, in which it takes part just as well.
void ThreadPool::help(unsigned index) {
  uint32_t before = gate.load();
  do {
    if (!(before & kOpen))
      return;
  } while (!gate.compare_exchange_weak(before, before + 1));
  if (index + 1 < loop.numThreads) {
    fesetenv(&loop.environment);
    takeChunks(index + 1);
  }
  if (gate.fetch_sub(1) != 1)
    return;
  std::lock_guard<std::mutex> lock(doneMutex);
  done.notify_one();
}

/// Nobody joins any more, and who has joined is at its last chunk.
void ThreadPool::waitForHelpers() {
  gate.fetch_and(~kOpen);
  auto isDone = [&] { return gate.load() == 0; };
  if (spinUntil(isDone))
    return;
  std::unique_lock<std::mutex> lock(doneMutex);
  done.wait(lock, isDone);
}

bool ThreadPool::run(int64_t size, int64_t grain, Body body, void *context,
                     const char *&failure) {
  std::unique_lock<std::mutex> lock(busy, std::try_to_lock);
  if (!lock)
    return false;
  int64_t units = (size + grain - 1) / grain;
  unsigned numThreads =
      1 + startWorkers(std::min(getThreadBudget(), units) - 1);
  if (numThreads == 1)
    return false;

  loop.body = body;
  loop.context = context;
  loop.size = size;
  loop.chunkSize =
      grain * std::max<int64_t>(1, units / (numThreads * kChunksPerThread));
  loop.numThreads = numThreads;
  loop.failure = nullptr;
  fegetenv(&loop.environment);
  int64_t numChunks = (size + loop.chunkSize - 1) / loop.chunkSize;
  while (stretches.size() < numThreads)
    stretches.push_back(std::make_unique<Stretch>());
  for (unsigned i = 0; i < numThreads; ++i) {
    stretches[i]->next.store(numChunks * i / numThreads);
    stretches[i]->end = numChunks * (i + 1) / numThreads;
  }

  gate.store(kOpen);
  for (unsigned i = 0; i + 1 < numThreads; ++i)
    workers[i]->ask();
  insideLoop = true;
  takeChunks(0);
  insideLoop = false;
  waitForHelpers();
  failure = loop.failure;
  return true;
}

/// Made when it is first used, again in a forked process, which has none of
/// the threads and must not wait for locks that they held. Never destroyed:
/// its threads sleep in it until the process ends.
static std::atomic<ThreadPool *> pool{nullptr};

static ThreadPool &getPool() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] { pool.store(nullptr); });
  });
  ThreadPool *known = pool.load();
  if (known)
    return *known;
  auto *made = new ThreadPool;
  if (pool.compare_exchange_strong(known, made))
    return *made;
  delete made;
  return *known;
}

void gradc_parallel_for(int64_t size, int64_t grain, Body body, void *context) {
  const char *failure = nullptr;
  if (insideLoop || size <= grain || getThreadBudget() == 1 ||
      !getPool().run(size, grain, body, context, failure)) {
    body(0, size, context);
    return;
  }
  if (failure)
    gradc_rt_fail(failure);
}
