#include "receive.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/socket.h>

/// The reader of each descriptor. The thread that serves a connection attaches, calls and releases its
/// reader; other threads only find that their descriptors have none.
struct entry {
    _Atomic(creceive_reader) reader;
    void *context;
};

/// Linux's default maximum of descriptors per process; a page of the table uses memory only once a
/// descriptor in it is used.
enum { entries_count = 1 << 20 };
static struct entry entries[entries_count];

bool creceive_attach(int descriptor, creceive_reader reader, void *context) {
    if (descriptor < 0 || descriptor >= entries_count) return false;
    struct entry *entry = &entries[descriptor];
    // Acquires the release by the thread that served the former connection of this number, which read
    // the context.
    if (atomic_load_explicit(&entry->reader, memory_order_acquire)) return false;
    entry->context = context;
    atomic_store_explicit(&entry->reader, reader, memory_order_release);
    return true;
}

void creceive_release(int descriptor) {
    if (descriptor < 0 || descriptor >= entries_count) return;
    atomic_store_explicit(&entries[descriptor].reader, NULL, memory_order_release);
}

/// Replaces the C library's function in the whole program, including libmicrohttpd: the linker exports it
/// because a library references it, and the program's own symbols have priority.
ssize_t recv(int descriptor, void *buffer, size_t size, int flags) {
    if (descriptor >= 0 && descriptor < entries_count) {
        struct entry *entry = &entries[descriptor];
        creceive_reader reader = atomic_load_explicit(&entry->reader, memory_order_acquire);
        if (reader) return reader(entry->context, descriptor, buffer, size, flags);
    }
    return recvfrom(descriptor, buffer, size, flags, NULL, NULL);
}
