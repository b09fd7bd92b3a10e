#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

/// Makes a public key of what the list holds, which points into the caller's memory; NULL when
/// OpenSSL refuses it.
static inline EVP_PKEY *copenssl_public_key(const char *type, OSSL_PARAM_BLD *list) {
    OSSL_PARAM *values = OSSL_PARAM_BLD_to_param(list);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;
    if (values && context && EVP_PKEY_fromdata_init(context) == 1) {
        if (EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, values) != 1) key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(values);
    return key;
}

/// Makes an RSA public key of big-endian numbers; NULL when OpenSSL refuses it.
static inline EVP_PKEY *copenssl_rsa_key(
    const unsigned char *modulus, size_t modulus_count, const unsigned char *exponent,
    size_t exponent_count) {
    OSSL_PARAM_BLD *list = OSSL_PARAM_BLD_new();
    BIGNUM *n = BN_bin2bn(modulus, (int) modulus_count, NULL);
    BIGNUM *e = BN_bin2bn(exponent, (int) exponent_count, NULL);
    EVP_PKEY *key = NULL;
    if (list && n && e && OSSL_PARAM_BLD_push_BN(list, OSSL_PKEY_PARAM_RSA_N, n)
        && OSSL_PARAM_BLD_push_BN(list, OSSL_PKEY_PARAM_RSA_E, e)) {
        key = copenssl_public_key("RSA", list);
    }
    OSSL_PARAM_BLD_free(list);
    BN_free(n);
    BN_free(e);
    return key;
}

/// Makes a public key on the curve P-256 of an encoded point (SEC 1, section 2.3.3); NULL when
/// OpenSSL refuses it.
static inline EVP_PKEY *copenssl_p256_key(const unsigned char *point, size_t point_count) {
    OSSL_PARAM_BLD *list = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (list
        && OSSL_PARAM_BLD_push_utf8_string(list, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0)
        && OSSL_PARAM_BLD_push_octet_string(list, OSSL_PKEY_PARAM_PUB_KEY, point, point_count)) {
        key = copenssl_public_key("EC", list);
    }
    OSSL_PARAM_BLD_free(list);
    return key;
}
