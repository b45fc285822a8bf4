// What ThreadSanitizer has to be told about Swift on Linux: where one thread waits for another inside libraries
// that are not instrumented. What they order would look like a race. script/tsan preloads these functions in place
// of the libraries': they do the same, and say so.

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// MARK: Mutex
//
// The atomic operations of an uncontended one are compiled into the caller, where they are seen. A contended one
// changes hands in the kernel.

// _MutexHandle._lockSlow(_: UInt32), _tryLockSlow() -> Bool, _unlockSlow() of Synchronization.
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Absent in programs that are not instrumented but run by those that are.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK_SLOW);
SWIFT bool try_lock_slow(SELF void *mutex) __asm__(TRY_LOCK_SLOW);
SWIFT void unlock_slow(SELF void *mutex) __asm__(UNLOCK_SLOW);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
    SWIFT void (*next)(uint32_t, SELF void *) = dlsym(RTLD_NEXT, LOCK_SLOW);
    next(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool try_lock_slow(SELF void *mutex) {
    SWIFT bool (*next)(SELF void *) = dlsym(RTLD_NEXT, TRY_LOCK_SLOW);
    bool is_locked = next(mutex);
    if (is_locked && __tsan_acquire) __tsan_acquire(mutex);
    return is_locked;
}

SWIFT void unlock_slow(SELF void *mutex) {
    SWIFT void (*next)(SELF void *) = dlsym(RTLD_NEXT, UNLOCK_SLOW);
    if (__tsan_release) __tsan_release(mutex);
    next(mutex);
}

// MARK: Continuations
//
// The runtime says that a resumption comes before the next step of the task, but only if the task has been
// suspended by then: one that is resumed first goes on at once, and nothing is said. So each task that awaits a
// continuation goes on through a function of ours.

#define ASYNC __attribute__((swiftasynccall))
#define CONTEXT __attribute__((swift_async_context))

typedef ASYNC void resume_function(CONTEXT void *context);

// The head of ContinuationAsyncContext, which is part of the ABI.
struct continuation {
    void *parent;
    resume_function *resume;
};

__attribute__((weak)) SWIFT void *swift_task_getCurrent(void);

// Where tasks go on that await a continuation now, by continuation.
struct awaited {
    struct continuation *continuation;
    resume_function *resume;
    struct awaited *next;
};

#define BUCKETS 4096
static struct bucket {
    // No mutex: ThreadSanitizer would see it, and in it an order of things that have none.
    atomic_flag is_locked;
    struct awaited *first;
} buckets[BUCKETS];

static struct bucket *lock_bucket(struct continuation *continuation) {
    struct bucket *bucket = &buckets[(uintptr_t)continuation / 16 % BUCKETS];
    while (atomic_flag_test_and_set_explicit(&bucket->is_locked, memory_order_acquire)) {}
    return bucket;
}

static void unlock(struct bucket *bucket) {
    atomic_flag_clear_explicit(&bucket->is_locked, memory_order_release);
}

static void remember(struct continuation *continuation) {
    struct awaited *awaited = malloc(sizeof *awaited);
    if (!awaited) abort();
    awaited->continuation = continuation;
    awaited->resume = continuation->resume;
    struct bucket *bucket = lock_bucket(continuation);
    awaited->next = bucket->first;
    bucket->first = awaited;
    unlock(bucket);
}

static resume_function *forget(struct continuation *continuation) {
    struct bucket *bucket = lock_bucket(continuation);
    struct awaited **place = &bucket->first;
    while (*place && (*place)->continuation != continuation) place = &(*place)->next;
    struct awaited *awaited = *place;
    if (!awaited) abort();
    *place = awaited->next;
    unlock(bucket);
    resume_function *resume = awaited->resume;
    free(awaited);
    return resume;
}

static ASYNC void resumed(CONTEXT void *context) {
    resume_function *resume = forget(context);
    // What the resumption has released.
    if (__tsan_acquire) __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return resume(context);
}

ASYNC void swift_continuation_await(struct continuation *continuation) {
    ASYNC void (*next)(struct continuation *) = dlsym(RTLD_NEXT, "swift_continuation_await");
    remember(continuation);
    continuation->resume = resumed;
    __attribute__((musttail)) return next(continuation);
}
