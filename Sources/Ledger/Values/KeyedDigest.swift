/// A digest of a client's input as it is stored, with the name of its key.
///
/// The same input has several: by the key in use, which new rows have, and by those of earlier rows.
package struct KeyedDigest: Hashable, Sendable {
    /// The name of the key in the key directory; nil for the plain SHA-256 of a former release.
    package let key: String?
    package let digest: Digest
    /// The digests of the same input that earlier rows may have.
    package let former: [KeyedDigest]

    /// Describes a digest and its earlier forms.
    package init(_ digest: Digest, key: String? = nil, former: [KeyedDigest] = []) {
        self.key = key
        self.digest = digest
        self.former = former
    }

    /// Every form, first the one of new rows.
    package var all: [KeyedDigest] { [self] + former }
}
