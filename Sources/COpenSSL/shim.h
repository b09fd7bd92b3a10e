#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

/// Makes a public key from a parameter list that points into the caller's memory; NULL when OpenSSL
/// refuses it.
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

/// Makes an RSA public key from big-endian numbers; NULL when OpenSSL refuses it.
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

/// Makes a public key on the curve P-256 from an encoded point (SEC 1, section 2.3.3); NULL when
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

/// Makes a key pair on the curve P-256 from an encoded point and its secret number, 32 big-endian
/// bytes; NULL when OpenSSL refuses them. The match of both is not checked.
static inline EVP_PKEY *copenssl_p256_key_pair(
    const unsigned char *point, size_t point_count, const unsigned char secret[32]) {
    // A parameter's number has the machine's byte order. OpenSSL's own builder would leave a copy of it
    // in freed memory.
    unsigned char number[32];
    const unsigned one = 1;
    const int is_little_endian = *(const unsigned char *) &one;
    for (int index = 0; index < 32; index++) {
        number[index] = secret[is_little_endian ? 31 - index : index];
    }
    OSSL_PARAM values[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *) "prime256v1", 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *) point, point_count),
        OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, number, sizeof number),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    EVP_PKEY *key = NULL;
    if (context && EVP_PKEY_fromdata_init(context) == 1) {
        if (EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, values) != 1) key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    OPENSSL_cleanse(number, sizeof number);
    return key;
}

/// Signs a digest with an initialized ECDSA context on P-256. Writes the two numbers of the signature in
/// the form of a JWS, 32 bytes each (RFC 7518, section 3.4); 0 when OpenSSL fails.
static inline int copenssl_p256_sign(
    EVP_PKEY_CTX *context, const unsigned char *digest, size_t digest_count,
    unsigned char signature[64]) {
    // Two integers of at most 33 bytes in DER.
    unsigned char encoded[80];
    size_t count = sizeof encoded;
    if (EVP_PKEY_sign(context, encoded, &count, digest, digest_count) != 1) return 0;
    const unsigned char *cursor = encoded;
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &cursor, (long) count);
    int is_written = pair && BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, 32) == 32
        && BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + 32, 32) == 32;
    ECDSA_SIG_free(pair);
    return is_written;
}

/// Makes SHA-256 the digest of an HMAC context; 0 when OpenSSL fails.
static inline int copenssl_use_sha256(EVP_MAC_CTX *context) {
    char name[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0), OSSL_PARAM_construct_end()
    };
    return EVP_MAC_CTX_set_params(context, parameters);
}
