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
#include <openssl/x509.h>
#include <string.h>

/// Makes a key from big-endian numbers, one after the other, and the point of a key on P-256, which
/// other keys do not have; NULL when OpenSSL refuses them. The match of both parts is not checked.
static inline EVP_PKEY *copenssl_key(
    const char *type, int selection, const unsigned char *point, size_t number_count,
    const char *const *names, const unsigned char *numbers, const size_t *counts) {
    OSSL_PARAM_BLD *list = OSSL_PARAM_BLD_new();
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    BIGNUM *held[8] = {NULL};
    int is_listed = list && context && number_count <= 8;
    if (is_listed && point) {
        is_listed
            = OSSL_PARAM_BLD_push_utf8_string(list, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0)
            && OSSL_PARAM_BLD_push_octet_string(list, OSSL_PKEY_PARAM_PUB_KEY, point, 65);
    }
    for (size_t index = 0; is_listed && index < number_count; index++) {
        // OpenSSL wipes its copies of a number that is marked as secure.
        held[index] = BN_secure_new();
        is_listed = held[index] && BN_bin2bn(numbers, (int) counts[index], held[index])
            && OSSL_PARAM_BLD_push_BN_pad(list, names[index], held[index], counts[index]);
        numbers += counts[index];
    }
    OSSL_PARAM *values = is_listed ? OSSL_PARAM_BLD_to_param(list) : NULL;
    EVP_PKEY *key = NULL;
    if (values && EVP_PKEY_fromdata_init(context) == 1) {
        if (EVP_PKEY_fromdata(context, &key, selection, values) != 1) key = NULL;
    }
    OSSL_PARAM_free(values);
    OSSL_PARAM_BLD_free(list);
    EVP_PKEY_CTX_free(context);
    for (size_t index = 0; index < 8; index++) BN_clear_free(held[index]);
    return key;
}

/// Makes an RSA key from n and e, from n, e and d, or from all numbers in the order of RFC 7518,
/// section 6.3: n, e, d, p, q, dp, dq, qi; NULL when OpenSSL refuses them.
static inline EVP_PKEY *copenssl_rsa_key(
    const unsigned char *numbers, const size_t *counts, size_t number_count) {
    static const char *const names[] = {
        OSSL_PKEY_PARAM_RSA_N,         OSSL_PKEY_PARAM_RSA_E,
        OSSL_PKEY_PARAM_RSA_D,         OSSL_PKEY_PARAM_RSA_FACTOR1,
        OSSL_PKEY_PARAM_RSA_FACTOR2,   OSSL_PKEY_PARAM_RSA_EXPONENT1,
        OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
    };
    const int selection = number_count > 2 ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY;
    return copenssl_key("RSA", selection, NULL, number_count, names, numbers, counts);
}

/// Makes a key on P-256 from an uncompressed point (SEC 1, section 2.3.3) and its secret number, NULL
/// for a public key; NULL when OpenSSL refuses them.
static inline EVP_PKEY *copenssl_p256_key(
    const unsigned char point[65], const unsigned char *secret) {
    const char *const name = OSSL_PKEY_PARAM_PRIV_KEY;
    const size_t count = 32;
    const int selection = secret ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY;
    return copenssl_key("EC", selection, point, secret ? 1 : 0, &name, secret, &count);
}

/// Reads a private key in PKCS #8 (RFC 5208) that takes all the bytes; NULL for anything else.
static inline EVP_PKEY *copenssl_pkcs8(const unsigned char *bytes, size_t count) {
    const unsigned char *end = bytes;
    PKCS8_PRIV_KEY_INFO *info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &end, (long) count);
    EVP_PKEY *key = info && end == bytes + count ? EVP_PKCS82PKEY(info) : NULL;
    PKCS8_PRIV_KEY_INFO_free(info);
    return key;
}

/// Makes a random key on P-256; NULL when OpenSSL fails.
static inline EVP_PKEY *copenssl_p256_generate(void) {
    return EVP_EC_gen("P-256");
}

/// Makes a random RSA key with the exponent 65537; NULL when OpenSSL fails.
static inline EVP_PKEY *copenssl_rsa_generate(size_t bits) {
    return EVP_RSA_gen(bits);
}

/// Writes a number of a key into so many bytes, big-endian, and returns their count, or for NULL the
/// least count; 0 when the key does not have the number or it is longer.
static inline size_t copenssl_number(
    const EVP_PKEY *key, const char *name, unsigned char *bytes, size_t count) {
    // In the machine's byte order.
    OSSL_PARAM wanted[] = {OSSL_PARAM_construct_BN(name, bytes, count), OSSL_PARAM_construct_end()};
    if (EVP_PKEY_get_params(key, wanted) != 1 || !OSSL_PARAM_modified(wanted)) return 0;
    const unsigned one = 1;
    if (bytes && *(const unsigned char *) &one) {
        for (size_t low = 0, high = count; low + 1 < high; low++) {
            const unsigned char byte = bytes[low];
            bytes[low] = bytes[--high];
            bytes[high] = byte;
        }
    }
    return wanted[0].return_size;
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
