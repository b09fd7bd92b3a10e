import Ledger
import Postgres

/// The e-mails of identities that belong to no account any more, as keyed digests beside the identities.
///
/// The e-mail is the one that sign-ins with the identity disclosed last, of its last account and of the one that
/// linked it, or else the one that came with the link. It is looked for after the link has ended, so that no
/// link and no sign-in costs more; whatever moves the identity takes the digest away in the append transaction, and an erasure
/// takes the row.
struct FormerEmails: Sendable {
    /// Identities that are looked at together.
    private static let pageMax = 50
    /// Sign-ins of an identity since its link that are looked at, the latest ones.
    private static let signInsMax = 10
    /// Digests that are taken away in one transaction.
    private static let resetMax = 1_000

    /// Has pages read in the order of their index.
    ///
    /// The planner, who has no statistics of digests, takes those that are missing for few: by a bitmap it would
    /// read, and then sort, all of them for each page. To forbid sorting would be worse, since it would
    /// have disclosures read in the order of theirs, all that a tenant has.
    static let readsInOrder = "enable_bitmapscan = off"

    let key: SearchKey
    let disclosures: DisclosureReader

    /// An identity that belongs to nobody, and the link that ended last.
    struct Left {
        let identity: IdentityID
        let provider: String
        let account: AccountID
        let linkedPosition: LogPosition
        /// In microseconds.
        fileprivate let linkedAt: Int64
    }

    private static let columns = """
        identity_id, last_account_id, linked_position, \(PlausibleTime.sql("linked_at")), provider
        """

    private static let pending = Statement(
        "former_emails_pending",
        """
        SELECT \(columns) FROM identities
        WHERE tenant_id = $1 AND account_id IS NULL AND former_email IS NULL AND identity_id > $2
        ORDER BY identity_id LIMIT \(pageMax)
        """)

    private static let signIns = Statement(
        "former_emails_sign_ins",
        """
        SELECT k.n, s.opened_position
        FROM unnest($2::uuid[], $3::bigint[], $4::timestamptz[]) WITH ORDINALITY
            AS k (identity_id, linked, linked_at, n)
        CROSS JOIN LATERAL (
            SELECT opened_position FROM sessions
            WHERE identity_id = k.identity_id AND tenant_id = $1 AND opened_at >= k.linked_at
                AND opened_position > k.linked
            ORDER BY opened_at DESC, opened_position DESC LIMIT \(signInsMax)) s
        ORDER BY k.n, s.opened_position DESC
        """)

    // Decision state is only written under the head's lock.
    private static let lock = Statement(
        "former_emails_lock", "SELECT FROM ledger_head WHERE tenant_id = $1 FOR UPDATE")

    /// Each identity by its last account, whatever the planner thinks of the table: what is to be looked for is
    /// next to nothing when the table is analysed and may be thousands of rows when it is not.
    private static func places(_ columns: KeyValuePairs<String, String>) -> String {
        """
        FROM \(ArrayRows.sql(columns, from: 2)) AS k
        CROSS JOIN LATERAL (
            SELECT ctid FROM identities
            WHERE tenant_id = $1 AND last_account_id = k.account_id
                AND identity_id = k.identity_id AND linked_position = k.linked
            OFFSET 0) place
        WHERE i.ctid = place.ctid AND i.account_id IS NULL
        """
    }

    private static let store = Statement(
        "former_emails_store",
        """
        UPDATE identities i SET former_email = k.digest
        \(places(["identity_id": "uuid", "account_id": "uuid", "linked": "bigint", "digest": "bytea"]))
            AND i.former_email IS NULL
        """)

    private static let forget = Statement(
        "former_emails_forget",
        """
        UPDATE identities i SET former_email = NULL
        \(places(["identity_id": "uuid", "account_id": "uuid", "linked": "bigint"]))
        """)

