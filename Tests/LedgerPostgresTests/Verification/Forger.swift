import Cryptography
import Encodings
import Ledger
import LedgerTestSupport
import Postgres

/// An attacker with the database alone, who appends events that are valid in all that needs no key.
///
/// Reads the log, keeps the rules of every fact, sets the right `seq` and `prev`, and leaves decision state
/// as the fold expects it. Discloses nothing, because the keys of accounts are not in the database.
struct Forger {
    private(set) var state: LedgerState
    /// Whether the head is moved past the forged events.
    var movesHead = true
    private let identitiesBefore: [IdentityID: Identity]
    /// The subjects of identities that are not in the database.
    private var subjects: [IdentityID: String] = [:]
    private var statements: [String] = []
    private var generator = SeededGenerator(seed: 99)

    /// Reads the log of `default`.
    init(_ database: ScratchDatabase) async throws {
        let session = Postgres.Session(url: database.superuserURL, applicationName: "forger")
        let entries = try await session.run { connection in
            let rows = try connection.query(
                Statement(
                    "forger_log",
                    "SELECT entry FROM events WHERE tenant_id = 'default' ORDER BY position"))
            return try (0..<rows.rowCount).map { try rows.bytes($0, 0) }
        }
        await session.close()
        var state = LedgerState(tenant: .default)
        for entry in entries {
            try state.apply(EntryEncoding.decode(entry), leaf: leafHash(entry))
        }
        self.state = state
        identitiesBefore = state.identities
    }

    /// The statements that write the forged events, in one transaction.
    var sql: String {
        (["BEGIN"] + statements + rowUpdates + ["COMMIT"]).joined(separator: ";\n")
    }

    /// Returns a new id.
    mutating func newID<Kind>() -> EntityID<Kind> { generator.id() }

    /// Appends an event.
    mutating func append(_ event: Event, by actor: Actor) throws {
        let before = Set(state.sessions.keys)
        let recorded = RecordedEvent(
            tenant: .default, position: state.nextPosition, id: generator.id(),
            recordedAt: state.lastRecordedAt.adding(seconds: 1), actor: actor,
            command: generator.id(), request: generator.id(),
            accounts: event.fact.accounts.map { id in
                let known = state.accounts[id]
                return AccountReference(
                    id: id, previous: known?.lastLeaf, sequence: known?.nextSequence ?? 0)
            }, disclosureDigests: [], event: event)
        let entry = EntryEncoding.encode(recorded)
        try state.apply(recorded, leaf: leafHash(entry))
        statements.append(Self.insert(recorded, entry))
        for id in state.sessions.keys where !before.contains(id) {
            if let session = state.sessions[id] { statements.append(insert(session)) }
        }
        if case .accountsMerged(let fact) = event {
            let merge = Merge(fact, id: recorded.id, at: recorded.position)
            statements.append(Self.insert(merge))
        }
    }

    /// Forges the next events as if the tenant had these rules.
    mutating func assume(_ policy: TenantPolicy) throws {
        guard let rules = RulesSet(version: 1, policy: policy) else {
            throw Unexpected(what: "no rules")
        }
        state.load(rules)
    }

    /// Links one of the forger's subjects to an account.
    mutating func link(
        _ subject: String, of name: String, to account: AccountID, by actor: Actor
    ) throws {
        let fact = ProviderLinked(
            account: account, identity: generator.id(), provider: provider(name), cause: .link)
        subjects[fact.identity] = subject
        try append(.providerLinked(fact), by: actor)
    }

    /// Merges an account into another one, as support does.
    mutating func merge(_ absorbed: AccountID, into survivor: AccountID, by actor: Actor) throws {
        func decide(_ agreed: Digest?) -> Decision {
            Command(
                id: generator.id(), tenant: .default,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: .mergeAccounts(
                    MergeFixture.intent(absorbed, into: survivor, keeping: [], agreed: agreed))
            ).decide(
                given: DecisionState(ledger: state), at: state.lastRecordedAt,
                under: SequencerFixture.unlimitedPolicy)
        }
        guard case .success(.mergePlanned(_, let digest)) = decide(nil).result,
            let draft = decide(digest).drafts.first
        else { throw Unexpected(what: "no merge") }
        try append(draft.event, by: actor)
    }
}

