import CCJose

/// Whether cjose, which the product only signs with, finds a token's signature good.
func cjoseVerifies(_ token: String, publicJWK: String) -> Bool {
    guard
        let key = unsafe cjose_jwk_import(publicJWK, publicJWK.utf8.count, nil)
    else {
        return false
    }
    defer { _ = unsafe cjose_jwk_release(key) }
    guard let jws = unsafe cjose_jws_import(token, token.utf8.count, nil) else {
        return false
    }
    defer { unsafe cjose_jws_release(jws) }
    return unsafe cjose_jws_verify(jws, key, nil)
}
