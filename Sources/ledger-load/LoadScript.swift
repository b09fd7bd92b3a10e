import Cryptography
import Encodings
import Foundation
import Ledger
import LedgerEngine
import LedgerTestSupport

/// Writes a history as COPY commands, a few thousand events at a time.
struct LoadScript {
    private static let eventsPerChunk = 5_000

    private let keyring: WrappingKeyring
    private let macKey: MACKey
    private let isProtected: Bool
    /// The first event of a log that the executable has begun.
    private let begun: EventID?
    /// The log's first event, and the MACs of all; nil before it.
    private var log: (id: EventID, macs: LoadedLogMACs)?
    private var keys: [AccountID: AccountKey] = [:]
    /// The provider ids of identities.
    private var subjects: [IdentityID: String] = [:]
    private var conflicts = ConflictFold()
    private var events = CopyText(
        """
        events (tenant_id, position, event_id, type, schema_version, recorded_at, account_id,
        account_seq, command_id, request_id, actor, entry, mac)
        """)
    private var audit = CopyText(
        """
        account_audit_1 (tenant_id, account_id, account_seq, position, event_id, recorded_at, type,
        outcome, reason, actor, provider, identity_id, session_id, request_id, client_ip,
        providers_before, providers_after)
        """)
    private var disclosures = CopyText("disclosures (tenant_id, position, account_id, ciphertext)")
    private var accountKeys = CopyText(
        "account_keys (tenant_id, account_id, wrapping_key, wrapped_key)")

    init(keyring: WrappingKeyring, macKey: MACKey, isProtected: Bool, log: EventID?) {
        self.keyring = keyring
        self.macKey = macKey
        self.isProtected = isProtected
        begun = log
    }

    /// The MACs of rows besides the log; nil for an unprotected log.
    private var rowMACs: LoadedLogMACs? { isProtected ? log?.macs : nil }

    mutating func add(_ step: RandomHistory.Step) throws {
        let recording = step.recording
        let recorded = recording.recorded
        if case .accountOpened(let fact) = recorded.event { addKey(of: fact.account) }
        try conflicts.apply(recorded)
        let first = recorded.accounts.first
        let id = log?.id ?? begun ?? recorded.id
        let macs = log?.macs ?? LoadedLogMACs(of: .default, log: id, key: macKey)
        log = (id, macs)
        if recorded.position == LogPosition(0), begun != nil { return }
        events.row(
            "\(recorded.position)", "\(recorded.id)", recorded.event.name.rawValue,
            "\(recorded.event.version)", "\(recorded.recordedAt)", first.map { "\($0.id)" },
            first.map { "\($0.sequence)" },
            "\(recorded.command)", recorded.request.map { "\($0)" }, recorded.actor.columnText,
            CopyText.hex(recording.entry),
            CopyText.hex(macs.mac(at: recorded.position, leaf: recording.leaf)))
        if !recording.disclosures.isEmpty, let account = first?.id, let key = keys[account] {
            let sealed = key.seal(
                recording.disclosures, tenant: recorded.tenant, position: recorded.position,
                account: account)
            disclosures.row("\(recorded.position)", "\(account)", CopyText.hex(sealed))
        }
        for row in step.audit {
            audit.row(
                "\(row.account)", "\(row.sequence)", "\(row.position)", "\(row.event)",
                "\(row.recordedAt)", row.type, row.outcome, row.reason, row.actor, row.provider,
                row.identity.map { "\($0)" }, row.session.map { "\($0)" },
                row.request.map { "\($0)" }, row.clientIP,
                "{\(row.providersBefore.joined(separator: ","))}",
                "{\(row.providersAfter.joined(separator: ","))}")
        }
        if events.rowCount == Self.eventsPerChunk { try flush() }
    }

    /// Writes the rows besides the log.
    mutating func finish(_ history: RandomHistory) throws {
        try flush()
        let state = history.state
        for (subject, identity) in state.directory { subjects[identity] = subject.providerID }
        try writeAccounts(state.ledger, emails: history.emails)
        try writeSessions(state)
        try writeConflicts()
        let next = state.ledger.nextPosition
        var heads = CopyText(
            "ledger_head (tenant_id, next_position, last_recorded_at, log_id, protected_from, mac)")
        let time = state.ledger.lastRecordedAt
        heads.row(
            "\(next)", "\(time)", log.map { "\($0.id)" }, isProtected ? "0" : nil,
            rowMACs.map { CopyText.hex($0.head(next: next, recordedAt: time)) })
        try heads.flush()
        var projections = CopyText("projections (tenant_id, name, generation, version, position)")
        for name in ProjectionName.allCases { projections.row(name.rawValue, "1", "1", "\(next)") }
        try projections.flush()
        try CopyText.write("VACUUM (ANALYZE);\n")
    }

    private mutating func addKey(of account: AccountID) {
        guard let key = AccountKey.generate(),
            let wrapped = keyring.wrap(key, tenant: .default, account: account)
        else { preconditionFailure("a key of 32 bytes cannot be wrapped") }
        keys[account] = key
        accountKeys.row("\(account)", wrapped.wrappingKey, CopyText.hex(wrapped.wrapped))
    }

    private mutating func flush() throws {
        try events.flush()
        try disclosures.flush()
        try accountKeys.flush()
        try audit.flush()
    }

