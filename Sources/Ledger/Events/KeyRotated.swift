/// The ledger uses another key from now on, or soon; recorded in the log of every tenant.
package struct KeyRotated: EventFact {
    /// The purpose of a key.
    package enum Kind: String, Sendable, CaseIterable {
        /// Signs checkpoints.
        case checkpoint
        /// Wraps the keys of accounts.
        case encryption
        /// Authenticates entries by a MAC; since version 2.
        case mac
        /// Is mixed into hashes of passwords; since version 3.
        case pepper
        /// Signs access tokens.
        case token
    }

    /// The entries that a MAC key does not authenticate, because they precede it.
    package struct Prefix: Hashable, Sendable {
        /// The Merkle root of the first `size` entries.
        package let root: Digest
        /// The first position that the key authenticates.
        package let size: Int64

        /// Describes the entries before a position.
        package init(root: Digest, size: Int64) {
            self.root = root
            self.size = size
        }
    }

    /// The former key of a log that named none.
    package static let noFormerKey = "none"

    /// Fingerprint of the former key.
    package let former: String
    /// Fingerprint of the new key.
    package let key: String
    package let kind: Kind
    /// The entries before the key; set only for the kind `mac`.
    package let prefix: Prefix?

    /// States which key replaced another one.
    ///
    /// - Precondition: the kind is not `mac`.
    package init(kind: Kind, key: String, former: String) {
        precondition(kind != .mac, "a MAC key requires its prefix")
        self.former = former
        self.key = key
        self.kind = kind
        prefix = nil
    }

    /// States from which position a key authenticates entries; without a former key it is the log's
    /// first.
    package init(macKey key: String, former: String?, after prefix: Prefix) {
        self.former = former ?? Self.noFormerKey
        self.key = key
        kind = .mac
        self.prefix = prefix
    }

    package static let newestVersion = 3
    package var version: Int { kind.version }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [] }

    package var details: EntryDetails {
        EntryDetails([
            ("former", former), ("key", key), ("kind", kind.rawValue),
            ("root", prefix?.root.description), ("size", prefix.map { String($0.size) }),
        ])
    }

    package var verb: String { "rotated a key" }
    package var attributes: EventAttributes { EventAttributes() }
    package var requiredDisclosures: [Disclosure.Name] { [] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        guard accounts.isEmpty else { throw .malformed("accounts") }
        var reader = details.reader
        former = try reader.text("former")
        key = try reader.text("key")
        kind = try reader.word("kind")
        guard kind.version == details.version else { throw .malformed("details.kind") }
        prefix =
            kind == .mac
            ? Prefix(root: try reader.digest("root"), size: try reader.integer("size")) : nil
        try reader.end()
    }
}

extension KeyRotated.Kind {
    /// The version of the events that can name it.
    fileprivate var version: Int {
        switch self {
        case .checkpoint, .encryption, .token: 1
        case .mac: 2
        case .pepper: 3
        }
    }
}
