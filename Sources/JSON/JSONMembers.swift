/// The members of a JSON object, distinguished by the bytes of their names.
///
/// They are stored in document order. Most objects have few members, and comparing that many names is
/// cheaper than hashing one. A larger object gets a hash table, so that an untrusted object with
/// thousands of members is read in linear time.
package struct JSONMembers: Sendable, Equatable {
    /// The most members that are searched linearly.
    static let unindexedCountMax = 16

    /// Initial capacity.
    private static let usualCount = 4

    private var members: [(key: String, value: JSONValue)] = []
    /// The index of each name, for more than `unindexedCountMax` members.
    private var indexes: [ExactText: Int]?

    /// Number of members.
    package var count: Int {
        members.count
    }

    /// The names, in document order.
    package var keys: [String] {
        members.map(\.key)
    }

    /// The member with exactly this name, or nil.
    package subscript(name: String) -> JSONValue? {
        index(of: name).map { members[$0].value }
    }

    /// Returns a member; nil when it is missing or null.
    package func present(_ name: String) -> JSONValue? {
        guard let value = self[name], value != .null else {
            return nil
        }
        return value
    }

    /// Adds a member; false for a duplicate name.
    mutating func add(_ value: JSONValue, named name: String) -> Bool {
        guard index(of: name) == nil else {
            return false
        }
        if members.isEmpty {
            members.reserveCapacity(JSONMembers.usualCount)
        }
        members.append((name, value))
        if indexes != nil {
            indexes?[ExactText(name)] = members.count - 1
        } else if members.count > JSONMembers.unindexedCountMax {
            indexes = Dictionary(
                uniqueKeysWithValues: members.indices.map { (ExactText(members[$0].key), $0) })
        }
        return true
    }

    private func index(of name: String) -> Int? {
        if let indexes {
            return indexes[ExactText(name)]
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
    /// Iterates over the members in document order.
    package func makeIterator() -> AnyIterator<(key: String, value: JSONValue)> {
        AnyIterator(members.makeIterator())
    }
}

extension JSONMembers: ExpressibleByDictionaryLiteral {
    /// Makes members from a literal, which must not contain duplicate names.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (name, value) in elements {
            let isNew = add(value, named: name)
            precondition(isNew, "duplicate member name")
        }
    }
}
