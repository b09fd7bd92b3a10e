import Ledger
import Postgres

/// The `account_audit` read model: each account's history, one row an event and touched account.
struct AccountAuditProjection: Projection {
    let name = ProjectionName.accountAudit
    let version: Int32 = 1

    private let latest: Statement
    private let linkHistory: Statement
    private let insert: Statement

    /// Folds into a table of the read model's shape.
    init(table: String) {
        // Lateral, so that each account is looked up by itself whatever the planner thinks of the
        // table.
        latest = Statement(
            "\(table)_latest",
            """
            SELECT k.account_id, l.account_seq, l.providers_after
            FROM unnest($2::uuid[]) AS k (account_id)
            CROSS JOIN LATERAL (
                SELECT account_seq, providers_after FROM \(table)
                WHERE tenant_id = $1 AND account_id = k.account_id
                ORDER BY account_seq DESC LIMIT 1) l
            """)
        linkHistory = Statement(
            "\(table)_link_history",
            """
            SELECT a.account_id, a.type, a.identity_id, a.provider
            FROM unnest($2::uuid[]) AS k (account_id)
            CROSS JOIN LATERAL (
                SELECT * FROM \(table) WHERE tenant_id = $1 AND account_id = k.account_id
                    AND type IN ('ProviderLinked', 'ProviderUnlinked')
                OFFSET 0) a
            ORDER BY a.account_id, a.account_seq
            """)
        // An array of arrays cannot be unnested by one level, and no provider's name has a comma.
        insert = Statement(
            "\(table)_insert",
            """
            INSERT INTO \(table) (tenant_id, account_id, account_seq, position, event_id,
                recorded_at, type, outcome, reason, actor, provider, identity_id, session_id,
                request_id, client_ip, providers_before, providers_after)
            SELECT $1, account_id, account_seq, position, event_id, recorded_at, type, outcome,
                reason, actor, provider, identity_id, session_id, request_id, client_ip,
                string_to_array(providers_before, ','), string_to_array(providers_after, ',')
            FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::uuid[], $6::timestamptz[],
                $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::uuid[],
                $13::uuid[], $14::uuid[], $15::text[], $16::text[], $17::text[])
                AS r (account_id, account_seq, position, event_id, recorded_at, type, outcome,
                    reason, actor, provider, identity_id, session_id, request_id, client_ip,
                    providers_before, providers_after)
            """)
    }

    /// The latest row of each touched account.
    ///
    /// Of accounts that unlink it also takes the links one by one: with several identities of one
    /// provider, its name alone does not tell whether the provider goes.
    func loads(for events: ArraySlice<DisclosedEvent>, in tenant: TenantID) -> [Call] {
        var touched: Set<AccountID> = []
        var unlinking: Set<AccountID> = []
        for event in events {
            for reference in event.recorded.accounts {
                touched.insert(reference.id)
            }
            if case .providerUnlinked(let fact) = event.recorded.event {
                unlinking.insert(fact.account)
            }
        }
        return [(latest, touched), (linkHistory, unlinking)].map { statement, accounts in
            Call(statement, [.text(tenant.description), .uuids(accounts.map(\.bits))])
        }
    }

    func fold(
        _ events: ArraySlice<DisclosedEvent>, onto loaded: [QueryResult], in tenant: TenantID
    ) throws(PostgresError) -> FoldedPage {
        guard loaded.count == 2 else { throw .unexpectedResult("account_audit was not loaded") }
        var fold = AccountAuditFold()
        fold.standings = try Self.standings(latest: loaded[0], linkHistory: loaded[1])
        var fault: LogDamage?
        for event in events {
            do throws(LogDamage) {
                try fold.apply(event)
            } catch {
                fault = error
                break
            }
        }
        return FoldedPage(
            calls: fold.rows.isEmpty ? [] : [call(for: fold.rows, in: tenant)], fault: fault)
    }

    private static func standings(
        latest: QueryResult, linkHistory: QueryResult
    ) throws(PostgresError) -> [AccountID: AccountAuditFold.Standing] {
        var links: [AccountID: [AccountAuditFold.Link]] = [:]
        for row in 0..<linkHistory.rowCount {
            let account = AccountID(bits: try linkHistory.uuid(row, 0))
            let identity = IdentityID(bits: try linkHistory.uuid(row, 2))
            if try linkHistory.text(row, 1) == Event.Name.providerLinked.rawValue {
                links[account, default: []].append(
                    AccountAuditFold.Link(
                        identity: identity, provider: try linkHistory.text(row, 3)))
            } else {
                links[account]?.removeAll { $0.identity == identity }
            }
        }
        var standings: [AccountID: AccountAuditFold.Standing] = [:]
        standings.reserveCapacity(latest.rowCount)
        for row in 0..<latest.rowCount {
            let account = AccountID(bits: try latest.uuid(row, 0))
            let named = try latest.textArray(row, 2).map {
                AccountAuditFold.Link(identity: nil, provider: $0)
            }
            standings[account] = AccountAuditFold.Standing(
                nextSequence: try latest.int8(row, 1) &+ 1, links: links[account] ?? named)
        }
        return standings
    }

    private func call(for rows: [AuditRow], in tenant: TenantID) -> Call {
        Call(
            insert,
            [
                .text(tenant.description), .uuids(rows.map(\.account.bits)),
                .int8s(rows.map(\.sequence)), .int8s(rows.map(\.position.value)),
                .uuids(rows.map(\.event.bits)), .timestamps(rows.map(\.recordedAt.microseconds)),
                .texts(rows.map(\.type)), .texts(rows.map(\.outcome)),
                .optionalTexts(rows.map(\.reason)), .texts(rows.map(\.actor)),
                .optionalTexts(rows.map(\.provider)),
                .optionalUUIDs(rows.map { $0.identity?.bits }),
                .optionalUUIDs(rows.map { $0.session?.bits }),
                .optionalUUIDs(rows.map { $0.request?.bits }),
                .optionalTexts(rows.map(\.clientIP)),
                .texts(rows.map { $0.providersBefore.joined(separator: ",") }),
                .texts(rows.map { $0.providersAfter.joined(separator: ",") }),
            ])
    }
}
