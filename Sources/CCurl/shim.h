#pragma once
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or newer is needed, for CURLOPT_PROTOCOLS_STR and CURLOPT_QUICK_EXIT"
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

/// What to send with POST; libcurl keeps a copy.
static inline CURLcode ccurl_set_body(CURL *handle, const char *bytes, long count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POST, 1L);
    if (code == CURLE_OK) {
        code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, count);
    }
    if (code == CURLE_OK) {
        code = curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
    }
    return code;
}

/// How many seconds the answer's Retry-After names, as a number or as a date; 0 when it has none.
static inline long long ccurl_retry_after(CURL *handle) {
    curl_off_t seconds = 0;
    return curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK ? seconds : 0;
}

/// Takes the next transfer that has ended, with what it ended in; null when there is none.
static inline CURL *ccurl_take_ended(CURLM *transfers, CURLcode *code) {
    int left = 0;
    CURLMsg *message = curl_multi_info_read(transfers, &left);
    if (message == NULL || message->msg != CURLMSG_DONE) {
        return NULL;
    }
    *code = message->data.result;
    return message->easy_handle;
}
