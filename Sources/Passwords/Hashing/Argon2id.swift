internal import CArgon2
internal import Cryptography

/// Argon2id version 1.3, RFC 9106.
enum Argon2id {
    /// The length of the salts and digests of new hashes, in bytes.
    static let saltCount = 16
    static let digestCount = 32

    /// Derives bytes from a password, with an optional secret key; blocks for as long as the cost says.
    ///
    /// - Parameters:
    ///   - password: the bytes that are hashed.
    ///   - salt: 8 bytes or more.
    ///   - secret: RFC 9106's K, a key that is kept apart from the hashes.
    ///   - parameters: the cost.
    ///   - count: the number of bytes, at least 4.
    /// - Returns: the bytes.
    /// - Throws: `noMemory`, or `refusedSetting` for a salt that is too short.
    static func derive(
        _ password: WipedBytes, salt: [UInt8], secret: SymmetricKey?, parameters: Argon2Parameters,
        count: Int
    ) throws(HashingFault) -> [UInt8] {
        let derived =
            if let secret {
                unsafe secret.withBytes { bytes in
                    unsafe derive(
                        password, salt: salt, secret: bytes, associated: [],
                        parameters: parameters, count: count)
                }
            } else {
                unsafe derive(
                    password, salt: salt, secret: UnsafeRawBufferPointer(start: nil, count: 0),
                    associated: [], parameters: parameters, count: count)
            }
        return try derived.get()
    }

    /// Derives with a secret of any length, and RFC 9106's X.
    static func derive(
        _ password: WipedBytes, salt: [UInt8], secret: UnsafeRawBufferPointer,
        associated: [UInt8], parameters: Argon2Parameters, count: Int
    ) -> Result<[UInt8], HashingFault> {
        var digest = [UInt8](repeating: 0, count: count)
        let status = unsafe digest.withUnsafeMutableBufferPointer { output in
            unsafe password.withBytes { password in
                unsafe salt.withUnsafeBytes { salt in
                    unsafe associated.withUnsafeBytes { associated in
                        // The library reads all inputs and, without flags, changes none.
                        var context = unsafe argon2_context(
                            out: output.baseAddress, outlen: UInt32(count),
                            pwd: changeable(password), pwdlen: UInt32(password.count),
                            salt: changeable(salt), saltlen: UInt32(salt.count),
                            secret: changeable(secret), secretlen: UInt32(secret.count),
                            ad: changeable(associated), adlen: UInt32(associated.count),
                            t_cost: UInt32(parameters.iterations),
                            m_cost: UInt32(parameters.memoryKiB), lanes: UInt32(parameters.lanes),
                            threads: 1, version: UInt32(ARGON2_VERSION_13.rawValue),
                            allocate_cbk: nil, free_cbk: nil, flags: 0)
                        return unsafe argon2id_ctx(&context)
                    }
                }
            }
        }
        switch status {
        case ARGON2_OK.rawValue: return .success(digest)
        case ARGON2_MEMORY_ALLOCATION_ERROR.rawValue: return .failure(.noMemory)
        default: return .failure(.refusedSetting)
        }
    }

    private static func changeable(
        _ bytes: UnsafeRawBufferPointer
    ) -> UnsafeMutablePointer<UInt8>? {
        unsafe UnsafeMutablePointer(
            mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }
}
