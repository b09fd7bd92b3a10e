/// The members of a JSON object, told apart by the bytes of their names.
package struct JSONMembers: Sendable, Equatable {
    private var values: [ExactText: JSONValue] = [:]

    /// Number of members.
    package var count: Int {
        values.count
    }

    /// The names, in no particular order.
    package var keys: [String] {
        values.keys.map(\.text)
    }

    /// The member of exactly this name, if there is one.
    package subscript(name: String) -> JSONValue? {
        values[ExactText(name)]
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
        values.updateValue(value, forKey: ExactText(name)) == nil
    }
}

extension JSONMembers: Sequence {
    /// Lists the members in no particular order.
    package func makeIterator() -> AnyIterator<(key: String, value: JSONValue)> {
        AnyIterator(values.lazy.map { (key: $0.key.text, value: $0.value) }.makeIterator())
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
