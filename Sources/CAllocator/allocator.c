#include "allocator.h"

// Four arenas: by default there are four a processor, and what a crowd has left in one of them is not
// reused by the others. Freed pages go back to the system after half a second instead of ten, so that
// what a crowd has left does not stay in memory beside what comes after it.
const char *malloc_conf = "narenas:4,dirty_decay_ms:500,muzzy_decay_ms:0";
