#pragma once
#include <cjose/cjose.h>
#include <stdlib.h>

/// Header names that cjose declares as mutable globals, which Swift 6 can't read without a race.
static inline const char *ccjose_header_alg(void) { return "alg"; }
