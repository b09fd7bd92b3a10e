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

    /// Wraps fields that were read from an entry, in the order in which they stood.
    init(read fields: [Field]) {
        self.fields = fields
    }

    /// Hands out the fields one by one and checks at the end that none is left.
    var reader: Reader { Reader(fields: fields[...]) }

    /// Reads fields in their order.
    struct Reader {
        fileprivate var fields: ArraySlice<Field>

        /// The next field's text, when it has this name.
        mutating func optional(_ name: String) -> String? {
            guard let field = fields.first, field.name == name else { return nil }
            fields.removeFirst()
            return field.text
        }

        /// The next field's text, which must have this name.
        mutating func text(_ name: String) throws(EntryFault) -> String {
            guard let text = optional(name) else { throw .malformed("details.\(name)") }
            return text
        }

        /// The next field as an identifier.
        mutating func id<Kind>(_ name: String) throws(EntryFault) -> EntityID<Kind> {
            guard let id = EntityID<Kind>(canonical: try text(name)) else {
                throw .malformed("details.\(name)")
            }
            return id
        }

        /// The next field as an identifier, when it is there.
        mutating func optionalID<Kind>(_ name: String) throws(EntryFault) -> EntityID<Kind>? {
            guard let text = optional(name) else { return nil }
            guard let id = EntityID<Kind>(canonical: text) else {
                throw .malformed("details.\(name)")
            }
            return id
        }

        /// The next field as a provider's name.
        mutating func provider() throws(EntryFault) -> ProviderName {
            guard let name = ProviderName(try text("provider")) else {
                throw .malformed("details.provider")
            }
            return name
        }

        /// The next field as one of a closed set of words.
        mutating func word<Word: RawRepresentable<String>>(
            _ name: String
        ) throws(EntryFault) -> Word {
            guard let word = Word(rawValue: try text(name)) else {
                throw .malformed("details.\(name)")
            }
            return word
        }

        /// Ends the reading.
        ///
        /// - Throws: `EntryFault.malformed` when a field is left over.
        func end() throws(EntryFault) {
            guard let field = fields.first else { return }
            throw .malformed("details.\(field.name)")
        }
    }
}

/// The only account of a fact that touches exactly one.
func onlyAccount(_ accounts: [AccountID]) throws(EntryFault) -> AccountID {
    guard accounts.count == 1 else { throw .malformed("accounts") }
    return accounts[0]
}
