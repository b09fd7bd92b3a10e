#pragma once
#include <stdbool.h>
#include <sys/types.h>

/// Receives from a socket like `recv`, in its place.
typedef ssize_t (*creceive_reader)(void *context, int descriptor, void *buffer, size_t size, int flags);

/// Has a reader take the place of `recv` for one descriptor, until it is released; false for one whose
/// number is too high.
bool creceive_attach(int descriptor, creceive_reader reader, void *context);

/// Gives `recv` back to a descriptor, which must not be closed before.
void creceive_release(int descriptor);
