internal import COpenSSL

/// An AES-256-GCM computation; owns its OpenSSL context.
@safe struct CipherContext: ~Copyable {
    enum Direction: Int32 {
        case decrypt = 0
        case encrypt = 1
    }

    private let context: OpaquePointer

    /// Starts with a 12-byte nonce, which is OpenSSL's default length for this mode.
    init(_ direction: Direction, key: SymmetricKey, nonce: ArraySlice<UInt8>, additional: [UInt8]) {
        guard let made = unsafe EVP_CIPHER_CTX_new() else {
            preconditionFailure("OpenSSL can't make a cipher context")
        }
        unsafe context = made
        unsafe Self.start(
            made, FetchedAlgorithms.aes256GCM, direction, key, nonce: nonce, additional)
    }

    /// Allocates the memory of encryptions, each of which begins with ``encrypt(with:nonce:additional:)``.
    init() {
        guard let made = unsafe EVP_CIPHER_CTX_new() else {
            preconditionFailure("OpenSSL can't make a cipher context")
        }
        unsafe context = made
        let chosen = unsafe EVP_CipherInit_ex2(
            made, FetchedAlgorithms.aes256GCM, nil, nil, Direction.encrypt.rawValue, nil)
        precondition(chosen == 1, "OpenSSL can't choose AES-256-GCM")
    }

    /// Starts another encryption: with a key, or with nil by the key of the one before.
    func encrypt(with key: SymmetricKey?, nonce: [UInt8], additional: [UInt8]) {
        unsafe Self.start(context, nil, .encrypt, key, nonce: nonce[...], additional)
    }

    private static func start(
        _ context: OpaquePointer, _ cipher: OpaquePointer?, _ direction: Direction,
        _ key: SymmetricKey?, nonce: ArraySlice<UInt8>, _ additional: [UInt8]
    ) {
        let started = unsafe nonce.withUnsafeBufferPointer { nonceBytes -> Int32 in
            guard let key else {
                return unsafe EVP_CipherInit_ex2(
                    context, cipher, nil, nonceBytes.baseAddress, direction.rawValue, nil)
            }
            return unsafe key.withBytes { keyBytes in
                unsafe EVP_CipherInit_ex2(
                    context, cipher, keyBytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    nonceBytes.baseAddress, direction.rawValue, nil)
            }
        }
        precondition(started == 1, "OpenSSL can't start AES-256-GCM")
        var written: Int32 = 0
        let fed = unsafe additional.withUnsafeBufferPointer { bytes in
            unsafe EVP_CipherUpdate(context, nil, &written, bytes.baseAddress, Int32(bytes.count))
        }
        precondition(fed == 1 || additional.isEmpty, "OpenSSL can't authenticate bytes")
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(context)
    }

    /// Encrypts or decrypts the whole input in one step into memory of the same length.
    func crypt(_ input: ArraySlice<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>) {
        precondition(output.count == input.count, "AES-GCM keeps the length")
        guard !input.isEmpty else {
            return
        }
        var written: Int32 = 0
        let status = unsafe input.withUnsafeBufferPointer { bytes in
            unsafe EVP_CipherUpdate(
                context, output.baseAddress, &written, bytes.baseAddress, Int32(bytes.count))
        }
        precondition(status == 1 && Int(written) == input.count, "AES-256-GCM wrote too few bytes")
    }

    /// Ends an encryption and writes its tag.
    func finish(writingTag tag: UnsafeMutableBufferPointer<UInt8>) {
        precondition(tag.count == AESGCM.tagByteCount, "an AES-GCM tag has 16 bytes")
        precondition(ends(), "OpenSSL can't end AES-256-GCM")
        let status = unsafe EVP_CIPHER_CTX_ctrl(
            context, EVP_CTRL_AEAD_GET_TAG, Int32(AESGCM.tagByteCount), tag.baseAddress)
        precondition(status == 1, "OpenSSL has no tag")
    }

    /// Ends a decryption; false means that the output must be discarded.
    func finishes(withTag tag: ArraySlice<UInt8>) -> Bool {
        precondition(tag.count == AESGCM.tagByteCount, "an AES-GCM tag has 16 bytes")
        var tag = Array(tag)
        let status = unsafe tag.withUnsafeMutableBytes { bytes in
            unsafe EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_SET_TAG, Int32(bytes.count), bytes.baseAddress)
        }
        return status == 1 && ends()
    }

    private func ends() -> Bool {
        // GCM writes nothing at the end, but OpenSSL requires a buffer.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: AESGCM.tagByteCount) {
            var written: Int32 = 0
            return unsafe EVP_CipherFinal_ex(context, $0.baseAddress, &written) == 1
        }
    }
}
