internal import Cryptography

/// A password as a client sent it, wiped from memory when the last copy of the value is released.
///
/// Printing, reflecting or interpolating one shows none of it.
package struct Password: Sendable, CustomStringConvertible, CustomReflectable {
    /// The maximum length in bytes of UTF-8, checked before any other work.
    package static let bytesMax = 1024

    /// The bytes as they came, which other systems have hashed.
    let sent: WipedBytes
    /// Whether one of them is NUL, where the strings of C end, and which HMAC adds to short keys: a password
    /// with one would match the hash of another password.
    let hasNUL: Bool
    /// The form that new hashes are made from; nil when a character is not allowed.
    package let prepared: PreparedPassword?

    /// Reads a password of up to 1,024 bytes.
    package init(_ text: String) throws(PasswordRefusal) {
        guard text.utf8.count <= Self.bytesMax else { throw .tooManyBytes }
        guard !text.isEmpty else { throw .empty }
        sent = WipedBytes(text.utf8)
        hasNUL = text.utf8.contains(0)
        prepared = OpaqueString.prepare(text).map { PreparedPassword($0) }
    }

    /// The name of the type, without the password.
    package var description: String { "Password(redacted)" }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A password in the form that is hashed: the same bytes for all canonically equivalent texts.
package struct PreparedPassword: Sendable, CustomStringConvertible, CustomReflectable {
    let bytes: WipedBytes
    /// The number of code points.
    package let length: Int

    init(_ text: String) {
        bytes = WipedBytes(text.utf8)
        length = text.unicodeScalars.count
    }

    /// The name of the type, without the password.
    package var description: String { "PreparedPassword(redacted)" }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
