internal import CFIDO2

/// The one owner of a public key of libfido2.
@safe struct FIDOPublicKey: ~Copyable {
    let algorithm: PasskeyAlgorithm
    private let handle: OpaquePointer

    private init(owning handle: OpaquePointer, _ algorithm: PasskeyAlgorithm) {
        self.algorithm = algorithm
        unsafe self.handle = handle
    }

    /// Imports a stored key.
    ///
    /// - Throws: `invalidPublicKey`, or `noMemory`.
    static func imported(_ key: PasskeyPublicKey) throws(PasskeyFault) -> FIDOPublicKey {
        guard key.bytes.count == key.algorithm.publicKeyByteCount else { throw .invalidPublicKey }
        let made: OpaquePointer? =
            switch key.algorithm {
            case .es256: unsafe es256_pk_new()
            case .edDSA: unsafe eddsa_pk_new()
            case .rs256: unsafe rs256_pk_new()
            }
        guard FIDOLibrary.isReady, let made = unsafe made else { throw .noMemory }
        let owner = unsafe FIDOPublicKey(owning: made, key.algorithm)
        let status =
            switch key.algorithm {
            case .es256: unsafe es256_pk_from_ptr(made, key.bytes, key.bytes.count)
            case .edDSA: unsafe eddsa_pk_from_ptr(made, key.bytes, key.bytes.count)
            case .rs256: unsafe rs256_pk_from_ptr(made, key.bytes, key.bytes.count)
            }
        guard FIDOLibrary.succeeded(status) else { throw .invalidPublicKey }
        return owner
    }

    deinit {
        var handle: OpaquePointer? = unsafe handle
        switch algorithm {
        case .es256: unsafe es256_pk_free(&handle)
        case .edDSA: unsafe eddsa_pk_free(&handle)
        case .rs256: unsafe rs256_pk_free(&handle)
        }
    }

    /// Lends the key to the body.
    borrowing func withKey(_ body: (UnsafeRawPointer) -> Int32) -> Int32 {
        unsafe body(UnsafeRawPointer(handle))
    }
}
