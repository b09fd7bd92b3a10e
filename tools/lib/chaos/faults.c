// A library that, preloaded into a process, injects faults on request.
//
// Each fault is active while a file of its name is in the directory FAULT_DIRECTORY:
//
//   disk-full    writes that would extend a file fail with ENOSPC
//   disk-slow    flushes and writes at a position are delayed by the number of milliseconds in the file
//   clock        the wall clock is ahead by the number of seconds in the file, which may be negative
//
// As on a full disk, overwriting existing bytes succeeds: Postgres continues to write to the segments
// of its log that it has allocated.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name)) dlsym(RTLD_NEXT, #name)

// Returns the number in a file of the directory; 0 if there is no such file.
static long requested(const char *name) {
    const char *directory = getenv("FAULT_DIRECTORY");
    char path[512], text[32];
    if (!directory || snprintf(path, sizeof path, "%s/%s", directory, name) >= (int) sizeof path)
        return 0;
    int saved = errno;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    long value = 0;
    if (file >= 0) {
        ssize_t count = read(file, text, sizeof text - 1);
        text[count > 0 ? count : 0] = 0;
        value = strtol(text, NULL, 10);
        close(file);
    }
    errno = saved;
    return value;
}

static int is_file(int descriptor) {
    struct stat status;
    // A full disk does not affect standard output and error.
    return descriptor > 2 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

// Checks whether a write at an offset would extend a file on a full disk; -1 is the current offset.
static int is_full(int descriptor, off_t offset, size_t count) {
    struct stat status;
    if (!is_file(descriptor) || !requested("disk-full")) return 0;
    if (fstat(descriptor, &status) != 0) return 0;
    if (offset < 0) {
        offset = fcntl(descriptor, F_GETFL) & O_APPEND ? status.st_size
                                                        : lseek(descriptor, 0, SEEK_CUR);
    }
    return offset + (off_t) count > status.st_size;
}

static void be_slow(int descriptor) {
    long milliseconds = is_file(descriptor) ? requested("disk-slow") : 0;
    struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (milliseconds > 0 && nanosleep(&rest, &rest) != 0 && errno == EINTR) {}
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    REAL(write);
    if (is_full(descriptor, -1, count)) return errno = ENOSPC, -1;
    return real(descriptor, bytes, count);
}

#define DEFINE_PWRITE(name) \
    ssize_t name(int descriptor, const void *bytes, size_t count, off_t offset) { \
        REAL(name); \
        if (is_full(descriptor, offset, count)) return errno = ENOSPC, -1; \
        be_slow(descriptor); \
        return real(descriptor, bytes, count, offset); \
    }
DEFINE_PWRITE(pwrite)
DEFINE_PWRITE(pwrite64)

#define DEFINE_PWRITEV(name) \
    ssize_t name(int descriptor, const struct iovec *parts, int count, off_t offset) { \
        REAL(name); \
        size_t total = 0; \
        for (int index = 0; index < count; index++) total += parts[index].iov_len; \
        if (is_full(descriptor, offset, total)) return errno = ENOSPC, -1; \
        be_slow(descriptor); \
        return real(descriptor, parts, count, offset); \
    }
DEFINE_PWRITEV(pwritev)
DEFINE_PWRITEV(pwritev64)

#define DEFINE_POSIX_FALLOCATE(name) \
    int name(int descriptor, off_t offset, off_t count) { \
        REAL(name); \
        return is_full(descriptor, offset, count) ? ENOSPC : real(descriptor, offset, count); \
    }
DEFINE_POSIX_FALLOCATE(posix_fallocate)
DEFINE_POSIX_FALLOCATE(posix_fallocate64)

int fsync(int descriptor) {
    REAL(fsync);
    be_slow(descriptor);
    return real(descriptor);
}

int fdatasync(int descriptor) {
    REAL(fdatasync);
    be_slow(descriptor);
    return real(descriptor);
}

static long seconds_ahead(void) {
    static long seconds, read_at;
    REAL(clock_gettime);
    struct timespec now;
    real(CLOCK_MONOTONIC, &now);
    long milliseconds = now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (milliseconds - __atomic_load_n(&read_at, __ATOMIC_RELAXED) >= 10) {
        __atomic_store_n(&read_at, milliseconds, __ATOMIC_RELAXED);
        __atomic_store_n(&seconds, requested("clock"), __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&seconds, __ATOMIC_RELAXED);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    REAL(clock_gettime);
    int result = real(clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        time->tv_sec += seconds_ahead();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    REAL(gettimeofday);
    int result = real(time, zone);
    if (result == 0) time->tv_sec += seconds_ahead();
    return result;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}

// The kernel compares with the unmodified clock.
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
    REAL(sem_timedwait);
    struct timespec kernel = *until;
    kernel.tv_sec -= seconds_ahead();
    return real(semaphore, &kernel);
}