    /// Looks for the e-mails of the next page of identities that nobody has looked at yet.
    ///
    /// Those that the keys don't open are left as they are, for a process that has the right ones.
    ///
    /// - Parameters:
    ///   - tenant: whose.
    ///   - last: the identity behind which to begin, in the order of their ids.
    ///   - connection: outside of any transaction.
    /// - Returns: the last identity that was looked at; nil when none is behind it.
    /// - Throws: `PostgresError`.
    func complete(
        _ tenant: TenantID, after last: IdentityID?, on connection: Connection
    ) throws(PostgresError) -> IdentityID? {
        let left = try pending(tenant, after: last, on: connection)
        let digests = try digests(of: left, in: tenant, on: connection)
        var opened: [Left] = []
        var stored: [[UInt8]] = []
        for (left, digest) in zip(left, digests) {
            guard let digest else { continue }
            opened.append(left)
            stored.append(digest)
        }
        if !opened.isEmpty {
            let name = Parameter.text(tenant.description)
            _ = try connection.pipeline([
                Call(.begin), Call(Self.lock, [name]),
                Call(Self.store, [name] + Self.columns(opened) + [.byteses(stored)]),
                Call(.commit),
            ])
        }
        return left.count < Self.pageMax ? nil : left.last?.identity
    }

    /// The identities that nobody has looked at yet and whose e-mail is this one; writes nothing.
    ///
    /// - Parameters:
    ///   - email: as searches compare it.
    ///   - tenant: whose.
    ///   - pagesMax: how much is looked at at the most.
    ///   - connection: in a transaction or not.
    /// - Returns: them, with what is known of the e-mail, and whether every identity was looked at and could be.
    /// - Throws: `PostgresError`.
    func notLookedAt(
        with email: String, in tenant: TenantID, pagesMax: Int, on connection: Connection
    ) throws(PostgresError) -> (found: [(left: Left, isVerified: Bool?)], isWhole: Bool) {
        let wanted = key.digests(of: email, in: tenant)
        var found: [(left: Left, isVerified: Bool?)] = []
        var isWhole = true
        var last: IdentityID?
        for _ in 0..<pagesMax {
            let left = try pending(tenant, after: last, on: connection)
            let digests = try digests(of: left, in: tenant, on: connection)
            for (left, digest) in zip(left, digests) {
                guard let digest else {
                    isWhole = false
                    continue
                }
                guard let flag = wanted.firstIndex(of: digest) else { continue }
                found.append((left: left, isVerified: SearchKey.flags[flag]))
            }
            guard left.count == Self.pageMax else { return (found: found, isWhole: isWhole) }
            last = left.last?.identity
        }
        return (found: found, isWhole: false)
    }

    private func pending(
        _ tenant: TenantID, after last: IdentityID?, on connection: Connection
    ) throws(PostgresError) -> [Left] {
        let rows = try connection.query(
            Self.pending, [.text(tenant.description), .uuid(last?.bits ?? 0)])
        var left: [Left] = []
        for row in 0..<rows.rowCount { left.append(try Self.left(rows, row)) }
        return left
    }

    /// Holds every digest against what the log still discloses, in the transaction that is open.
    ///
    /// - Throws: `PostgresError`.
    func check(
        _ tenant: TenantID, _ report: inout VerificationReport, on connection: Connection
    ) throws(PostgresError) {
        for left in try differing(tenant, on: connection).wrong {
            report.add(
                VerificationFinding(
                    tenant: tenant.description, position: left.linkedPosition, check: .identities,
                    text: "former_email of identity \(left.identity) is not what the log discloses")
            )
        }
    }

    /// Takes every digest away that is not what the log discloses, for ``complete(_:after:on:)`` to look for
    /// again.
    ///
    /// - Returns: how many there were.
    /// - Throws: `PostgresError`, what was taken away before is gone; `FormerEmailFault` when another secret
    ///   has made every digest, then none is taken away.
    func reset(_ tenant: TenantID, on connection: Connection) throws -> Int {
        let (wrong, isOfOtherSecret) = try connection.transaction {
            try differing(tenant, on: connection)
        }
        guard !isOfOtherSecret else { throw FormerEmailFault.isOtherSecret(tenant) }
        let name = Parameter.text(tenant.description)
        for start in stride(from: 0, to: wrong.count, by: Self.resetMax) {
            let some = wrong[start..<min(start + Self.resetMax, wrong.count)]
            _ = try connection.pipeline([
                Call(.begin), Call(Self.lock, [name]),
                Call(Self.forget, [name] + Self.columns(Array(some))), Call(.commit),
            ])
        }
        return wrong.count
    }

