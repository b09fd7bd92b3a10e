/// The kinds of addresses; their names stand in entries and never change.
package enum AddressKind: String, Hashable, Sendable, CaseIterable {
    case email
    case phone
}

/// The kind of an ``AddressID``.
package enum AddressIDKind {}

/// The opaque id of an address while one account has it: its next holder gets another one.
package typealias AddressID = EntityID<AddressIDKind>

/// The name by which decision state finds an address: its keyed digest.
package struct AddressName: Hashable, Sendable {
    package let kind: AddressKind
    /// The digest of kind and canonical form.
    package let digest: Digest
    /// The name of the digest's key.
    package let key: String

    /// Describes a name.
    package init(kind: AddressKind, digest: Digest, key: String) {
        self.kind = kind
        self.digest = digest
        self.key = key
    }
}

/// An address whose holder proved that they can read its messages.
package struct ProvedAddress: Hashable, Sendable {
    package let kind: AddressKind
    /// The canonical form.
    package let text: String
    /// The names by every key, first that of new rows; never empty.
    package let names: [AddressName]
    /// The id of the address if no account has it yet.
    package let newID: AddressID

    /// Describes a proved address.
    ///
    /// - Precondition: It has a name.
    package init(kind: AddressKind, text: String, names: [AddressName], newID: AddressID) {
        precondition(!names.isEmpty, "an address has a name")
        self.kind = kind
        self.text = text
        self.names = names
        self.newID = newID
    }

    /// The name of a new row.
    var newName: AddressName { names[0] }
}

/// The holder of an address in the log.
package struct HeldAddress: Hashable, Sendable {
    package let id: AddressID
    package let kind: AddressKind
    /// The account for which it was confirmed; merges do not change it.
    package let account: AccountID
    /// The position of the `AddressConfirmed`.
    package let position: LogPosition

    /// Describes a holder.
    package init(id: AddressID, kind: AddressKind, account: AccountID, position: LogPosition) {
        self.id = id
        self.kind = kind
        self.account = account
        self.position = position
    }
}
