/// The `details` of an entry that is being parsed: named strings and lists, in their order.
package struct ScannedDetails {
    private let bytes: EntryBytes
    /// The version of the entry, which follows the details.
    var version = 1

    init(_ bytes: EntryBytes) {
        self.bytes = bytes
    }

    /// Wraps the details of an entry that are stored by themselves.
    ///
    /// - Throws: `EntryFault.malformed` for anything but an object.
    init(object: [UInt8]) throws(EntryFault) {
        guard object.count >= 2, object.first == UInt8(ascii: "{"),
            object.last == UInt8(ascii: "}")
        else { throw .malformed("details") }
        self.init(EntryBytes(object, 1..<object.count - 1))
    }

    /// A reader that returns the fields in order and checks at the end that none is left.
    var reader: Reader { Reader(bytes: bytes) }

    /// Reads fields in order.
    struct Reader {
        fileprivate var bytes: EntryBytes
        private var isFirst = true

        fileprivate init(bytes: EntryBytes) {
            self.bytes = bytes
        }

        /// Reads the next field, which must have this name, as a string.
        mutating func text(_ name: String) throws(EntryFault) -> String {
            try begin(name)
            guard let text = bytes.text() else { throw .malformed("details.\(name)") }
            return bytes.string(text)
        }

        /// Reads the next field as an identifier.
        mutating func id<Kind>(_ name: String) throws(EntryFault) -> EntityID<Kind> {
            try begin(name)
            guard let id: EntityID<Kind> = bytes.id() else { throw .malformed("details.\(name)") }
            return id
        }

        /// Reads the next field as an identifier, if it is present.
        mutating func optionalID<Kind>(_ name: String) throws(EntryFault) -> EntityID<Kind>? {
            guard isNext(name) else { return nil }
            return try id(name)
        }

        /// Reads the next field as a time.
        mutating func time(_ name: String) throws(EntryFault) -> Timestamp {
            try begin(name)
            guard let time = bytes.timestamp() else { throw .malformed("details.\(name)") }
            return time
        }

        /// Reads the next field as a time, if it is present.
        mutating func optionalTime(_ name: String) throws(EntryFault) -> Timestamp? {
            guard isNext(name) else { return nil }
            return try time(name)
        }

        /// Reads the next field as a digest.
        mutating func digest(_ name: String) throws(EntryFault) -> Digest {
            try begin(name)
            guard let digest = bytes.digest() else { throw .malformed("details.\(name)") }
            return digest
        }

        /// Reads the next field as a non-negative 64-bit number.
        mutating func integer(_ name: String) throws(EntryFault) -> Int64 {
            try begin(name)
            guard let value = bytes.integer() else { throw .malformed("details.\(name)") }
            return value
        }

        /// Reads the next field as a whole number if it has the name.
        mutating func optionalInteger(_ name: String) throws(EntryFault) -> Int64? {
            guard isNext(name) else { return nil }
            return try integer(name)
        }

        /// Reads the next field as a list of links.
        mutating func links(_ name: String) throws(EntryFault) -> [Account.Link] {
            try begin(name)
            guard let links = bytes.links() else { throw .malformed("details.\(name)") }
            return links
        }

        /// Reads the next field as factors that a merge moves, if it is present.
        mutating func optionalFactors(_ name: String) throws(EntryFault) -> [MergedFactor] {
            guard isNext(name) else { return [] }
            guard let factors = [MergedFactor](fieldText: try text(name)) else {
                throw .malformed("details.\(name)")
            }
            return factors
        }

        /// Reads the next field as a provider's name.
        mutating func provider() throws(EntryFault) -> ProviderName {
            guard let name = ProviderName(try text("provider")) else {
                throw .malformed("details.provider")
            }
            return name
        }

        /// Reads the next field as providers and what their names stand for.
        mutating func pins(_ name: String) throws(EntryFault) -> [ProviderName: ProviderPin] {
            guard let pins = [ProviderName: ProviderPin](entryText: try text(name)) else {
                throw .malformed("details.\(name)")
            }
            return pins
        }

        /// Reads the next field as providers with methods if it has the name; it is never written for none.
        mutating func optionalProviderMethods(
            _ name: String
        ) throws(EntryFault) -> [ProviderName: AuthenticationMethods] {
            guard isNext(name) else { return [:] }
            guard
                let methods = [ProviderName: AuthenticationMethods](entryText: try text(name))
            else { throw .malformed("details.\(name)") }
            return methods
        }

        /// Reads the next field as names of providers if it has the name; it is never written for none.
        mutating func optionalProviders(_ name: String) throws(EntryFault) -> Set<ProviderName> {
            guard isNext(name) else { return [] }
            guard let providers = Set<ProviderName>(entryText: try text(name)) else {
                throw .malformed("details.\(name)")
            }
            return providers
        }

        /// Reads the next field as `true` or `false`.
        mutating func flag(_ name: String) throws(EntryFault) -> Bool {
            guard let flag = Bool(try text(name)) else { throw .malformed("details.\(name)") }
            return flag
        }

        /// Reads the next field as `true` if it has the name; it is never written as `false`.
        mutating func optionalTrue(_ name: String) throws(EntryFault) -> Bool {
            guard isNext(name) else { return false }
            guard try flag(name) else { throw .malformed("details.\(name)") }
            return true
        }

        /// Reads the next fields as the principal that asked for the event; its role is not stored.
        mutating func asker(role: Role) throws(EntryFault) -> Principal {
            let id: EntityID<PrincipalKind> = try self.id("asker")
            return Principal(try word("asker_type"), id.bits, role: role)
        }

        /// Reads the next fields as the principal that asked for the event, if they are present.
        mutating func optionalAsker(role: Role) throws(EntryFault) -> Principal? {
            guard isNext("asker") else { return nil }
            return try asker(role: role)
        }

        /// Reads the next field as the words of `methods`.
        mutating func methods() throws(EntryFault) -> AuthenticationMethods {
            guard let methods = AuthenticationMethods(try text("methods")) else {
                throw .malformed("details.methods")
            }
            return methods
        }

        /// Reads the next field as one of a closed set of words.
        mutating func word<Word: RawRepresentable<String> & CaseIterable>(
            _ name: String
        ) throws(EntryFault) -> Word {
            try begin(name)
            guard let text = bytes.text(),
                let word = Word.allCases.first(where: { bytes.holds($0.rawValue, at: text) })
            else { throw .malformed("details.\(name)") }
            return word
        }

        /// Reads the next field as a word of a closed set if it has the name.
        mutating func optionalWord<Word: RawRepresentable<String> & CaseIterable>(
            _ name: String
        ) throws(EntryFault) -> Word? {
            guard isNext(name) else { return nil }
            return try word(name)
        }

        /// Ends reading.
        ///
        /// - Throws: `EntryFault.malformed` when a field is left.
        func end() throws(EntryFault) {
            guard !bytes.isAtEnd else { return }
            throw .malformed("details")
        }

        private func isNext(_ name: String) -> Bool {
            var ahead = self
            return (try? ahead.begin(name)) != nil
        }

        private mutating func begin(_ name: String) throws(EntryFault) {
            guard isFirst || bytes.consume(","), bytes.consume("\""), bytes.consume(name),
                bytes.consume("\":")
            else { throw .malformed("details.\(name)") }
            isFirst = false
        }
    }
}

/// Returns the only account of a fact that touches exactly one.
func onlyAccount(_ accounts: [AccountID]) throws(EntryFault) -> AccountID {
    guard accounts.count == 1 else { throw .malformed("accounts") }
    return accounts[0]
}

/// Returns the accounts of a fact that touches exactly two.
func twoAccounts(_ accounts: [AccountID]) throws(EntryFault) -> (AccountID, AccountID) {
    guard accounts.count == 2 else { throw .malformed("accounts") }
    return (accounts[0], accounts[1])
}
