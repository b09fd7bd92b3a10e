/// A column: its name and type in Postgres, and its attributes.
package struct CatalogueColumn: Sendable {
    /// The readers of a column, and the guarantees that apply to it.
    package struct Attributes: OptionSet, Sendable {
        /// The bits.
        package let rawValue: UInt16

        /// Creates a set from its bits.
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// May be null.
        package static let nullable = Self(rawValue: 1 << 0)
        /// Read by the auditors' group; never personal data or a secret.
        package static let auditor = Self(rawValue: 1 << 1)
        /// Read by the group of support.
        package static let support = Self(rawValue: 1 << 2)
        /// Read by the sealers' group.
        package static let sealer = Self(rawValue: 1 << 3)
        /// Updated by servers, in a table that they otherwise may not update.
        package static let serverUpdates = Self(rawValue: 1 << 4)
        /// Names the account that the row is about, and whose erasure reaches it.
        package static let account = Self(rawValue: 1 << 5)
        /// Personal data or the key to it: null after an erasure of the row's account, or gone with the row.
        package static let personal = Self(rawValue: 1 << 6)
        /// Determined by the log: `verify` finds another value.
        package static let verified = Self(rawValue: 1 << 7)
        /// Authenticated by the MAC of a live row: `verify` finds another value, if it has the MAC key.
        package static let mac = Self(rawValue: 1 << 8)
    }

    /// The name.
    package let name: String
    /// The type, as `format_type` names it.
    package let type: String
    /// The attributes.
    package let attributes: Attributes

    static func text(_ name: String, _ attributes: Attributes = []) -> Self {
        Self(name: name, type: "text", attributes: attributes)
    }

    static func texts(_ name: String, _ attributes: Attributes = []) -> Self {
        Self(name: name, type: "text[]", attributes: attributes)
    }

    static func uuid(_ name: String, _ attributes: Attributes = []) -> Self {
        Self(name: name, type: "uuid", attributes: attributes)
    }

    static func uuids(_ name: String, _ attributes: Attributes = []) -> Self {
        Self(name: name, type: "uuid[]", attributes: attributes)
    }

    static func int8(_ name: String, _ attributes: Attributes = []) -> Self {
        Self(name: name, type: "bigint", attributes: attributes)
    }

    static func int4(_ name: String, _ attributes: Attributes = []) -> Self {
        Self(name: name, type: "integer", attributes: attributes)
    }

    static func int2(_ name: String, _ attributes: Attributes = []) -> Self {
        Self(name: name, type: "smallint", attributes: attributes)
    }

    static func bool(_ name: String, _ attributes: Attributes = []) -> Self {
        Self(name: name, type: "boolean", attributes: attributes)
    }

    static func time(_ name: String, _ attributes: Attributes = []) -> Self {
        Self(name: name, type: "timestamp with time zone", attributes: attributes)
    }

    static func bytes(_ name: String, _ attributes: Attributes = []) -> Self {
        Self(name: name, type: "bytea", attributes: attributes)
    }
}