    /// The identities whose digest is another one, in the order of their ids, and whether that is so of every
    /// digest there is.
    private func differing(
        _ tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> (wrong: [Left], isOfOtherSecret: Bool) {
        var cursor = try RowCursor(
            "former_emails",
            """
            SELECT \(Self.columns), former_email FROM identities
            WHERE tenant_id = \(quoteLiteral(tenant.description)) AND former_email IS NOT NULL
            ORDER BY identity_id
            """, on: connection)
        var differing: [Left] = []
        var rightCount = 0
        var wrongCount = 0
        var isRead = false
        while !isRead {
            var left: [Left] = []
            var stored: [[UInt8]] = []
            while left.count < Self.pageMax, !isRead {
                guard let (rows, row) = try cursor.next(on: connection) else {
                    isRead = true
                    break
                }
                left.append(try Self.left(rows, row))
                stored.append(try rows.bytes(row, 5))
            }
            guard !left.isEmpty else { break }
            let digests = try digests(of: left, in: tenant, on: connection)
            for index in left.indices {
                // What the keys don't open is not known to be wrong.
                guard let digest = digests[index] else { continue }
                let isRight = digest == stored[index]
                if !isRight { differing.append(left[index]) }
                guard !stored[index].isEmpty else { continue }
                if isRight { rightCount += 1 } else { wrongCount += 1 }
            }
        }
        try connection.execute("CLOSE former_emails")
        return (wrong: differing, isOfOtherSecret: rightCount == 0 && wrongCount > 0)
    }

    private static func left(_ rows: QueryResult, _ row: Int) throws(PostgresError) -> Left {
        Left(
            identity: IdentityID(bits: try rows.uuid(row, 0)), provider: try rows.text(row, 4),
            account: AccountID(bits: try rows.uuid(row, 1)),
            linkedPosition: LogPosition(try rows.int8(row, 2)),
            linkedAt: try rows.timestamp(row, 3))
    }

    /// The digest of each e-mail: empty where none is known, nil where the keys don't tell.
    private func digests(
        of left: [Left], in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [[UInt8]?] {
        guard !left.isEmpty else { return [] }
        let rows = try connection.query(
            Self.signIns,
            [
                .text(tenant.description), .uuids(left.map(\.identity.bits)),
                .int8s(left.map(\.linkedPosition.value)), .timestamps(left.map(\.linkedAt)),
            ])
        var positions = Array(repeating: [LogPosition](), count: left.count)
        for row in 0..<rows.rowCount {
            positions[Int(try rows.int8(row, 0)) - 1].append(LogPosition(try rows.int8(row, 1)))
        }
        // Before any sign-in there was the link.
        for index in left.indices { positions[index].append(left[index].linkedPosition) }
        let linked = try LinkedDisclosures.read(
            at: Set(positions.joined()), in: tenant, with: disclosures, on: connection)
        return left.indices.map { index in
            // Two facts that never change, whatever merges come or are taken back: the account that linked
            // it and the last one. What was learned while accounts were one is not given to one that left.
            let own = [left[index].account, linked.accounts[left[index].linkedPosition]]
            return digest(
                at: positions[index].filter { own.contains(linked.accounts[$0]) }, of: linked,
                in: tenant)
        }
    }

    /// The digest of the e-mail that the first of some events discloses that disclose one.
    private func digest(
        at positions: [LogPosition], of linked: LinkedDisclosures, in tenant: TenantID
    ) -> [UInt8]? {
        for position in positions {
            do throws(LogDamage) {
                guard let email = try linked.values(at: position)?.email else { continue }
                return key.digest(of: email, in: tenant)
            } catch {
                if error.lacksKey { return nil }
            }
        }
        return []
    }

    private static func columns(_ left: [Left]) -> [Parameter] {
        [
            .uuids(left.map(\.identity.bits)), .uuids(left.map(\.account.bits)),
            .int8s(left.map(\.linkedPosition.value)),
        ]
    }
}
