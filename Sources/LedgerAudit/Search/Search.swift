import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// One search, on a connection outside of any transaction.
struct Search {
    let tenant: TenantID
    let term: SearchTerm
    let emails: FormerEmails?
    let disclosures: DisclosureReader?
    /// Whether there may be more results than were found.
    var hasMore = false
    /// The keys that authenticate events; nil without keys.
    var protection: LogProtection?
    /// The maximum number of positions that are scanned when no index helps.
    var positionsMax = SearchWindow.positionsMax
    /// The error because of which results were omitted.
    private(set) var fault: PostgresError?
    /// The maximum number of pages of identities without digests whose e-mails a search decrypts.
    static let pagesMax = 20

    private var accounts: [AccountID: Set<SearchMatch>] = [:]
    private var identities: [IdentityID: Set<SearchMatch>] = [:]
    private var rows: [IdentityID: SearchRows.IdentityRow] = [:]
    /// The flags of the e-mails by which identities were found.
    private var emailFlags: [IdentityID: Bool] = [:]
    private var events: [LogPosition: (recorded: RecordedEvent, matches: Set<SearchMatch>)] = [:]

    init(
        tenant: TenantID, term: SearchTerm, emails: FormerEmails?, disclosures: DisclosureReader?
    ) {
        self.tenant = tenant
        self.term = term
        self.emails = emails
        self.disclosures = disclosures
    }

    private var name: Parameter { .text(tenant.description) }

    // MARK: Comparison

    /// Compares the term with e-mails, phone numbers and the subjects that providers assign.
    mutating func comparePersonalData(on connection: Connection) throws(PostgresError) {
        try compareProviderIDs(on: connection)
        try compareNumbers(on: connection)
        guard let email = term.email else { return }
        try compareEmails(email, on: connection)
    }

    private mutating func compareProviderIDs(on connection: Connection) throws(PostgresError) {
        let found = try SearchRows.identities(
            connection.query(SearchRows.ofProviderID, [name, .text(term.text)]))
        for row in found {
            add(row, row.account == nil ? .formerProviderID : .providerID)
        }
    }

    /// Compares the phone number, whose digest leads to the subject of its identity.
    private mutating func compareNumbers(on connection: Connection) throws(PostgresError) {
        guard !term.addresses.isEmpty else { return }
        let found = try connection.query(
            SearchRows.ofAddress, [name, .byteArrays(term.addresses.map(\.digest.bytes))])
        for row in 0..<found.rowCount {
            let own = AddressID(bits: try found.uuid(row, found.column("address_id")))
            let former = try found.optionalUUID(row, found.column("former_of"))
            let subject = former.map { AddressID(bits: $0) } ?? own
            let linked = try connection.query(
                SearchRows.ofProviderID, [name, .text(subject.description)])
            for identity in try SearchRows.identities(linked) {
                let isFormer = former != nil || identity.account == nil
                add(identity, isFormer ? .formerPhone : .phone)
            }
        }
    }

    private mutating func compareEmails(
        _ email: String, on connection: Connection
    ) throws(PostgresError) {
        let live = try connection.query(
            SearchRows.ofEmail(try ProjectionTables.served(.userProviders, on: connection)),
            [name, .text(email), .int8(Int64(SearchResult.hitsMax) + 1)])
        var holders: Set<AccountID> = []
        var held: [IdentityID: Bool?] = [:]
        for row in 0..<live.rowCount {
            holders.insert(AccountID(bits: try live.uuid(row, live.column("user_id"))))
            held[IdentityID(bits: try live.uuid(row, live.column("identity_id")))] = .some(
                try live.optionalBool(row, live.column("email_verified")))
        }
        for row in try identities(of: holders, on: connection) where row.account != nil {
            if let isVerified = held[row.id] { add(row, ofEmailThatIsVerified: isVerified) }
        }
        guard let emails else { return }
        let former = try connection.query(
            SearchRows.ofFormerEmail,
            [
                name, .byteArrays(emails.key.digests(of: email, in: tenant)),
                .int8(Int64(SearchResult.hitsMax) + 1),
            ])
        var flags: [IdentityID: Bool?] = [:]
        for row in 0..<former.rowCount {
            flags[IdentityID(bits: try former.uuid(row, former.column("identity_id")))] =
                .some(SearchKey.flags[Int(try former.int8(row, former.column("n"))) - 1])
        }
        for row in try SearchRows.identities(former) {
            add(row, ofEmailThatIsVerified: flags[row.id] ?? nil)
        }
        try matchPendingEmails(email, with: emails, on: connection)
    }

