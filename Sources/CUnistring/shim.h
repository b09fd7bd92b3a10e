#pragma once
#include <stdbool.h>
#include <unictype.h>
#include <uninorm.h>

/// Normalizes UTF-8 to NFC; Swift can't import the constant of the form. Returns the buffer where the result
/// fits into `*result_count` bytes and otherwise memory that the caller frees, and stores the result's length;
/// NULL when memory is exhausted or the text is not UTF-8.
static inline uint8_t *cunistring_nfc(
    const uint8_t *text, size_t count, uint8_t *buffer, size_t *result_count) {
    return u8_normalize(UNINORM_NFC, text, count, buffer, result_count);
}

/// Tells whether a code point is a letter, a mark or a decimal digit that is not by default ignorable.
static inline bool cunistring_is_word_character(ucs4_t character) {
    return uc_is_general_category_withtable(
               character, UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_M | UC_CATEGORY_MASK_Nd)
        && !uc_is_property_default_ignorable_code_point(character);
}

/// Tells whether a code point is a mark, which is shown with the character before it.
static inline bool cunistring_is_mark(ucs4_t character) {
    return uc_is_general_category_withtable(character, UC_CATEGORY_MASK_M);
}

/// Tells whether a code point is a letter, mark, number, punctuation, symbol or space that is not by default
/// ignorable.
static inline bool cunistring_is_visible(ucs4_t character) {
    return uc_is_general_category_withtable(
               character,
               UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_M | UC_CATEGORY_MASK_N | UC_CATEGORY_MASK_P
                   | UC_CATEGORY_MASK_S | UC_CATEGORY_MASK_Zs)
        && !uc_is_property_default_ignorable_code_point(character);
}