extension Forger {
    /// The decision state that the fold gives, row by row.
    private var rowUpdates: [String] {
        let accounts = state.accounts.values.map { account in
            let holds = account.holds.map { "'\($0)'" }.joined(separator: ", ")
            let survivor = account.mergedInto.map { "'\($0)'" } ?? "NULL"
            return """
                UPDATE accounts SET next_seq = \(account.nextSequence),
                    last_leaf = \(Self.bytes(account.lastLeaf.bytes)),
                    last_position = \(account.lastPosition),
                    legal_holds = nullif(ARRAY[\(holds)]::uuid[], '{}'), merged_into = \(survivor)
                WHERE tenant_id = 'default' AND account_id = '\(account.id)'
                """
        }
        let changed = state.identities.values.filter { identitiesBefore[$0.id] != $0 }
        let identities = changed.map { identity in
            let account = identity.account.map { "'\($0)'" } ?? "NULL"
            let last =
                "'\(identity.lastAccount)', '\(identity.linkedAt)', \(identity.linkedPosition)"
            guard let subject = subjects[identity.id] else {
                return """
                    UPDATE identities
                    SET (account_id, last_account_id, linked_at, linked_position, mac)
                        = (\(account), \(last), NULL)
                    WHERE tenant_id = 'default' AND identity_id = '\(identity.id)'
                    """
            }
            return """
                INSERT INTO identities (tenant_id, provider, provider_id, identity_id, account_id,
                    last_account_id, linked_at, linked_position)
                VALUES ('default', '\(identity.provider)', '\(subject)', '\(identity.id)',
                    \(account), \(last))
                """
        }
        let sessions = state.sessions.values.compactMap { session in
            session.endedPosition.map {
                """
                UPDATE sessions SET ended_position = \($0)
                WHERE tenant_id = 'default' AND session_id = '\(session.id)'
                """
            }
        }
        let head = """
            UPDATE ledger_head SET next_position = \(state.nextPosition),
                last_recorded_at = '\(state.lastRecordedAt)', mac = NULL
            WHERE tenant_id = 'default'
            """
        return accounts + identities + sessions + (movesHead ? [head] : [])
    }

    private static func insert(_ recorded: RecordedEvent, _ entry: [UInt8]) -> String {
        let first = recorded.accounts.first
        return """
            INSERT INTO events (tenant_id, position, event_id, type, schema_version, recorded_at,
                account_id, account_seq, command_id, request_id, actor, entry, mac)
            VALUES ('default', \(recorded.position), '\(recorded.id)', '\(recorded.event.name.rawValue)',
                \(recorded.event.version), '\(recorded.recordedAt)',
                \(first.map { "'\($0.id)'" } ?? "NULL"), \(first.map { "\($0.sequence)" } ?? "NULL"),
                '\(recorded.command)', \(recorded.request.map { "'\($0)'" } ?? "NULL"),
                '\(recorded.actor.columnText)', \(bytes(entry)), decode(repeat('00', 20), 'hex'))
            """
    }

    private mutating func insert(_ session: Ledger.Session) -> String {
        """
        INSERT INTO sessions (tenant_id, session_id, account_id, identity_id, authenticated_at,
            opened_at, opened_position, refresh_current, refresh_generation, expires_at)
        VALUES ('default', '\(session.id)', '\(session.account)', '\(session.identity)',
            '\(session.authenticatedAt)', '\(session.openedAt)', \(session.openedPosition),
            \(Self.bytes(generator.bytes(32))), 0, now() + interval '30 days')
        """
    }

    private static func insert(_ merge: Merge) -> String {
        let lists = [merge.moved, merge.dropped, merge.replaced].map { identities in
            "ARRAY[\(identities.map { "'\($0)'" }.joined(separator: ", "))]::uuid[]"
        }
        return """
            INSERT INTO merges (tenant_id, event_id, position, survivor_id, absorbed_id, moved,
                dropped, replaced)
            VALUES ('default', '\(merge.id)', \(merge.position), '\(merge.survivor)',
                '\(merge.absorbed)', \(lists.joined(separator: ", ")))
            """
    }

    private static func bytes(_ bytes: [UInt8]) -> String { "'\\x\(Hex.encode(bytes))'::bytea" }
}
