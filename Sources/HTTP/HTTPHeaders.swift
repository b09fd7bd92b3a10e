/// The header fields of a request in their order, including duplicates.
///
/// Names are compared without regard to case, RFC 9110 section 5.1. Values are text as sent by the
/// client, with bytes that are not UTF-8 replaced by U+FFFD.
package struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    private struct Field {
        let nameStart: Int
        let valueStart: Int
        let valueEnd: Int
    }

    // One array for the text of all fields: a request is copied with two allocations, and a string is
    // made only for a requested field.
    private var storage: [UInt8] = []
    private var fields: [Field] = []

    /// Initial capacity in fields; a browser's request has about as many.
    private static let usualCount = 16

    /// Creates an empty set of fields.
    package init() {}

    /// Creates an empty set with capacity for a number of bytes of names and values.
    init(reserving byteCount: Int) {
        storage.reserveCapacity(byteCount)
        fields.reserveCapacity(Self.usualCount)
    }

    /// Creates a set of fields from names and values, for tests and for calls without a socket.
    package init(_ fields: [(name: String, value: String)]) {
        for field in fields { append(name: field.name.utf8, value: field.value.utf8) }
    }

    /// Creates a set of fields from a literal; a name may occur more than once.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name: name.utf8, value: value.utf8) }
    }

    /// The number of fields, including duplicates.
    package var count: Int { fields.count }

    /// The value of the first field with this name, or nil.
    package subscript(_ name: String) -> String? {
        let name = name.utf8
        return fields.first { matches($0, name) }.map(value)
    }

    /// Returns the bytes of the first value with this name, or nil.
    package func bytes(_ name: String) -> ArraySlice<UInt8>? {
        let name = name.utf8
        return fields.first { matches($0, name) }.map(bytes)
    }

    /// Returns the values of all fields with this name, in order.
    package func all(_ name: String) -> [String] {
        let name = name.utf8
        var values: [String] = []
        for field in fields where matches(field, name) { values.append(value(field)) }
        return values
    }

    /// Returns the number of fields with this name.
    package func count(of name: String) -> Int {
        let name = name.utf8
        var count = 0
        for field in fields where matches(field, name) { count += 1 }
        return count
    }

    mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
        let nameStart = storage.count
        storage.append(contentsOf: name)
        let valueStart = storage.count
        storage.append(contentsOf: value)
        fields.append(
            Field(nameStart: nameStart, valueStart: valueStart, valueEnd: storage.count))
    }

    private func matches(_ field: Field, _ name: String.UTF8View) -> Bool {
        guard field.valueStart - field.nameStart == name.count else { return false }
        let found = storage.span.extracting(field.nameStart..<field.valueStart)
        let wanted = name.span
        for index in wanted.indices {
            guard ASCII.lowercased(found[index]) == ASCII.lowercased(wanted[index]) else {
                return false
            }
        }
        return true
    }

    private func value(_ field: Field) -> String {
        String(decoding: bytes(field), as: UTF8.self)
    }

    private func bytes(_ field: Field) -> ArraySlice<UInt8> {
        storage[field.valueStart..<field.valueEnd]
    }
}
