#pragma once
#include <archive.h>
#include <archive_entry.h>

/// The type of a regular file; Swift can't import the library's own constant, which contains a cast.
static const unsigned carchive_regular_file = 0100000;
