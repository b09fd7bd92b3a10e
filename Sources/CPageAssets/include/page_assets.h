#pragma once
#include <stddef.h>

/// A file of the pages.
struct page_asset {
    /// The path below the folder of the files.
    const char *path;
    /// The value of Content-Type.
    const char *media_type;
    const unsigned char *bytes;
    size_t count;
};

/// Returns a file by its number; NULL after the last one.
const struct page_asset *page_asset(size_t number);
