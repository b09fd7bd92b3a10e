internal import COpenSSL

/// Random bytes for keys, tokens and salts, from OpenSSL's seeded generator.
///
/// A failing generator ends the process, which can't continue without randomness.
package enum SecureRandom {
    /// Makes the given number of unpredictable bytes.
    package static func bytes(_ count: Int) -> [UInt8] {
        precondition(count >= 0 && count <= 1 << 20, "at most 1 MiB of random bytes at a time")
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            unsafe fill(UnsafeMutableRawBufferPointer(buffer))
            filled = count
        }
    }

    /// Creates an unpredictable 128-bit number.
    package static func uint128() -> UInt128 {
        var number = UInt128.zero
        unsafe withUnsafeMutableBytes(of: &number) { buffer in
            unsafe fill(buffer)
        }
        return number
    }

    /// Fills memory with unpredictable bytes.
    static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let start = buffer.baseAddress, buffer.count > 0 else {
            return
        }
        let status = unsafe RAND_bytes(
            start.assumingMemoryBound(to: UInt8.self), Int32(buffer.count))
        precondition(status == 1, "OpenSSL's random generator failed")
    }
}
