/// The `details` of an entry: named texts and lists of links, in the order of their names.
package struct EntryDetails: Hashable, Sendable {
    /// What a field holds.
    package enum Value: Hashable, Sendable {
        case text(String)
        case links([Account.Link])
    }

    /// One named value.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: Value
    }

    /// The most fields an entry may have.
    package static let countMax = 16
    /// The most links that the lists of an entry may have together, so that it fits into
    /// `EntryEncoding.bytesMax` whatever their providers are called.
    package static let linksMax = 200

    package private(set) var fields: [Field] = []

    /// Collects texts; a nil one leaves its field out.
    ///
    /// - Precondition: the names ascend, so that the entry is canonical as it is written.
    package init(_ fields: [(name: String, text: String?)]) {
        self.fields.reserveCapacity(fields.count)
        for field in fields {
            guard let text = field.text else { continue }
            add(Field(name: field.name, value: .text(text)))
        }
    }

    /// Collects fields; a nil value leaves its field out.
    ///
    /// - Precondition: the names ascend, so that the entry is canonical as it is written.
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
