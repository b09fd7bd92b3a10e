internal import COATH
internal import Cryptography

/// A secret from which an authenticator app and the server derive one-time passwords (TOTP, RFC 6238).
///
/// It is wiped from memory when the last copy of the value is released.
///
/// The codes are those that every app supports: HMAC-SHA-1, six digits, a new code every 30 seconds. Printing,
/// reflecting or interpolating a secret shows none of its bytes.
package struct TOTPSecret: Sendable, CustomStringConvertible, CustomReflectable {
    /// The number of bytes of a new secret, as many as RFC 4226 recommends.
    package static let byteCount = 20
    /// The numbers of bytes that a secret may have: at least 128 bits (RFC 4226, section 4).
    package static let byteCounts = 16...64
    /// The duration of a time step.
    package static let stepSeconds: Int64 = 30

    let bytes: WipedBytes

    /// Copies the bytes of a stored secret; nil when their number is outside ``byteCounts``.
    ///
    /// The caller's array is not wiped.
    package init?(bytes: [UInt8]) {
        guard Self.byteCounts.contains(bytes.count) else { return nil }
        self.init(unchecked: WipedBytes(bytes))
    }

    private init(unchecked bytes: WipedBytes) {
        precondition(Self.isLibraryReady, "liboath does not start")
        self.bytes = bytes
    }

    private static let isLibraryReady = oath_init() == OATH_OK.rawValue

    /// Makes a random secret.
    package static func generate() -> TOTPSecret {
        TOTPSecret(unchecked: WipedBytes.random(byteCount))
    }

    /// Returns a copy of the bytes, for storing them encrypted; the copy is not wiped.
    package func copiedBytes() -> [UInt8] {
        unsafe bytes.withBytes { unsafe [UInt8]($0) }
    }

    /// Returns the latest time step, from the previous to the next one, that has a code; nil for none.
    ///
    /// Clocks may differ by a step. A code is to be accepted once: the caller requires a later step than
    /// that of the last accepted code. The time that this takes does not depend on the code.
    ///
    /// - Parameters:
    ///   - code: the code.
    ///   - seconds: the time, in seconds since 1970.
    /// - Returns: the number of the step since 1970.
    package func step(of code: TOTPCode, at seconds: Int64) -> Int64? {
        guard seconds >= 0 else { return nil }
        let current = seconds / Self.stepSeconds
        var found: Int64?
        for step in max(0, current - 1)...(current + 1)
        where constantTimeEqual(digits(at: step), code.digits) {
            found = step
        }
        return found
    }

    /// Makes the code of a time.
    ///
    /// - Parameter seconds: The time, in seconds since 1970; not negative.
    /// - Returns: The digits that an authenticator app shows.
    package func code(at seconds: Int64) -> String {
        String(decoding: digits(at: seconds / Self.stepSeconds), as: UTF8.self)
    }

    /// Returns the six digits of a time step, in ASCII.
    private func digits(at step: Int64) -> [UInt8] {
        unsafe bytes.withBytes { secret in
            let secret = unsafe secret.assumingMemoryBound(to: CChar.self)
            let digits = unsafe [CChar](unsafeUninitializedCapacity: 7) { digits, count in
                let status = unsafe coath_code(
                    secret.baseAddress, secret.count, UInt64(step), digits.baseAddress)
                precondition(status == OATH_OK.rawValue, "liboath fails")
                count = TOTPCode.digitCount
            }
            return digits.map(UInt8.init(bitPattern:))
        }
    }

    /// The name of the type, without the secret.
    package var description: String {
        "TOTPSecret(redacted)"
    }

    /// A mirror without children, so that reflection shows no bytes.
    package var customMirror: Mirror {
        Mirror(self, children: [:])
    }
}
