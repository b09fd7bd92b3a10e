#include "allocator.h"

// Four arenas: the default is four per processor, and memory freed in one arena after a peak of load is
// not reused by the others. Freed pages return to the system after half a second instead of ten, so that
// memory from a peak is not kept beside new allocations. Memory of 8 MiB and more is treated alike, or the pages
// of each password hash would be returned and mapped again.
const char *malloc_conf = "narenas:4,dirty_decay_ms:500,muzzy_decay_ms:0,oversize_threshold:0";
