/// Parses the one canonical form that `EntryEncoding` writes, byte by byte.
///
/// The order of keys is fixed, and there are no white space and no escapes, so parsing compares
/// literals: strict by construction, and fast enough to replay millions of entries.
struct EntryScanner {
    private static let accountsMax = 16
    private static let digestsMax = 64

    private var bytes: EntryBytes

    init(_ bytes: [UInt8]) {
        self.bytes = EntryBytes(bytes)
    }

    mutating func entry() throws(EntryFault) -> RecordedEvent {
        let digests = try disclosureDigests()
        let accounts = try accountReferences()
        let actor = try actor()
        try expect(",\"command\":")
        let command: CommandID = try id()
        var details = try details()
        try expect(",\"event\":")
        let eventID: EventID = try id()
        try expect(",\"outcome\":")
        let outcome = try text()
        try expect(",\"position\":")
        guard let position = bytes.integer() else { throw fault("an integer") }
        try expect(",\"recorded_at\":")
        guard let recordedAt = bytes.timestamp() else { throw fault("recorded_at") }
        try expect(",\"request\":")
        let request: RequestID? = bytes.consume("null") ? nil : try id()
        try expect(",\"tenant\":")
        guard let tenant = TenantID(bytes.string(try text())) else { throw fault("tenant") }
        try expect(",\"type\":")
        let type = try text()
        guard let name = Event.Name.allCases.first(where: { bytes.holds($0.rawValue, at: type) })
        else { throw .unknownType }
        try expect(",\"v\":")
        let written = try text()
        guard
            let version = (1...name.newestVersion).first(where: {
                bytes.holds(String($0), at: written)
            })
        else { throw .unknownVersion }
        details.version = version
        try expect("}")
        guard bytes.isAtEnd else { throw fault("the end") }

        let event = try Event(name, details: details, accounts: accounts.map(\.id))
        let fact = event.fact
        guard fact.version == version else { throw fault("v") }
        guard bytes.holds(fact.outcome.rawValue, at: outcome) else { throw fault("outcome") }
        return RecordedEvent(
            tenant: tenant, position: LogPosition(position), id: eventID, recordedAt: recordedAt,
            actor: actor, command: command, request: request, accounts: accounts,
            disclosureDigests: digests, event: event)
    }

    private mutating func disclosureDigests() throws(EntryFault) -> [Digest] {
        var digests: [Digest] = []
        try expect("{\"_sd\":[")
        while !bytes.consume("]") {
            if !digests.isEmpty { try expect(",") }
            guard let digest = bytes.digest(), digests.count < Self.digestsMax,
                digests.last?.sortsAsText(before: digest) ?? true
            else { throw fault("_sd") }
            digests.append(digest)
        }
        try expect(",\"_sd_alg\":\"sha-256\",\"accounts\":[")
        return digests
    }

    private mutating func accountReferences() throws(EntryFault) -> [AccountReference] {
        var accounts: [AccountReference] = []
        while !bytes.consume("]") {
            guard accounts.count < Self.accountsMax else { throw fault("accounts") }
            try expect(accounts.isEmpty ? "{\"id\":" : ",{\"id\":")
            let id: AccountID = try id()
            try expect(",\"prev\":")
            var previous: Digest?
            if !bytes.consume("null") {
                previous = bytes.digest()
                guard previous != nil else { throw fault("prev") }
            }
            try expect(",\"seq\":")
            guard let sequence = bytes.integer() else { throw fault("an integer") }
            try expect("}")
            accounts.append(AccountReference(id: id, previous: previous, sequence: sequence))
        }
        return accounts
    }

    private mutating func actor() throws(EntryFault) -> Actor {
        try expect(",\"actor\":{")
        if bytes.consume("\"type\":\"system\"}") {
            return .system
        }
        try expect("\"id\":")
        let account: AccountID = try id()
        if bytes.consume(",\"role\":") {
            return .principal(try principal(account.bits))
        }
        var session: SessionID?
        if bytes.consume(",\"session\":") {
            session = try id()
        }
        try expect(",\"type\":\"account\"}")
        return .account(account, session: session)
    }

    private mutating func principal(_ id: UInt128) throws(EntryFault) -> Principal {
        let text = try text()
        guard let role = Role.allCases.first(where: { bytes.holds($0.rawValue, at: text) }) else {
            throw fault("a role")
        }
        for kind in Principal.Kind.allCases
        where bytes.consume(",\"type\":\"\(kind.rawValue)\"}") {
            return Principal(kind, id, role: role)
        }
        throw fault("the type of an actor")
    }

    /// Skips the details, which are parsed once the type is known.
    private mutating func details() throws(EntryFault) -> ScannedDetails {
        try expect(",\"details\":{")
        let start = bytes.index
        var count = 0
        while !bytes.consume("}") {
            if count > 0 { try expect(",") }
            guard count < EntryDetails.countMax else { throw fault("details") }
            _ = try text()
            try expect(":")
            if bytes.isAt("[") {
                guard bytes.links() != nil else { throw fault("a list") }
            } else {
                _ = try text()
            }
            count += 1
        }
        return ScannedDetails(EntryBytes(bytes.bytes, start..<bytes.index - 1))
    }

    private mutating func id<Kind>() throws(EntryFault) -> EntityID<Kind> {
        guard let id: EntityID<Kind> = bytes.id() else { throw fault("an identifier") }
        return id
    }

    private mutating func text() throws(EntryFault) -> Range<Int> {
        guard let text = bytes.text() else { throw fault("a text") }
        return text
    }

    @inline(__always)
    private mutating func expect(_ literal: String) throws(EntryFault) {
        guard bytes.consume(literal) else { throw fault("a fixed part") }
    }

    private func fault(_ what: String) -> EntryFault {
        .malformed("byte \(bytes.index), \(what)")
    }
}
