/// A stored hash of a password: one made here, one of another system, or one of another system wrapped.
///
/// The forms are described in docs/password-hashes.md. Reading one costs nothing and allocates no more than
/// its text; the costs that it names are within limits.
package struct PasswordHash: Sendable, Hashable {
    /// The maximum length of a text, in bytes.
    package static let bytesMax = 1024
    /// Separates a wrapping hash from the wrapped setting.
    static let wrapSeparator: Character = "|"

    enum Form {
        /// Argon2id over the prepared password.
        case own(Argon2idSetting, digest: [UInt8])
        /// Over the bytes of the password as they came.
        case imported(any HashSetting, digest: [UInt8])
        /// Argon2id over the digest of another hash, which has so many bytes and is not stored.
        case wrapped(Argon2idSetting, digest: [UInt8], inner: any HashSetting, count: Int)
    }

    /// The text that is stored.
    package let text: String
    let form: Form

    /// Reads a stored text.
    package init(_ text: String) throws(PasswordHashFault) {
        guard text.utf8.count <= Self.bytesMax else { throw .tooLong }
        guard text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { throw .malformed }
        self.text = text
        if let separator = text.firstIndex(of: Self.wrapSeparator) {
            let (setting, digest) = try Self.read(text[..<separator])
            guard let outer = setting as? Argon2idSetting else { throw .malformed }
            let (inner, last) = try HashSettings.read(text[text.index(after: separator)...])
            let count = try HashFields.number(last)
            guard inner.digestCounts.contains(count) else { throw .malformed }
            try Self.checkUnkeyed(inner)
            form = .wrapped(outer, digest: digest, inner: inner, count: count)
        } else {
            let (setting, digest) = try Self.read(text[...])
            if let setting = setting as? Argon2idSetting {
                form = .own(setting, digest: digest)
            } else {
                form = .imported(setting, digest: digest)
            }
        }
    }

    /// The id of the pepper without which the hash can't be verified; nil without one.
    package var pepperID: String? {
        switch form {
        case .own(let setting, _): setting.pepperID
        case .imported: nil
        case .wrapped(let outer, _, _, _): outer.pepperID
        }
    }

    init(_ form: Form) {
        self.form = form
        switch form {
        case .own(let setting, let digest):
            text = setting.text + HashFields.unpadded(digest)
        case .wrapped(let setting, let digest, let inner, let count):
            text =
                setting.text + HashFields.unpadded(digest) + String(Self.wrapSeparator) + inner.text
                + String(count)
        case .imported:
            preconditionFailure("hashes of other systems are read from their text")
        }
    }

    /// Reads a hash that is not wrapped.
    static func read(
        _ text: Substring
    ) throws(PasswordHashFault) -> (setting: any HashSetting, digest: [UInt8]) {
        let (setting, last) = try HashSettings.read(text)
        guard let digest = setting.decode(digest: last),
            setting.digestCounts.contains(digest.count)
        else { throw .malformed }
        return (setting, digest)
    }

    /// Refuses a pepper in a hash of another system, whose keys are unknown.
    static func checkUnkeyed(_ setting: any HashSetting) throws(PasswordHashFault) {
        guard (setting as? Argon2idSetting)?.pepperID == nil else { throw .unsupported }
    }

    package static func == (a: PasswordHash, b: PasswordHash) -> Bool { a.text == b.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
