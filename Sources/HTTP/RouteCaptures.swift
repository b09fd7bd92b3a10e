/// The captured segments of a path, percent-decoded, by name.
package struct RouteCaptures: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    // A template has few captures: a linear search is cheaper than a dictionary.
    private var values: [(name: String, value: String)] = []

    /// Makes captures from a literal.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { add(value, named: name) }
    }

    /// The segment with this name; nil when the template has none.
    package subscript(name: String) -> String? {
        values.first { $0.name == name }?.value
    }

    mutating func add(_ value: String, named name: String) {
        values.append((name, value))
    }

    /// Compares without regard to the order.
    package static func == (left: RouteCaptures, right: RouteCaptures) -> Bool {
        left.values.count == right.values.count
            && left.values.allSatisfy { right[$0.name] == $0.value }
    }
}
