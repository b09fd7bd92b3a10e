/// The `details` of an entry: named texts, in the order of their names.
package struct EntryDetails: Hashable, Sendable {
    /// One named text.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let text: String
    }

    /// The most fields an entry may have.
    package static let countMax = 16

    package private(set) var fields: [Field] = []

    /// Collects fields; a nil text leaves its field out.
    ///
    /// - Precondition: the names ascend, so that the entry is canonical as it is written.
    package init(_ fields: [(name: String, text: String?)]) {
        for field in fields {
            guard let text = field.text else { continue }
            precondition(
                self.fields.last.map { $0.name < field.name } ?? true, "details must be in order")
            self.fields.append(Field(name: field.name, text: text))
        }
    }
}
