#pragma once
#include <archive.h>
#include <archive_entry.h>

/// The kind of a member that is a file; the library's own constant is a cast that Swift can't read.
static const unsigned carchive_regular_file = 0100000;
