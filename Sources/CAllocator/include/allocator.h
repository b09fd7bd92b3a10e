#pragma once

/// What jemalloc reads before it starts; the program that is linked with it exports it.
extern const char *malloc_conf;
