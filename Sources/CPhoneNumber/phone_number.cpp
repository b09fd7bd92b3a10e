#include "phone_number.h"

#include <phonenumbers/phonenumberutil.h>

#include <new>
#include <string>

using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

namespace {

/// The library's name of no region: only the international form is then accepted.
const char no_region[] = "ZZ";

cphonenumber_outcome outcome(PhoneNumberUtil::ErrorType error) {
    switch (error) {
    case PhoneNumberUtil::NO_PARSING_ERROR: return cphonenumber_valid;
    case PhoneNumberUtil::INVALID_COUNTRY_CODE_ERROR: return cphonenumber_unknown_country_code;
    default: return cphonenumber_wrong_length;
    }
}

cphonenumber_outcome read(const char *digits, const char *region, cphonenumber_number *number) {
    const PhoneNumberUtil &library = *PhoneNumberUtil::GetInstance();
    if (region && library.GetCountryCodeForRegion(region) == 0) return cphonenumber_unknown_region;
    PhoneNumber parsed;
    const auto result = outcome(library.Parse(digits, region ? region : no_region, &parsed));
    if (result != cphonenumber_valid) return result;
    if (!library.IsValidNumber(parsed)) return cphonenumber_not_assigned;

    std::string text, found_region;
    library.Format(parsed, PhoneNumberUtil::E164, &text);
    library.GetRegionCodeForNumber(parsed, &found_region);
    // The library knows longer numbers, which E.164 has not.
    if (text.size() >= sizeof number->text || found_region.size() >= sizeof number->region) {
        return cphonenumber_wrong_length;
    }
    // Where prefixes are repeated, the library drops one at each reading.
    PhoneNumber again;
    std::string text_again;
    if (library.Parse(text, no_region, &again) == PhoneNumberUtil::NO_PARSING_ERROR) {
        library.Format(again, PhoneNumberUtil::E164, &text_again);
    }
    if (text_again != text) return cphonenumber_not_assigned;
    text.copy(number->text, text.size());
    number->text[text.size()] = 0;
    found_region.copy(number->region, found_region.size());
    number->region[found_region.size()] = 0;
    const auto type = library.GetNumberType(parsed);
    number->may_be_mobile
        = type == PhoneNumberUtil::MOBILE || type == PhoneNumberUtil::FIXED_LINE_OR_MOBILE;
    return cphonenumber_valid;
}

} // namespace

cphonenumber_outcome cphonenumber_read(
    const char *digits, const char *region, cphonenumber_number *number) noexcept {
    try {
        return read(digits, region, number);
    } catch (const std::bad_alloc &) {
        return cphonenumber_no_memory;
    } catch (...) {
        return cphonenumber_unreadable;
    }
}