    /// Matches identities whose former e-mail has no digest yet; a failure only marks the result incomplete.
    private mutating func matchPendingEmails(
        _ email: String, with emails: FormerEmails, on connection: Connection
    ) throws(PostgresError) {
        try connection.execute("SAVEPOINT former_emails; SET LOCAL \(FormerEmails.readsInOrder)")
        do throws(PostgresError) {
            let (unlinked, isWhole) = try emails.pendingMatches(
                with: email, in: tenant, pagesMax: Self.pagesMax, on: connection)
            if !isWhole { hasMore = true }
            for (unlinked, isVerified) in unlinked {
                guard let provider = ProviderName(unlinked.provider) else { continue }
                let row = SearchRows.IdentityRow(
                    id: unlinked.identity, provider: provider, account: nil,
                    lastAccount: unlinked.account)
                add(row, ofEmailThatIsVerified: isVerified)
            }
        } catch {
            hasMore = true
            fault = error
        }
        // Nothing was written; the rollback resets the setting.
        try connection.execute("ROLLBACK TO SAVEPOINT former_emails")
    }

    /// Looks the term up as every kind of id that it can be.
    mutating func lookUpIDs(on connection: Connection) throws(PostgresError) {
        if let id = term.id {
            let account = AccountID(bits: id.bits)
            if try !accountRows(of: [account], on: connection).isEmpty { add(account, .accountID) }
            try lookUpEventsAndIdentities(id, on: connection)
        }
        let isEmpty = accounts.isEmpty && events.isEmpty
        guard isEmpty, let request = term.request else { return }
        try lookUpLateRequests(request, on: connection)
    }

    /// Searches the events recorded shortly after the time that an id carries.
    private mutating func lookUpEventsAndIdentities(
        _ id: SearchedID, on connection: Connection
    ) throws(PostgresError) {
        let identity = IdentityID(bits: id.bits)
        var holders: Set<AccountID> = []
        var linked: Set<LogPosition> = []
        if id.isUUIDv7 {
            let named = try events(
                EventReads.rowsOfTime(of: EventID(bits: id.bits), in: tenant, on: connection))
            for recorded in named where recorded.id.bits == id.bits { add(recorded, .eventID) }
            let (window, isClipped) = try SearchWindow.around(
                id.madeAt, positionsMax: positionsMax, in: tenant, on: connection)
            let isNamed = !named.isEmpty || accounts[AccountID(bits: id.bits)] != nil
            if isClipped, !isNamed { hasMore = true }
            let found = try events(
                connection.query(
                    SearchRows.ofWindow,
                    [
                        name, .int8(window.lowerBound), .int8(window.upperBound), .uuid(id.bits),
                        .bytes(Array("\"identity\":\"\(id)\"".utf8)),
                        .int8(Int64(SearchResult.hitsMax) + 1),
                    ]))
            for recorded in found {
                if recorded.request?.bits == id.bits { add(recorded, .requestID) }
                guard case .providerLinked(let fact) = recorded.event, fact.identity == identity
                else { continue }
                holders.insert(fact.account)
                linked.insert(recorded.position)
            }
        }
        let last = try connection.query(SearchRows.lastHolder, [name, .uuid(id.bits)])
        if last.rowCount == 1 { holders.insert(AccountID(bits: try last.uuid(0, 0))) }
        try lookUp(identity, linked: linked, holders: holders, on: connection)
    }

    /// Finds the row of an identity by the accounts that held it, or by the subject that its link disclosed.
    private mutating func lookUp(
        _ identity: IdentityID, linked: Set<LogPosition>, holders: Set<AccountID>,
        on connection: Connection
    ) throws(PostgresError) {
        guard !holders.isEmpty else { return }
        var candidates = try identities(
            of: holders.union(try survivors(of: holders, on: connection)), on: connection)
        if let disclosures {
            let disclosed = try LinkedDisclosures.read(
                at: linked, in: tenant, with: disclosures, on: connection)
            for position in linked.sorted() {
                guard let subject = (try? disclosed.values(at: position))?.providerID else {
                    continue
                }
                candidates += try SearchRows.identities(
                    connection.query(SearchRows.ofProviderID, [name, .text(subject)]))
            }
        }
        if let row = candidates.first(where: { $0.id == identity }) {
            add(row, .identityID)
        } else {
            // The identity was erased with an account, or moved to an account that none of these leads to; no
            // holder that still exists has it.
            let known = try accountRows(of: holders, on: connection)
            for holder in holders where known[holder]?.state == .erased {
                add(holder, .identityID)
            }
            hasMore = true
        }
    }

    /// Searches the last events for a request id that carries no time or a wrong one.
    private mutating func lookUpLateRequests(
        _ request: RequestID, on connection: Connection
    ) throws(PostgresError) {
        let window = try SearchWindow.last(in: tenant, on: connection)
        let found = try events(
            connection.query(
                SearchRows.ofRequest,
                [
                    name, .int8(window.lowerBound), .int8(window.upperBound),
                    .uuid(request.bits), .int8(Int64(SearchResult.hitsMax) + 1),
                ]))
        for recorded in found { add(recorded, .requestID) }
        if found.isEmpty, window.lowerBound > 0 { hasMore = true }
    }

    /// Decodes the events of rows; the result may lack matches if one is damaged or not authentic.
    private mutating func events(
        _ rows: QueryResult
    ) throws(PostgresError) -> [RecordedEvent] {
        let sound = try SearchRows.events(rows, in: tenant, protection)
        if sound.count < rows.rowCount { hasMore = true }
        return sound
    }

