#pragma once
#include <stdbool.h>

#ifdef __cplusplus
#define CPHONENUMBER_NOEXCEPT noexcept
extern "C" {
#else
#define CPHONENUMBER_NOEXCEPT
#endif

/// The outcomes of reading a phone number.
enum cphonenumber_outcome {
    cphonenumber_valid,
    /// The region has no country code.
    cphonenumber_unknown_region,
    /// No country has the number's code.
    cphonenumber_unknown_country_code,
    /// Too few or too many digits for any number.
    cphonenumber_wrong_length,
    /// The digits are those of no number of its country.
    cphonenumber_not_assigned,
    /// The library throws an exception for the number.
    cphonenumber_unreadable,
    /// There is no memory.
    cphonenumber_no_memory,
};

/// A valid number; its texts end with a NUL.
struct cphonenumber_number {
    /// E.164: a plus sign and at most 15 digits.
    char text[17];
    /// Two letters of ISO 3166, or "001" for numbers of no country.
    char region[4];
    /// Whether it is the number of a mobile phone, or its country does not distinguish these.
    bool may_be_mobile;
};

/// Reads digits, after a plus sign in the international form; other numbers are those of the region.
///
/// The texts end with a NUL, and the region is NULL where only the international form is accepted. Any thread may
/// call it. The number is written only when it is valid.
enum cphonenumber_outcome cphonenumber_read(
    const char *digits, const char *region, struct cphonenumber_number *number) CPHONENUMBER_NOEXCEPT;

#ifdef __cplusplus
}
#endif
