import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// The former e-mails of identities that belong to no account, as keyed digests beside the identities.
///
/// The e-mail is the one that the last sign-ins with the identity disclosed, to its last account or the one
/// that linked it, or else the one disclosed with the link. It is computed after the link has ended, so that
/// links and sign-ins cost no more; a later change of the identity clears the digest in the append
/// transaction, and an erasure deletes the row.
struct FormerEmails: Sendable {
    /// The maximum number of identities in a page.
    private static let pageMax = 50
    /// The maximum number of sign-ins of an identity since its link that are read, latest first.
    private static let signInsMax = 10
    /// The maximum number of digests that are cleared in one transaction.
    private static let resetMax = 1_000

    /// The setting with which pages are read in the order of their index.
    ///
    /// The planner has no statistics of digests and expects few to be missing: with a bitmap scan it would
    /// read and sort all of them for each page. Forbidding sorts would be worse, because then all disclosures
    /// of a tenant would be read in index order.
    static let readsInOrder = "enable_bitmapscan = off"

    let key: SearchKey
    let disclosures: DisclosureReader

    /// An identity that belongs to no account, and its last link.
    struct UnlinkedIdentity {
        let identity: IdentityID
        let provider: String
        let account: AccountID
        let linkedPosition: LogPosition
        /// The time of the link in microseconds.
        fileprivate let linkedAt: Int64
    }

