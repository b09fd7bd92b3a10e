#pragma once
#include <oath.h>

/// Writes the six digits of a time step, and a NUL after them; another value than OATH_OK when the library fails.
static inline int coath_code(const char *secret, size_t count, uint64_t step, char code[7]) {
    return oath_hotp_generate(secret, count, step, 6, false, OATH_HOTP_DYNAMIC_TRUNCATION, code);
}
