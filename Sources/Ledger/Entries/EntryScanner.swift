/// Reads the one canonical form that `EntryEncoding` writes, byte by byte.
///
/// The form has a fixed order of keys and no white space or escapes, so reading is a walk along literals:
/// strict by construction, and as fast as a replay of millions of entries wants it.
struct EntryScanner {
    private static let accountsMax = 16
    private static let digestsMax = 64

    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func entry() throws(EntryFault) -> RecordedEvent {
        let digests = try disclosureDigests()
        let accounts = try accountReferences()
        let actor = try actor()
        try expect(",\"command\":")
        let command: CommandID = try id()
        let details = try details()
        try expect(",\"event\":")
        let event: EventID = try id()
        try expect(",\"outcome\":")
        let outcome = try text()
        try expect(",\"position\":")
        let position = try integer()
        try expect(",\"recorded_at\":")
        guard let recordedAt = Timestamp(try text()) else { throw fault("recorded_at") }
        try expect(",\"request\":")
        let request: RequestID? = consume("null") ? nil : try id()
        try expect(",\"tenant\":")
        guard let tenant = TenantID(try text()) else { throw fault("tenant") }
        try expect(",\"type\":")
        guard let name = Event.Name(rawValue: try text()) else { throw .unknownType }
        try expect(",\"v\":")
        guard try text() == EntryEncoding.version else { throw .unknownVersion }
        try expect("}")
        guard index == bytes.count else { throw fault("the end") }

        let fact = try Event(name, details: details, accounts: accounts.map(\.id))
        guard fact.fact.outcome.rawValue == outcome else { throw fault("outcome") }
        return RecordedEvent(
            tenant: tenant, position: LogPosition(position), id: event, recordedAt: recordedAt,
            actor: actor, command: command, request: request, accounts: accounts,
            disclosureDigests: digests, event: fact)
    }

    private mutating func disclosureDigests() throws(EntryFault) -> [Digest] {
        var digests: [Digest] = []
        var last = ""
        try expect("{\"_sd\":[")
        while !consume("]") {
            if !digests.isEmpty { try expect(",") }
            let text = try text()
            guard let digest = Digest(base64URL: text), digests.count < Self.digestsMax,
                last < text
            else { throw fault("_sd") }
            digests.append(digest)
            last = text
        }
        try expect(",\"_sd_alg\":\"sha-256\",\"accounts\":[")
        return digests
    }

    private mutating func accountReferences() throws(EntryFault) -> [AccountReference] {
        var accounts: [AccountReference] = []
        while !consume("]") {
            guard accounts.count < Self.accountsMax else { throw fault("accounts") }
            try expect(accounts.isEmpty ? "{\"id\":" : ",{\"id\":")
            let id: AccountID = try id()
            try expect(",\"prev\":")
            var previous: Digest?
            if !consume("null") {
                previous = Digest(base64URL: try text())
                guard previous != nil else { throw fault("prev") }
            }
            try expect(",\"seq\":")
            let sequence = try integer()
            try expect("}")
            accounts.append(AccountReference(id: id, previous: previous, sequence: sequence))
        }
        return accounts
    }

    private mutating func actor() throws(EntryFault) -> Actor {
        try expect(",\"actor\":{")
        if consume("\"type\":\"system\"}") {
            return .system
        }
        try expect("\"id\":")
        let account: AccountID = try id()
        var session: SessionID?
        if consume(",\"session\":") {
            session = try id()
        }
        try expect(",\"type\":\"account\"}")
        return .account(account, session: session)
    }

    private mutating func details() throws(EntryFault) -> EntryDetails {
        var fields: [EntryDetails.Field] = []
        try expect(",\"details\":{")
        while !consume("}") {
            if !fields.isEmpty { try expect(",") }
            guard fields.count < EntryDetails.countMax else { throw fault("details") }
            let name = try text()
            try expect(":")
            fields.append(EntryDetails.Field(name: name, text: try text()))
        }
        return EntryDetails(read: fields)
    }

    private mutating func id<Kind>() throws(EntryFault) -> EntityID<Kind> {
        guard let id = EntityID<Kind>(canonical: try text()) else { throw fault("an identifier") }
        return id
    }

    private mutating func integer() throws(EntryFault) -> Int64 {
        let text = try text()
        guard let value = Int64(text), value >= 0, String(value) == text else {
            throw fault("an integer")
        }
        return value
    }

    /// A text in quotes: ASCII without quotes, backslashes and control characters.
    private mutating func text() throws(EntryFault) -> String {
        try expect("\"")
        let start = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            let byte = bytes[index]
            guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else {
                throw fault("a text")
            }
            index += 1
        }
        guard index < bytes.count else { throw fault("a text") }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        index += 1
        return text
    }

    private mutating func consume(_ literal: String) -> Bool {
        let utf8 = literal.utf8
        guard bytes.count - index >= utf8.count else { return false }
        var place = index
        for byte in utf8 {
            guard bytes[place] == byte else { return false }
            place += 1
        }
        index = place
        return true
    }

    private mutating func expect(_ literal: String) throws(EntryFault) {
        guard consume(literal) else { throw fault("a fixed part") }
    }

    private func fault(_ what: String) -> EntryFault {
        .malformed("byte \(index), \(what)")
    }
}
