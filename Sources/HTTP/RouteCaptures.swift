/// The segments of a path that a template captures, percent-decoded, by name.
package struct RouteCaptures: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    // A template has a few captures at most: looking through them is cheaper than a dictionary.
    private var values: [(name: String, value: String)] = []

    /// Makes captures that are written in the source.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { add(value, named: name) }
    }

    /// The segment of this name, nil when the template has none.
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
