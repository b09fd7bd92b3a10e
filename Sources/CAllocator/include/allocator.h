#pragma once

/// The options that jemalloc reads at startup, exported by the program linked with it.
extern const char *malloc_conf;
