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

/// A proved or claimed address.
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
    /// The time in seconds for which the former address can be taken back after a change.
    package static let keptSeconds: Int64 = 7 * 86_400

    package let id: AddressID
    package let kind: AddressKind
    /// The account for which it was claimed or confirmed; merges do not change it.
    package let account: AccountID
    /// The position of the event that discloses it: the `AddressClaimed`, the `AddressConfirmed` or the last
    /// `AddressChanged`.
    package let position: LogPosition
    /// The address that replaced it; nil for one that is in use.
    package let formerOf: AddressID?
    /// The end of the time in which the former address can be taken back, on both; nil for one that was not changed.
    package let keptUntil: Timestamp?
    /// Whether the address was not proved yet.
    package let isClaimed: Bool

    /// Describes a holder.
    package init(
        id: AddressID, kind: AddressKind, account: AccountID, position: LogPosition,
        formerOf: AddressID? = nil, keptUntil: Timestamp? = nil, isClaimed: Bool = false
    ) {
        self.isClaimed = isClaimed
        self.id = id
        self.kind = kind
        self.account = account
        self.position = position
        self.formerOf = formerOf
        self.keptUntil = keptUntil
    }

    /// Whether it was proved, and not replaced since.
    var isProved: Bool { !isClaimed && formerOf == nil }

    /// Whether it is a former address that can still be taken back, or was replaced so recently that the former one can.
    func isKept(at now: Timestamp) -> Bool { keptUntil.map { now < $0 } ?? false }

    /// Returns the address as another event disclosed it.
    package func disclosed(at position: LogPosition) -> HeldAddress {
        HeldAddress(
            id: id, kind: kind, account: account, position: position, formerOf: formerOf,
            keptUntil: keptUntil, isClaimed: isClaimed)
    }

    /// Returns the same address under another id, after another one has replaced it.
    func former(as former: AddressID, until: Timestamp) -> HeldAddress {
        HeldAddress(
            id: former, kind: kind, account: account, position: position, formerOf: id,
            keptUntil: until)
    }

    /// Returns the address that replaces this one.
    func changed(at position: LogPosition, keptUntil: Timestamp?) -> HeldAddress {
        HeldAddress(
            id: id, kind: kind, account: account, position: position, keptUntil: keptUntil)
    }
}
