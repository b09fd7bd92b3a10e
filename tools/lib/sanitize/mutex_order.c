// Tells ThreadSanitizer what a contended Mutex of Swift's Synchronization module orders.
//
// Its fast path is compiled into the instrumented program. Its slow path, which waits on a futex, is in
// a library that is not instrumented, so ThreadSanitizer does not see that acquiring the lock there
// happens after its release, and reports false races. Preloaded, this replaces the slow path and adds
// the two annotations.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

static const char lock_name[] = "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF";
static const char unlock_name[] = "$s15Synchronization12_MutexHandleV11_unlockSlowyyF";

static void *original(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

SWIFT void lock_slow(uint32_t state, SELF)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void unlock_slow(SELF) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

SWIFT void lock_slow(uint32_t state, SELF) {
    static SWIFT void (*next)(uint32_t, SELF);
    if (!next) next = (SWIFT void (*)(uint32_t, SELF))original(lock_name);
    next(state, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock_slow(SELF) {
    static SWIFT void (*next)(SELF);
    if (!next) next = (SWIFT void (*)(SELF))original(unlock_name);
    if (__tsan_release) __tsan_release(self);
    next(self);
}
