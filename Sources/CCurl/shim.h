#pragma once
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075500
#error "libcurl 7.85 or newer is needed, for CURLOPT_PROTOCOLS_STR and curl_easy_header"
#endif

/// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift can't call; these fix the type
/// of what is handed over. An option that wants another type is refused.
static inline CURLcode ccurl_set_number(CURL *handle, CURLoption option, long value) {
    if (option >= CURLOPTTYPE_OBJECTPOINT) {
        return CURLE_BAD_FUNCTION_ARGUMENT;
    }
    return curl_easy_setopt(handle, option, value);
}

/// libcurl keeps a copy of the text.
static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *text) {
    if (option < CURLOPTTYPE_OBJECTPOINT || option >= CURLOPTTYPE_FUNCTIONPOINT) {
        return CURLE_BAD_FUNCTION_ARGUMENT;
    }
    return curl_easy_setopt(handle, option, text);
}

/// The address must outlive the transfer.
static inline CURLcode ccurl_set_address(CURL *handle, CURLU *address) {
    return curl_easy_setopt(handle, CURLOPT_CURLU, address);
}

/// The list must outlive the transfer.
static inline CURLcode ccurl_set_fields(CURL *handle, struct curl_slist *fields) {
    return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields);
}

/// Every header line goes to `on_line` and every piece of the body to `on_body`, each with `context`
/// as its last argument.
static inline CURLcode ccurl_set_receivers(
    CURL *handle, curl_write_callback on_line, curl_write_callback on_body, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_line);
    if (code == CURLE_OK) {
        code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    }
    if (code == CURLE_OK) {
        code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    }
    if (code == CURLE_OK) {
        code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    }
    return code;
}

/// The status of the newest answer; 0 before there is one.
static inline long ccurl_status(CURL *handle) {
    long status = 0;
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}