    // MARK: Results

    private mutating func add(_ account: AccountID, _ match: SearchMatch) {
        accounts[account, default: []].insert(match)
    }

    private mutating func add(_ row: SearchRows.IdentityRow, _ match: SearchMatch) {
        rows[row.id] = row
        identities[row.id, default: []].insert(match)
        add(row.account ?? row.lastAccount, match)
    }

    private mutating func add(
        _ row: SearchRows.IdentityRow, ofEmailThatIsVerified isVerified: Bool?
    ) {
        emailFlags[row.id] = isVerified
        add(row, .email(isVerified: isVerified, isFormer: row.account == nil))
    }

    private mutating func add(_ recorded: RecordedEvent, _ match: SearchMatch) {
        events[recorded.position, default: (recorded: recorded, matches: [])].matches.insert(match)
        for account in recorded.accounts { add(account.id, match) }
    }

    private func identities(
        of accounts: Set<AccountID>, on connection: Connection
    ) throws(PostgresError) -> [SearchRows.IdentityRow] {
        guard !accounts.isEmpty else { return [] }
        return try SearchRows.identities(
            connection.query(SearchRows.ofAccounts, [name, .uuids(accounts.map(\.bits))]))
    }

    private func accountRows(
        of accounts: Set<AccountID>, on connection: Connection
    ) throws(PostgresError) -> [AccountID: SearchRows.AccountRow] {
        guard !accounts.isEmpty else { return [:] }
        return try SearchRows.accounts(
            connection.query(SearchRows.accounts, [name, .uuids(accounts.map(\.bits))]))
    }

    /// Returns the accounts into which the given ones were merged, including those in between.
    private func survivors(
        of accounts: Set<AccountID>, on connection: Connection
    ) throws(PostgresError) -> Set<AccountID> {
        var survivors: Set<AccountID> = []
        var next = accounts
        // The number of accounts merged into one is bounded, so a chain ends.
        for _ in 0..<MergeAccounts.familyMax where !next.isEmpty {
            let found = try accountRows(of: next, on: connection).values.compactMap(\.mergedInto)
            next = Set(found).subtracting(survivors)
            survivors.formUnion(next)
        }
        return survivors
    }

    private static func isCertain(_ matches: Set<SearchMatch>?) -> Bool {
        matches?.contains { !$0.isUncertain } ?? false
    }

    /// Sorts ids, the uncertain ones after the others.
    private static func inOrder<Kind>(
        _ ids: some Sequence<EntityID<Kind>>, isCertain: (EntityID<Kind>) -> Bool
    ) -> [EntityID<Kind>] {
        let sorted = ids.sorted()
        return sorted.filter(isCertain) + sorted.filter { !isCertain($0) }
    }

    /// Returns the results with the details of the accounts.
    mutating func result(on connection: Connection) throws(PostgresError) -> SearchResult {
        for survivor in try survivors(of: Set(accounts.keys), on: connection) {
            add(survivor, .absorbedAccount)
        }
        let known = try accountRows(of: Set(accounts.keys), on: connection)
        let absorbed = try SearchRows.absorbed(
            connection.query(SearchRows.absorbed, [name, .uuids(known.keys.map(\.bits))]))
        let linked = try identities(of: Set(known.keys), on: connection)
        let certain = Set(known.keys.filter { Self.isCertain(accounts[$0]) })
        // The survivor of a certain account is equally certain.
        let found = Self.inOrder(known.keys) { id in
            certain.contains(id) || absorbed[id, default: []].contains(where: certain.contains)
        }.compactMap { id -> FoundAccount? in
            guard let row = known[id] else { return nil }
            var providers: [ProviderName] = []
            for link in linked where link.account == id && !providers.contains(link.provider) {
                providers.append(link.provider)
            }
            return FoundAccount(
                id: id, state: row.state, mergedInto: row.mergedInto, absorbed: absorbed[id] ?? [],
                linkedProviders: providers, matchedBy: (accounts[id] ?? []).sorted())
        }
        let named = Self.inOrder(rows.keys) { Self.isCertain(identities[$0]) }
            .compactMap { rows[$0] }.map { row in
                FoundIdentity(
                    id: row.id, provider: row.provider, account: row.account,
                    lastAccount: row.lastAccount, isEmailVerified: emailFlags[row.id],
                    matchedBy: (identities[row.id] ?? []).sorted())
            }
        let touched = events.values.sorted { $0.recorded.position < $1.recorded.position }.map {
            FoundEvent(recorded: $0.recorded, matchedBy: $0.matches.sorted())
        }
        let most = SearchResult.hitsMax
        return SearchResult(
            accounts: Array(found.prefix(most)), identities: Array(named.prefix(most)),
            events: Array(touched.prefix(most)),
            hasMore: hasMore || max(found.count, named.count, touched.count) > most)
    }
}
