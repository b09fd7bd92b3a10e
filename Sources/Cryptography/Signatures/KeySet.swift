import JSON

/// The usable keys of a JSON Web Key Set, RFC 7517 section 5.
///
/// Malformed, too small and encryption keys and those of other types are skipped, as the RFC requires.
package struct KeySet: Sendable {
    /// Largest accepted document, in bytes.
    package static let documentBytesMax = 262_144

    /// Most entries of a document, usable or not.
    package static let keyCountMax = 64

    private let keys: [VerificationKey]

    /// Parses a document; nil when it is not a key set or exceeds a limit.
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

    /// Creates a set of known keys, such as this process's own.
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
    /// RFC 7517 section 4.5 lets keys of different types share an identifier. When several fit, none is
    /// returned: if each were tried, the token would choose its key.
    package func key(id: String?, for algorithm: SignatureAlgorithm) -> VerificationKey? {
        only { key in Self.isNamed(key, id) && key.fits(algorithm) }
    }

    /// Checks whether the set has a key with an identifier, or any key for nil.
    package func contains(id: String?) -> Bool {
        keys.contains { key in Self.isNamed(key, id) }
    }

    private static func isNamed(_ key: VerificationKey, _ id: String?) -> Bool {
        id == nil || key.keyID.isExactly(id)
    }

    private func only(_ isWanted: (VerificationKey) -> Bool) -> VerificationKey? {
        var first: VerificationKey?
        for key in keys where isWanted(key) {
            // A duplicate entry is still the same key.
            if let first, first.thumbprint != key.thumbprint {
                return nil
            }
            first = first ?? key
        }
        return first
    }
}
