/// The usable keys of a JSON Web Key Set, RFC 7517 section 5.
///
/// Keys of other types, for encryption, too small or malformed are skipped, as the RFC asks.
package struct KeySet: Sendable {
    /// Largest document that is read, in bytes.
    package static let documentBytesMax = 262_144

    /// Most entries a document may have, usable or not.
    package static let keyCountMax = 64

    private let keys: [VerificationKey]

    /// Reads a document; nil when it is not a key set or exceeds a limit.
    package init?(jwks: [UInt8]) {
        guard
            jwks.count <= KeySet.documentBytesMax,
            let entries = JSONValue(parsing: jwks)?.members?["keys"]?.array,
            entries.count <= KeySet.keyCountMax
        else {
            return nil
        }
        keys = entries.compactMap { entry in
            entry.members.flatMap(VerificationKey.init(members:))
        }
    }

    /// Makes a set of keys that are at hand, such as the ones this process signs with.
    package init(_ keys: [VerificationKey]) {
        self.keys = keys
    }

    /// Whether the set has no usable key.
    package var isEmpty: Bool {
        keys.isEmpty
    }

    /// Finds a key by its identifier; without one, the only key when there is exactly one.
    package func key(id: String?) -> VerificationKey? {
        only { key in Self.isNamed(key, id) }
    }

    /// Finds the one key with an identifier, or without one, that fits an algorithm.
    ///
    /// RFC 7517 section 4.5 lets keys of different types share an identifier. When several fit, none
    /// is returned: trying one after the other would let a token choose.
    package func key(id: String?, for algorithm: SignatureAlgorithm) -> VerificationKey? {
        only { key in Self.isNamed(key, id) && key.fits(algorithm) }
    }

    /// Whether the set has any key with an identifier, or any key when it is nil.
    package func contains(id: String?) -> Bool {
        keys.contains { key in Self.isNamed(key, id) }
    }

    private static func isNamed(_ key: VerificationKey, _ id: String?) -> Bool {
        id == nil || key.keyID.isExactly(id)
    }

    private func only(_ isWanted: (VerificationKey) -> Bool) -> VerificationKey? {
        var first: VerificationKey?
        for key in keys where isWanted(key) {
            // A key that is listed twice is still one key.
            if let first, first.thumbprint != key.thumbprint {
                return nil
            }
            first = first ?? key
        }
        return first
    }
}
