/// Where conflicts are found, by accounts, identities and events, in little memory.
///
/// A name goes by 64 of its bits. Two that fall together, and a name that no longer fits, only make more be
/// looked at than is meant.
struct ConflictPlaces {
    private struct Link {
        let place: Int32
        /// The link before it of the same name; -1 for none.
        let next: Int32
    }

    private var heads: [UInt64: Int32] = [:]
    private var links: [Link] = []

    mutating func add<Kind>(_ place: Int, to id: EntityID<Kind>) {
        let name = Self.name(id)
        links.append(Link(place: Int32(place), next: heads[name] ?? -1))
        heads[name] = Int32(links.count - 1)
    }

    /// The places of a name, each once and in order.
    func places<Kind>(of id: EntityID<Kind>) -> [Int] {
        var places: Set<Int> = []
        collect(Self.name(id), into: &places)
        return places.sorted()
    }

    /// The places of several names, each once and in order.
    func places(
        of accounts: [AccountID], _ identities: Set<IdentityID>, merge: EventID?
    ) -> [Int] {
        var places: Set<Int> = []
        for account in accounts { collect(Self.name(account), into: &places) }
        for identity in identities { collect(Self.name(identity), into: &places) }
        if let merge { collect(Self.name(merge), into: &places) }
        return places.sorted()
    }

    private func collect(_ name: UInt64, into places: inout Set<Int>) {
        var next = heads[name] ?? -1
        while next >= 0 {
            let link = links[Int(next)]
            places.insert(Int(link.place))
            next = link.next
        }
    }

    private static func name<Kind>(_ id: EntityID<Kind>) -> UInt64 {
        UInt64(truncatingIfNeeded: id.bits ^ id.bits >> 64)
    }
}