    private static let columns = """
        identity_id, last_account_id, linked_position, \(PlausibleTime.sql("linked_at")) AS linked_at, provider
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

    /// Looks up each identity by its last account, whatever the planner's estimate of the table.
    ///
    /// An analyzed table has next to no missing digests, and one that is not may have thousands.
    private static func rowsByKey(_ columns: KeyValuePairs<String, String>) -> String {
        """
        FROM \(ArrayRows.sql(columns, from: 2)) AS k
        CROSS JOIN LATERAL (
            SELECT ctid FROM identities
            WHERE tenant_id = $1 AND last_account_id = k.account_id
                AND identity_id = k.identity_id AND linked_position = k.linked
            OFFSET 0) place
        WHERE i.tenant_id = $1 AND i.ctid = place.ctid AND i.account_id IS NULL
        """
    }

    private static let store = Statement(
        "former_emails_store",
        """
        UPDATE identities i SET former_email = k.digest
        \(rowsByKey(["identity_id": "uuid", "account_id": "uuid", "linked": "bigint", "digest": "bytea"]))
            AND i.former_email IS NULL
        """)

    private static let forget = Statement(
        "former_emails_forget",
        """
        UPDATE identities i SET former_email = NULL
        \(rowsByKey(["identity_id": "uuid", "account_id": "uuid", "linked": "bigint"]))
        """)

    /// Computes the digests of the next page of identities that have none.
    ///
    /// Those whose disclosures the keys can't decrypt are skipped, for a process that has the right keys.
    ///
    /// - Parameters:
    ///   - tenant: the tenant of the identities.
    ///   - last: the identity after which to begin, in the order of their ids.
    ///   - connection: a connection outside any transaction.
    /// - Returns: the last identity of the page; nil when there are no more.
    /// - Throws: `PostgresError`.
    func complete(
        _ tenant: TenantID, after last: IdentityID?, on connection: Connection
    ) throws(PostgresError) -> IdentityID? {
        let unlinked = try pending(tenant, after: last, on: connection)
        let digests = try digests(of: unlinked, in: tenant, on: connection)
        var opened: [UnlinkedIdentity] = []
        var stored: [[UInt8]] = []
        for (unlinked, digest) in zip(unlinked, digests) {
            guard let digest else { continue }
            opened.append(unlinked)
            stored.append(digest)
        }
        if !opened.isEmpty {
            let name = Parameter.text(tenant.description)
            _ = try connection.pipeline([
                Call(.begin), Call(Self.lock, [name]),
                Call(Self.store, [name] + Self.columns(opened) + [.byteArrays(stored)]),
                Call(.commit),
            ])
        }
        return unlinked.count < Self.pageMax ? nil : unlinked.last?.identity
    }

    /// Returns the identities without a digest whose former e-mail is the given one; writes nothing.
    ///
    /// - Parameters:
    ///   - email: the e-mail in the form that searches compare.
    ///   - tenant: the tenant of the identities.
    ///   - pagesMax: the maximum number of pages to read.
    ///   - connection: a connection inside or outside a transaction.
    /// - Returns: the identities, with the flag of the e-mail, and whether every identity was read and could
    ///   be decrypted.
    /// - Throws: `PostgresError`.
    func pendingMatches(
        with email: String, in tenant: TenantID, pagesMax: Int, on connection: Connection
    ) throws(PostgresError) -> (
        found: [(unlinked: UnlinkedIdentity, isVerified: Bool?)], isWhole: Bool
    ) {
        let wanted = key.digests(of: email, in: tenant)
        var found: [(unlinked: UnlinkedIdentity, isVerified: Bool?)] = []
        var isWhole = true
        var last: IdentityID?
        for _ in 0..<pagesMax {
            let unlinked = try pending(tenant, after: last, on: connection)
            let digests = try digests(of: unlinked, in: tenant, on: connection)
            for (unlinked, digest) in zip(unlinked, digests) {
                guard let digest else {
                    isWhole = false
                    continue
                }
                guard let flag = wanted.firstIndex(of: digest) else { continue }
                found.append((unlinked: unlinked, isVerified: SearchKey.flags[flag]))
            }
            guard unlinked.count == Self.pageMax else { return (found: found, isWhole: isWhole) }
            last = unlinked.last?.identity
        }
        return (found: found, isWhole: false)
    }

    private func pending(
        _ tenant: TenantID, after last: IdentityID?, on connection: Connection
    ) throws(PostgresError) -> [UnlinkedIdentity] {
        let rows = try connection.query(
            Self.pending, [.text(tenant.description), .uuid(last?.bits ?? 0)])
        var unlinked: [UnlinkedIdentity] = []
        for row in 0..<rows.rowCount { unlinked.append(try Self.unlinked(rows, row)) }
        return unlinked
    }

    /// Clears every digest that differs from what the log discloses; ``complete(_:after:on:)`` computes it
    /// again.
    ///
    /// - Returns: the number of cleared digests.
    /// - Throws: `PostgresError`, with earlier digests already cleared; `FormerEmailFault` when every digest
    ///   was made with another secret, with none cleared.
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

    /// Returns the identities with a wrong digest, in the order of their ids, and whether every digest is
    /// wrong.
    func differing(
        _ tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> (wrong: [UnlinkedIdentity], isOfOtherSecret: Bool) {
        var cursor = try RowCursor(
            "former_emails",
            """
            SELECT \(Self.columns), former_email FROM identities
            WHERE tenant_id = \(quoteLiteral(tenant.description)) AND former_email IS NOT NULL
            ORDER BY identity_id
            """, on: connection)
        var differing: [UnlinkedIdentity] = []
        var rightCount = 0
        var wrongCount = 0
        var isRead = false
        while !isRead {
            var unlinked: [UnlinkedIdentity] = []
            var stored: [[UInt8]] = []
            while unlinked.count < Self.pageMax, !isRead {
                guard let (rows, row) = try cursor.next(on: connection) else {
                    isRead = true
                    break
                }
                unlinked.append(try Self.unlinked(rows, row))
                stored.append(try rows.bytes(row, rows.column("former_email")))
            }
            guard !unlinked.isEmpty else { break }
            let digests = try digests(of: unlinked, in: tenant, on: connection)
            for index in unlinked.indices {
                // A digest that the keys can't check is not known to be wrong.
                guard let digest = digests[index] else { continue }
                let isRight = digest == stored[index]
                if !isRight { differing.append(unlinked[index]) }
                guard !stored[index].isEmpty else { continue }
                if isRight { rightCount += 1 } else { wrongCount += 1 }
            }
        }
        try connection.execute("CLOSE former_emails")
        return (wrong: differing, isOfOtherSecret: rightCount == 0 && wrongCount > 0)
    }

    private static func unlinked(_ rows: QueryResult, _ row: Int) throws(PostgresError)
        -> UnlinkedIdentity
    {
        UnlinkedIdentity(
            identity: IdentityID(bits: try rows.uuid(row, rows.column("identity_id"))),
            provider: try rows.text(row, rows.column("provider")),
            account: AccountID(bits: try rows.uuid(row, rows.column("last_account_id"))),
            linkedPosition: LogPosition(try rows.int8(row, rows.column("linked_position"))),
            linkedAt: try rows.timestamp(row, rows.column("linked_at")))
    }

    /// Computes the digest of each e-mail: empty without an e-mail, nil when the keys can't decrypt it.
    private func digests(
        of unlinked: [UnlinkedIdentity], in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [[UInt8]?] {
        guard !unlinked.isEmpty else { return [] }
        let rows = try connection.query(
            Self.signIns,
            [
                .text(tenant.description), .uuids(unlinked.map(\.identity.bits)),
                .int8s(unlinked.map(\.linkedPosition.value)), .timestamps(unlinked.map(\.linkedAt)),
            ])
        var positions = Array(repeating: [LogPosition](), count: unlinked.count)
        for row in 0..<rows.rowCount {
            let index = Int(try rows.int8(row, rows.column("n"))) - 1
            positions[index].append(
                LogPosition(try rows.int8(row, rows.column("opened_position"))))
        }
        // The link precedes all sign-ins.
        for index in unlinked.indices { positions[index].append(unlinked[index].linkedPosition) }
        let linked = try LinkedDisclosures.read(
            at: Set(positions.joined()), in: tenant, with: disclosures, on: connection)
        return unlinked.indices.map { index in
            // Two facts that no later merge or unmerge changes: the account that linked the identity, and the
            // last one. E-mails disclosed to another account while they were merged are not used.
            let own = [unlinked[index].account, linked.accounts[unlinked[index].linkedPosition]]
            return digest(
                at: positions[index].filter { own.contains(linked.accounts[$0]) }, of: linked,
                in: tenant)
        }
    }

    /// Returns the digest of the e-mail disclosed by the first of the events that discloses one.
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

    private static func columns(_ unlinked: [UnlinkedIdentity]) -> [Parameter] {
        [
            .uuids(unlinked.map(\.identity.bits)), .uuids(unlinked.map(\.account.bits)),
            .int8s(unlinked.map(\.linkedPosition.value)),
        ]
    }
}
