/// The `details` of an entry: named strings and lists of links, sorted by name.
package struct EntryDetails: Hashable, Sendable {
    /// The value of a field.
    package enum Value: Hashable, Sendable {
        case text(String)
        case links([Account.Link])
    }

    /// One named value.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: Value
    }

    /// The maximum number of fields of an entry.
    package static let countMax = 32
    /// The maximum number of links in all lists of an entry, so that it fits into
    /// `EntryEncoding.bytesMax` with provider names of any length.
    package static let linksMax = 200

    package private(set) var fields: [Field] = []

    /// Collects strings; a nil string omits its field.
    ///
    /// - Precondition: the names are in ascending order, so that the entry is canonical as written.
    package init(_ fields: [(name: String, text: String?)]) {
        self.fields.reserveCapacity(fields.count)
        for field in fields {
            guard let text = field.text else { continue }
            add(Field(name: field.name, value: .text(text)))
        }
    }

    /// Collects fields; a nil value omits its field.
    ///
    /// - Precondition: the names are in ascending order, so that the entry is canonical as written.
    package init(values fields: [(name: String, value: Value?)]) {
        for field in fields {
            guard let value = field.value else { continue }
            add(Field(name: field.name, value: value))
        }
    }

    private mutating func add(_ field: Field) {
        precondition(fields.last.map { $0.name < field.name } ?? true, "details must be in order")
        fields.append(field)
    }
}
