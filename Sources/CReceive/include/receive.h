#pragma once
#include <stdbool.h>
#include <sys/types.h>

/// A function that receives from a socket in place of `recv`.
typedef ssize_t (*creceive_reader)(void *context, int descriptor, void *buffer, size_t size, int flags);

/// Replaces `recv` by a reader for one descriptor until its release; false when the descriptor's number is
/// too high or its former reader was not released.
bool creceive_attach(int descriptor, creceive_reader reader, void *context);

/// Restores `recv` for a descriptor, which must still be open.
void creceive_release(int descriptor);
