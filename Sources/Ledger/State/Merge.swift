/// A merge that was not undone, with the data that undoing it needs.
package struct Merge: Hashable, Sendable {
    /// The `AccountsMerged`.
    package let id: EventID
    package let position: LogPosition
    package let survivor: AccountID
    package let absorbed: AccountID
    /// As in ``AccountsMerged``.
    package let moved: [IdentityID]
    /// As in ``AccountsMerged``.
    package let dropped: [IdentityID]
    /// As in ``AccountsMerged``.
    package let replaced: [IdentityID]

    /// Describes a merge.
    package init(
        id: EventID, position: LogPosition, survivor: AccountID, absorbed: AccountID,
        moved: [IdentityID], dropped: [IdentityID], replaced: [IdentityID]
    ) {
        self.id = id
        self.position = position
        self.survivor = survivor
        self.absorbed = absorbed
        self.moved = moved
        self.dropped = dropped
        self.replaced = replaced
    }

    /// The merge that an event made.
    package init(_ fact: AccountsMerged, id: EventID, at position: LogPosition) {
        self.init(
            id: id, position: position, survivor: fact.survivor, absorbed: fact.absorbed,
            moved: fact.moved.map(\.identity), dropped: fact.dropped.map(\.identity),
            replaced: fact.replaced.map(\.identity))
    }
}

extension [Account.Link] {
    /// Inserts a link at its position in linking order.
    mutating func insert(_ link: Account.Link) {
        insert(link, at: firstIndex { $0.position > link.position } ?? endIndex)
    }

    /// Removes the links of some identities.
    mutating func remove(_ identities: some Sequence<IdentityID>) {
        let gone = Set(identities)
        removeAll { gone.contains($0.identity) }
    }
}
