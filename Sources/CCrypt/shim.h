#pragma once
#include <crypt.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/// The size of the output buffer; Swift can't import the structure that holds it.
static const size_t ccrypt_output_size = CRYPT_OUTPUT_SIZE;

/// Writes the hash of a password with a setting, both ending in NUL; an error number when libcrypt
/// refuses the setting or has no memory. The working memory is wiped.
static inline int ccrypt_hash(
    const char *password, const char *setting, char output[CRYPT_OUTPUT_SIZE]) {
    struct crypt_data *data = calloc(1, sizeof *data);
    if (!data) return ENOMEM;
    errno = 0;
    const char *hash = crypt_rn(password, setting, data, sizeof *data);
    const int error = hash ? 0 : errno ? errno : EINVAL;
    if (hash) memcpy(output, hash, strlen(hash) + 1);
    explicit_bzero(data, sizeof *data);
    free(data);
    return error;
}