    private func writeConflicts() throws {
        var rows = CopyText(
            """
            conflicts_1 (tenant_id, first_position, first_event, first_at, last_position, last_event,
            last_at, attempts, reason, provider, identity_id, caller_id, caller_now, callers,
            holder_id, holder_now, resolved_position, resolved_event, resolved_at, resolved_type,
            resolved_actor)
            """)
        for conflict in conflicts.conflicts {
            let (first, last, end) = (conflict.first, conflict.last, conflict.resolution)
            rows.row(
                "\(first.position)", "\(first.event)", "\(first.recordedAt)",
                "\(last.position)", "\(last.event)", "\(last.recordedAt)",
                "\(conflict.attempts)", conflict.reason.rawValue, "\(conflict.provider)",
                conflict.identity.map { "\($0)" }, "\(conflict.caller)",
                "\(conflict.callerNow)",
                "{\(conflict.callers.map(\.description).joined(separator: ","))}",
                conflict.holder.map { "\($0)" }, conflict.holderNow.map { "\($0)" },
                end.map { "\($0.mark.position)" }, end.map { "\($0.mark.event)" },
                end.map { "\($0.mark.recordedAt)" }, end?.type, end?.actor)
        }
        try rows.flush()
    }

    private func writeAccounts(
        _ ledger: LedgerState, emails: [IdentityID: Email]
    ) throws {
        var accounts = CopyText(
            "accounts (tenant_id, account_id, opened_position, next_seq, last_leaf, last_position)")
        var links = CopyText(
            """
            user_providers_1 (tenant_id, user_id, provider, provider_id, email, email_verified,
            identity_id, linked_at, linked_position)
            """)
        for account in ledger.accounts.values.sorted(by: { $0.openedPosition < $1.openedPosition })
        {
            accounts.row(
                "\(account.id)", "\(account.openedPosition)", "\(account.nextSequence)",
                CopyText.hex(account.lastLeaf.bytes), "\(account.lastPosition)")
            for link in account.links {
                let email = emails[link.identity]
                links.row(
                    "\(account.id)", "\(link.provider)", subjects[link.identity],
                    email?.address, email?.isVerified.map { "\($0)" }, "\(link.identity)",
                    "\(link.linkedAt)", "\(link.position)")
            }
        }
        try accounts.flush()
        try links.flush()
        var identities = CopyText(
            """
            identities (tenant_id, provider, provider_id, identity_id, account_id, last_account_id,
            linked_at, linked_position, mac)
            """)
        for identity in ledger.identities.values.sorted(by: {
            $0.linkedPosition < $1.linkedPosition
        }) {
            identities.row(
                "\(identity.provider)", subjects[identity.id], "\(identity.id)",
                identity.account.map { "\($0)" }, "\(identity.lastAccount)",
                "\(identity.linkedAt)", "\(identity.linkedPosition)",
                rowMACs.flatMap { macs in
                    Subject(
                        provider: identity.provider, providerID: subjects[identity.id] ?? ""
                    ).map { CopyText.hex(macs.mac(of: identity, named: $0)) }
                })
        }
        try identities.flush()
    }

    private func writeSessions(_ state: DecisionState) throws {
        var sessions = CopyText(
            """
            sessions (tenant_id, session_id, account_id, identity_id, authenticated_at, opened_at,
            opened_position, ended_position, refresh_current, refresh_generation, expires_at, methods,
            mac)
            """)
        for session in state.ledger.sessions.values.sorted(by: {
            $0.openedPosition < $1.openedPosition
        }) {
            guard let tokens = state.refreshTokens[session.id] else { continue }
            sessions.row(
                "\(session.id)", "\(session.account)", "\(session.identity)",
                "\(session.authenticatedAt)", "\(session.openedAt)", "\(session.openedPosition)",
                session.endedPosition.map { "\($0)" }, CopyText.hex(tokens.current.bytes), "0",
                "\(tokens.expiresAt)", "\(session.methods)",
                session.endedPosition == nil
                    ? rowMACs.map { CopyText.hex($0.mac(of: session, tokens)) } : nil)
        }
        try sessions.flush()
    }
}

/// The rows of a COPY command in text form, all of the tenant `default`.
struct CopyText {
    private let target: String
    private var text: [UInt8] = []
    private(set) var rowCount = 0

    init(_ target: String) {
        self.target = target.split(separator: "\n").joined(separator: " ")
    }

    /// Adds a row, nil for null.
    ///
    /// The values contain no characters that need escapes.
    mutating func row(_ values: String?...) {
        text.append(contentsOf: "default".utf8)
        for value in values {
            text.append(UInt8(ascii: "\t"))
            text.append(contentsOf: (value ?? "\\N").utf8)
        }
        text.append(UInt8(ascii: "\n"))
        rowCount += 1
    }

    /// Writes the command and clears the rows.
    mutating func flush() throws {
        guard rowCount > 0 else { return }
        try Self.write("COPY \(target) FROM stdin;\n")
        try FileHandle.standardOutput.write(contentsOf: Data(text))
        try Self.write("\\.\n")
        text.removeAll(keepingCapacity: true)
        rowCount = 0
    }

    static func write(_ text: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    /// Returns a `bytea` in the form of COPY.
    static func hex(_ bytes: [UInt8]) -> String { "\\\\x" + Hex.encode(bytes) }
}
