/// A compact index of conflicts by accounts, identities and events.
///
/// A key is hashed to 64 of its bits. Collisions and outdated keys only cause extra conflicts to be
/// examined. Each lookup removes duplicates and conflicts that nothing can change any more.
struct ConflictIndex {
    private struct Link {
        let index: Int32
        /// The previous node of the same key; -1 for none.
        var next: Int32
    }

    private var heads: [UInt64: Int32] = [:]
    private var links: [Link] = []
    /// The nodes that can be reused.
    private var free: [Int32] = []

    /// The number of stored pairs of a key and an index.
    var count: Int { links.count - free.count }

    mutating func add<Kind>(_ index: Int, to id: EntityID<Kind>) {
        let name = Self.name(id)
        let link = Link(index: Int32(index), next: heads[name] ?? -1)
        if let used = free.popLast() {
            links[Int(used)] = link
            heads[name] = used
        } else {
            heads[name] = Int32(links.count)
            links.append(link)
        }
    }

    /// Returns the indexes of conflicts that match several keys and can still change, in order and
    /// without duplicates.
    mutating func indexes(
        of accounts: [AccountID], _ identities: Set<IdentityID>, merge: EventID?,
        in conflicts: [Conflict]
    ) -> [Int] {
        var indexes: Set<Int> = []
        for account in accounts { collect(Self.name(account), conflicts, into: &indexes) }
        for identity in identities { collect(Self.name(identity), conflicts, into: &indexes) }
        if let merge { collect(Self.name(merge), conflicts, into: &indexes) }
        return indexes.sorted()
    }

    /// Removes a conflict that nothing can change any more.
    mutating func forget(_ conflict: Conflict, in conflicts: [Conflict]) {
        _ = indexes(
            of: conflict.callers + [conflict.holder, conflict.holderNow].compactMap(\.self),
            Set([conflict.identity].compactMap(\.self)), merge: conflict.resolution?.mark.event,
            in: conflicts)
    }

    private mutating func collect(
        _ name: UInt64, _ conflicts: [Conflict], into indexes: inout Set<Int>
    ) {
        guard var next = heads[name] else { return }
        var seen: Set<Int32> = []
        var kept: Int32 = -1
        while next >= 0 {
            let (index, link) = (next, links[Int(next)])
            next = link.next
            if conflicts[Int(link.index)].isFollowed, seen.insert(link.index).inserted {
                indexes.insert(Int(link.index))
                links[Int(index)].next = kept
                kept = index
            } else {
                free.append(index)
            }
        }
        heads[name] = kept < 0 ? nil : kept
    }

    private static func name<Kind>(_ id: EntityID<Kind>) -> UInt64 {
        UInt64(truncatingIfNeeded: id.bits ^ id.bits >> 64)
    }
}
