internal import CFIDO2

/// The one owner of an assertion of libfido2: it verifies its signature.
@safe struct FIDOAssertion: ~Copyable {
    private let handle: OpaquePointer

    private init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    /// Decodes the authenticator data of an assertion.
    ///
    /// - Parameters:
    ///   - data: the authenticator data, without a credential.
    ///   - relyingPartyID: the domain.
    ///   - clientDataHash: the SHA-256 of the client data.
    ///   - signature: the signature of both.
    /// - Returns: the assertion, not yet verified.
    /// - Throws: `malformedAuthenticatorData`, `invalidSignature` for an empty one, and `noMemory`.
    static func decoded(
        _ data: AuthenticatorData, for relyingPartyID: String, clientDataHash: [UInt8],
        signature: [UInt8]
    ) throws(PasskeyFault) -> FIDOAssertion {
        guard FIDOLibrary.isReady, let made = unsafe fido_assert_new() else { throw .noMemory }
        let owner = unsafe FIDOAssertion(owning: made)
        var mask: Int32 = 0
        // The library refuses answers to extensions that it does not expect.
        if data.extensions?["hmac-secret"] != nil { mask |= FIDO_EXT_HMAC_SECRET }
        if data.extensions?["credBlob"] != nil { mask |= FIDO_EXT_CRED_BLOB }
        guard
            FIDOLibrary.succeeded(unsafe fido_assert_set_count(made, 1)),
            FIDOLibrary.succeeded(unsafe fido_assert_set_extensions(made, mask)),
            FIDOLibrary.succeeded(unsafe fido_assert_set_rp(made, relyingPartyID)),
            FIDOLibrary.succeeded(
                unsafe fido_assert_set_clientdata_hash(
                    made, clientDataHash, clientDataHash.count))
        else { throw .noMemory }
        guard
            FIDOLibrary.succeeded(
                unsafe fido_assert_set_authdata_raw(made, 0, data.bytes, data.bytes.count))
        else { throw .malformedAuthenticatorData }
        guard
            FIDOLibrary.succeeded(
                unsafe fido_assert_set_sig(made, 0, signature, signature.count))
        else { throw .invalidSignature }
        return owner
    }

    deinit {
        var handle: OpaquePointer? = unsafe handle
        unsafe fido_assert_free(&handle)
    }

    /// Verifies the signature.
    ///
    /// The library hashes up to 1,024 bytes for Ed25519: longer authenticator data, which only answers to
    /// extensions could make, are refused.
    ///
    /// - Throws: `invalidSignature`, and the faults of a key that can't be imported.
    borrowing func verify(by key: PasskeyPublicKey) throws(PasskeyFault) {
        let imported = try FIDOPublicKey.imported(key)
        let status = unsafe imported.withKey { key in
            unsafe fido_assert_verify(handle, 0, Int32(imported.algorithm.rawValue), key)
        }
        guard FIDOLibrary.succeeded(status) else { throw .invalidSignature }
    }
}
