internal import CFIDO2

/// The one owner of a credential of libfido2: it decodes public keys and verifies attestations.
@safe struct FIDOCredential: ~Copyable {
    private let handle: OpaquePointer

    private init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    /// Decodes the authenticator data of a registration.
    ///
    /// - Parameters:
    ///   - data: the authenticator data, with a credential.
    ///   - algorithm: the algorithm of the credential's key.
    ///   - relyingPartyID: the domain.
    ///   - clientDataHash: the SHA-256 of the client data.
    /// - Returns: the credential, whose attestation is not yet verified.
    /// - Throws: `invalidPublicKey` when the key is not one of its algorithm, and `noMemory`.
    static func decoded(
        _ data: AuthenticatorData, of algorithm: PasskeyAlgorithm, for relyingPartyID: String,
        clientDataHash: [UInt8]
    ) throws(PasskeyFault) -> FIDOCredential {
        guard FIDOLibrary.isReady, let made = unsafe fido_cred_new() else { throw .noMemory }
        let owner = unsafe FIDOCredential(owning: made)
        guard
            FIDOLibrary.succeeded(
                unsafe fido_cred_set_type(made, Int32(algorithm.rawValue))),
            FIDOLibrary.succeeded(unsafe fido_cred_set_rp(made, relyingPartyID, nil)),
            FIDOLibrary.succeeded(
                unsafe fido_cred_set_clientdata_hash(
                    made, clientDataHash, clientDataHash.count))
        else { throw .noMemory }
        guard
            FIDOLibrary.succeeded(
                unsafe fido_cred_set_authdata_raw(made, data.bytes, data.bytes.count))
        else { throw .invalidPublicKey }
        try owner.expect(data.extensions)
        return owner
    }

    deinit {
        var handle: OpaquePointer? = unsafe handle
        unsafe fido_cred_free(&handle)
    }

    /// Copies the public key, in the form of ``PasskeyPublicKey``.
    borrowing func publicKey() -> [UInt8] {
        guard let start = unsafe fido_cred_pubkey_ptr(handle) else { return [] }
        return unsafe [UInt8](
            UnsafeBufferPointer(start: start, count: fido_cred_pubkey_len(handle)))
    }

    /// Verifies the signature of a statement.
    ///
    /// The library hashes up to 1,024 bytes for Ed25519: a self-signed credential with that algorithm and
    /// an id of more than about 850 bytes is refused.
    ///
    /// - Throws: `invalidAttestation`.
    borrowing func verify(
        _ object: AttestationObject, _ attestation: PasskeyAttestation
    ) throws(PasskeyFault) {
        let statement = object.statementBytes
        guard
            FIDOLibrary.succeeded(unsafe fido_cred_set_fmt(handle, object.format)),
            FIDOLibrary.succeeded(
                unsafe fido_cred_set_attstmt(handle, statement, statement.count)),
            FIDOLibrary.succeeded(
                attestation == .selfSigned
                    ? unsafe fido_cred_verify_self(handle) : unsafe fido_cred_verify(handle))
        else { throw .invalidAttestation }
    }

    /// Expects the answers to extensions that were not asked for, such as the protection of the credential.
    ///
    /// The library refuses attestations whose answers are not those that it expects.
    private borrowing func expect(_ answers: CBORValue?) throws(PasskeyFault) {
        guard let answers else { return }
        var mask: Int32 = 0
        if case .bool(true)? = answers["hmac-secret"] { mask |= FIDO_EXT_HMAC_SECRET }
        if case .bool(true)? = answers["credBlob"] { mask |= FIDO_EXT_CRED_BLOB }
        var isSet = FIDOLibrary.succeeded(unsafe fido_cred_set_extensions(handle, mask))
        if let level = answers["credProtect"]?.integer.flatMap(Int32.init(exactly:)) {
            isSet = isSet && FIDOLibrary.succeeded(unsafe fido_cred_set_prot(handle, level))
        }
        if let count = answers["minPinLength"]?.integer, count >= 0 {
            isSet = isSet && FIDOLibrary.succeeded(unsafe fido_cred_set_pin_minlen(handle, count))
        }
        guard isSet else { throw .malformedAuthenticatorData }
    }
}
