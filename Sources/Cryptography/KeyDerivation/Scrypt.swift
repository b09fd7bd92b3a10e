internal import COpenSSL

/// scrypt, RFC 7914, for password hashes of other systems.
package enum Scrypt {
    /// The parameters of cost.
    package struct Parameters: Hashable, Sendable {
        /// The binary logarithm of N.
        package let logN: Int
        package let r: Int
        package let p: Int

        /// Names the parameters, which are not checked.
        package init(logN: Int, r: Int, p: Int) {
            self.logN = logN
            self.r = r
            self.p = p
        }

        /// The size of the table that is read and written, in bytes.
        package var tableBytes: Int { 128 * r << logN }
    }

    /// Derives bytes from a password; nil when there is no memory for it.
    package static func derive(
        _ password: WipedBytes, salt: [UInt8], parameters: Parameters, count: Int
    ) -> [UInt8]? {
        // Besides the table: a block for each lane, and two for work.
        let memory = parameters.tableBytes + 128 * parameters.r * (parameters.p + 2) + 1 << 10
        var isDone = false
        let derived = unsafe [UInt8](unsafeUninitializedCapacity: count) { output, filled in
            let status = unsafe password.withBytes { bytes in
                unsafe EVP_PBE_scrypt(
                    bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, salt,
                    salt.count, 1 << UInt64(parameters.logN), UInt64(parameters.r),
                    UInt64(parameters.p), UInt64(memory), output.baseAddress, count)
            }
            isDone = status == 1
            filled = isDone ? count : 0
        }
        return isDone ? derived : nil
    }
}
