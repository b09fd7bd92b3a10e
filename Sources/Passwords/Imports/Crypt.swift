internal import CCrypt
internal import Cryptography

/// crypt(3) of libxcrypt.
enum Crypt {
    /// The longest password that the library hashes, in bytes.
    static let passwordBytesMax = Int(CRYPT_MAX_PASSPHRASE_SIZE) - 1

    /// Hashes a password and returns the text behind the setting, which is the digest.
    ///
    /// - Parameters:
    ///   - password: the bytes, of which those before the first NUL are hashed.
    ///   - setting: the text in front of the digest.
    ///   - bytesMax: the number of bytes that are hashed at most.
    ///   - ignoresRest: whether the scheme ignores bytes after these.
    /// - Returns: nil, after the same work, when the password is longer and no byte may be ignored.
    /// - Throws: `noMemory`, or `refusedSetting`.
    static func digest(
        of password: WipedBytes, setting: String, bytesMax: Int = passwordBytesMax,
        ignoresRest: Bool = false
    ) throws(HashingFault) -> [UInt8]? {
        let used = min(password.count, bytesMax)
        let terminated = unsafe password.withBytes { bytes in
            unsafe WipedBytes(addingNULTo: bytes.prefix(used))
        }
        var output = [CChar](repeating: 0, count: ccrypt_output_size)
        let error = unsafe terminated.withBytes { bytes in
            unsafe ccrypt_hash(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), setting, &output)
        }
        guard error == 0 else { throw error == ENOMEM ? .noMemory : .refusedSetting }
        let hash = output.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        guard hash.count > setting.utf8.count else { throw .refusedSetting }
        guard used == password.count || ignoresRest else { return nil }
        return Array(hash[setting.utf8.count...])
    }
}
