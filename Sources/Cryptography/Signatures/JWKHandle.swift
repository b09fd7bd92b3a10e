internal import CCJose
internal import COpenSSL

/// A private key in cjose, which generates, imports and exports it and signs with it.
// Protected by being immutable: `cjose_jws_sign` takes the key as const and does not retain it (the
// reference count is not atomic); OpenSSL's RSA and EC_KEY objects behind it guard their own caches
// with locks and may be used by any number of threads that don't modify them.
@safe final class JWKHandle: @unchecked Sendable {
    private let key: OpaquePointer

    /// Imports a JWK; nil when cjose or OpenSSL refuses it, for example for a point off the curve.
    init?(json: [UInt8]) {
        let imported = unsafe json.withUnsafeBytes { bytes in
            unsafe cjose_jwk_import(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, nil)
        }
        guard let imported = unsafe imported else {
            ERR_clear_error()
            return nil
        }
        unsafe key = imported
    }

    private init(made: OpaquePointer?) {
        guard let made = unsafe made else {
            preconditionFailure("cjose can't make a key")
        }
        unsafe key = made
    }

    deinit {
        unsafe cjose_jwk_release(key)
    }

    /// Makes a random private key on the curve P-256.
    static func generateP256() -> JWKHandle {
        unsafe JWKHandle(made: cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, nil))
    }

    /// Makes a random RSA private key with the exponent 65537.
    static func generateRSA(bits: Int) -> JWKHandle {
        let exponent: [UInt8] = [0x01, 0x00, 0x01]
        return unsafe exponent.withUnsafeBufferPointer { bytes in
            unsafe JWKHandle(
                made: cjose_jwk_create_RSA_random(bits, bytes.baseAddress, bytes.count, nil))
        }
    }

    /// Exports the key as a JWK, including its private members if it has any.
    func json() -> [UInt8] {
        guard let text = unsafe cjose_jwk_to_json(key, true, nil) else {
            preconditionFailure("cjose can't write a key")
        }
        var count = 0
        while unsafe text[count] != 0 {
            count += 1
        }
        let bytes = unsafe UnsafeRawBufferPointer(start: text, count: count)
        defer {
            unsafe OPENSSL_cleanse(text, bytes.count)
            unsafe cjose_get_dealloc()?(text)
        }
        return unsafe [UInt8](bytes)
    }

    /// Signs a payload with the given header, whose members keep their order.
    ///
    /// Nil when the header's algorithm does not fit the key or the key has no valid private part.
    /// The payload must not be empty.
    func sign(header: [(name: String, value: String)], payload: [UInt8]) -> String? {
        precondition(!payload.isEmpty, "a token has claims")
        let fields = unsafe cjose_header_new(nil)
        defer { unsafe cjose_header_release(fields) }
        for (name, value) in header {
            let isSet = unsafe cjose_header_set(fields, name, value, nil)
            precondition(isSet, "cjose refused a header member")
        }
        let signed = unsafe payload.withUnsafeBufferPointer { bytes in
            unsafe cjose_jws_sign(key, fields, bytes.baseAddress, bytes.count, nil)
        }
        guard let jws = unsafe signed else {
            ERR_clear_error()
            return nil
        }
        defer { unsafe cjose_jws_release(jws) }
        var text: UnsafePointer<CChar>?
        guard unsafe cjose_jws_export(jws, &text, nil), let text = unsafe text else {
            return nil
        }
        return unsafe String(cString: text)
    }
}
