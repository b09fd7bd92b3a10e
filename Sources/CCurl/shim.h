#pragma once
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or newer is needed, for CURLOPT_PROTOCOLS_STR and CURLOPT_QUICK_EXIT"
#endif

/// Wrappers with fixed argument types for curl_easy_setopt and curl_easy_getinfo, which are variadic and
/// can't be called from Swift. An option of another type is refused.
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

/// Passes every header line, or line of a mail server's answers, to `on_line`, with `context` as its last argument.
static inline CURLcode ccurl_set_listener(CURL *handle, curl_write_callback on_line, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_line);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_HEADERDATA, context) : code;
}

/// Passes every header line to `on_line` and every chunk of the body to `on_body`, with `context` as the
/// last argument.
static inline CURLcode ccurl_set_receivers(
    CURL *handle, curl_write_callback on_line, curl_write_callback on_body, void *context) {
    CURLcode code = ccurl_set_listener(handle, on_line, context);
    if (code == CURLE_OK) {
        code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    }
    if (code == CURLE_OK) {
        code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    }
    return code;
}

/// Returns the status of the latest response; 0 before the first.
static inline long ccurl_status(CURL *handle) {
    long status = 0;
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

/// Sets the body for POST; libcurl keeps a copy.
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

/// Returns the seconds of the response's Retry-After, a number or a date; 0 when it is absent.
static inline long long ccurl_retry_after(CURL *handle) {
    curl_off_t seconds = 0;
    return curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK ? seconds : 0;
}

/// Returns the next ended transfer with its result, or null.
static inline CURL *ccurl_take_ended(CURLM *transfers, CURLcode *code) {
    int left = 0;
    CURLMsg *message = curl_multi_info_read(transfers, &left);
    if (message == NULL || message->msg != CURLMSG_DONE) {
        return NULL;
    }
    *code = message->data.result;
    return message->easy_handle;
}

/// The list must outlive the transfer.
static inline CURLcode ccurl_set_recipients(CURL *handle, struct curl_slist *recipients) {
    return curl_easy_setopt(handle, CURLOPT_MAIL_RCPT, recipients);
}

/// Uploads what the callback reads, with `context` as its last argument.
static inline CURLcode ccurl_set_upload(CURL *handle, curl_read_callback on_read, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
    if (code == CURLE_OK) {
        code = curl_easy_setopt(handle, CURLOPT_READFUNCTION, on_read);
    }
    if (code == CURLE_OK) {
        code = curl_easy_setopt(handle, CURLOPT_READDATA, context);
    }
    return code;
}
