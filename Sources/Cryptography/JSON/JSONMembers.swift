/// The members of a JSON object, told apart by the bytes of their names.
///
/// They lie in a row in the order they came. Nearly every object has a handful of members, and
/// comparing that many names is cheaper than hashing one; an object with more gets a table, so that
/// a stranger's object with thousands costs no more than its length.
package struct JSONMembers: Sendable, Equatable {
    /// The most members that are looked through one by one.
    static let unindexedCountMax = 16

    /// Room that is made at the first member.
    private static let usualCount = 4

    private var members: [(key: String, value: JSONValue)] = []
    /// Where each name stands, once there are more than `unindexedCountMax`.
    private var places: [ExactText: Int]?

    /// Number of members.
    package var count: Int {
        members.count
    }

    /// The names, in the order they came.
    package var keys: [String] {
        members.map(\.key)
    }

    /// The member of exactly this name, if there is one.
    package subscript(name: String) -> JSONValue? {
        place(of: name).map { members[$0].value }
    }

    /// Returns a member, and nil for one that is missing or null.
    package func present(_ name: String) -> JSONValue? {
        guard let value = self[name], value != .null else {
            return nil
        }
        return value
    }

    /// Adds a member and returns true; false when there is one of that name.
    mutating func add(_ value: JSONValue, named name: String) -> Bool {
        guard place(of: name) == nil else {
            return false
        }
        if members.isEmpty {
            members.reserveCapacity(JSONMembers.usualCount)
        }
        members.append((name, value))
        if places != nil {
            places?[ExactText(name)] = members.count - 1
        } else if members.count > JSONMembers.unindexedCountMax {
            places = Dictionary(
                uniqueKeysWithValues: members.indices.map { (ExactText(members[$0].key), $0) })
        }
        return true
    }

    private func place(of name: String) -> Int? {
        if let places {
            return places[ExactText(name)]
        }
        return members.firstIndex { member in member.key.isExactly(name) }
    }

    /// Compares without regard to the order.
    package static func == (left: JSONMembers, right: JSONMembers) -> Bool {
        left.count == right.count
            && left.members.allSatisfy { member in right[member.key] == member.value }
    }
}

extension JSONMembers: Sequence {
    /// Lists the members in the order they came.
    package func makeIterator() -> AnyIterator<(key: String, value: JSONValue)> {
        AnyIterator(members.makeIterator())
    }
}

extension JSONMembers: ExpressibleByDictionaryLiteral {
    /// Makes members that are written in the source, where no name may stand twice.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (name, value) in elements {
            let isNew = add(value, named: name)
            precondition(isNew, "a member is written twice")
        }
    }
}
