import Ledger
import Postgres

/// The e-mails of identities that belong to no account any more, as keyed digests beside the identities.
///
/// The e-mail is the one that the last account's own sign-ins with the identity disclosed last, or else the
/// one that came with the link. It is looked for after the link has ended, so that no link and no sign-in
/// costs more; whatever moves the identity takes the digest away in the append transaction, and an erasure
/// takes the row.
struct FormerEmails: Sendable {
    /// Identities that are looked at together.
    private static let pageMax = 50
    /// Sign-ins of an identity that are looked at, the latest ones.
    private static let signInsMax = 10
    /// Digests that are taken away in one transaction.
    private static let resetMax = 1_000

    let key: SearchKey
    let disclosures: DisclosureReader

    /// An identity that belongs to nobody, and the link that ended last.
    private struct Left {
        let identity: IdentityID
        let account: AccountID
        let linkedPosition: LogPosition
    }

    private static let pending = Statement(
        "former_emails_pending",
        """
        SELECT identity_id, last_account_id, linked_position FROM identities
        WHERE tenant_id = $1 AND account_id IS NULL AND former_email IS NULL
        ORDER BY identity_id LIMIT \(pageMax)
        """)

    private static let signIns = Statement(
        "former_emails_sign_ins",
        """
        SELECT k.n, s.opened_position
        FROM unnest($2::uuid[], $3::uuid[], $4::bigint[]) WITH ORDINALITY
            AS k (identity_id, account_id, linked, n)
        CROSS JOIN LATERAL (
            SELECT opened_position FROM sessions
            WHERE identity_id = k.identity_id AND tenant_id = $1 AND account_id = k.account_id
                AND opened_position > k.linked
            ORDER BY opened_at DESC, opened_position DESC LIMIT \(signInsMax)) s
        ORDER BY k.n, s.opened_position DESC
        """)

    // Decision state is only written under the head's lock.
    private static let lock = Statement(
        "former_emails_lock", "SELECT FROM ledger_head WHERE tenant_id = $1 FOR UPDATE")

    private static let store = Statement(
        "former_emails_store",
        """
        UPDATE identities i SET former_email = k.digest
        FROM unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::bytea[])
            AS k (identity_id, account_id, linked, digest)
        WHERE i.tenant_id = $1 AND i.identity_id = k.identity_id AND i.account_id IS NULL
            AND i.former_email IS NULL AND i.last_account_id = k.account_id
            AND i.linked_position = k.linked
        """)

    private static let forget = Statement(
        "former_emails_forget",
        """
        UPDATE identities i SET former_email = NULL
        FROM unnest($2::uuid[], $3::uuid[], $4::bigint[]) AS k (identity_id, account_id, linked)
        CROSS JOIN LATERAL (
            SELECT ctid FROM identities
            WHERE tenant_id = $1 AND last_account_id = k.account_id
                AND identity_id = k.identity_id AND linked_position = k.linked
            OFFSET 0) place
        WHERE i.ctid = place.ctid AND i.account_id IS NULL
        """)

    /// Looks for the e-mails of identities that nobody has looked at yet.
    ///
    /// - Parameters:
    ///   - tenant: whose.
    ///   - pagesMax: how much is done at the most.
    ///   - connection: outside of any transaction.
    /// - Returns: whether none is left.
    /// - Throws: `PostgresError`; what was found before is kept.
    func complete(
        _ tenant: TenantID, pagesMax: Int, on connection: Connection
    ) throws(PostgresError) -> Bool {
        let name = Parameter.text(tenant.description)
        for _ in 0..<pagesMax {
            let rows = try connection.query(Self.pending, [name])
            var left: [Left] = []
            for row in 0..<rows.rowCount {
                left.append(try Self.left(rows, row))
            }
            guard !left.isEmpty else { return true }
            let digests = try digests(of: left, in: tenant, on: connection)
            _ = try connection.pipeline([
                Call(.begin), Call(Self.lock, [name]),
                Call(Self.store, [name] + Self.columns(left) + [.byteses(digests)]), Call(.commit),
            ])
        }
        return try connection.query(Self.pending, [name]).rowCount == 0
    }

    /// Holds every digest against what the log still discloses, in the transaction that is open.
    ///
    /// - Throws: `PostgresError`.
    func check(
        _ tenant: TenantID, _ report: inout VerificationReport, on connection: Connection
    ) throws(PostgresError) {
        for left in try differing(tenant, on: connection) {
            report.add(
                VerificationFinding(
                    tenant: tenant.description, position: left.linkedPosition, check: .identities,
                    text: "former_email of identity \(left.identity) is not what the log discloses")
            )
        }
    }

    /// Takes every digest away that is not what the log discloses, for ``complete(_:pagesMax:on:)`` to look
    /// for again.
    ///
    /// - Returns: how many there were.
    /// - Throws: `PostgresError`; what was taken away before is gone.
    func reset(_ tenant: TenantID, on connection: Connection) throws -> Int {
        let wrong = try connection.transaction { try differing(tenant, on: connection) }
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

    /// The identities whose digest is another one, in the order of their ids.
    private func differing(
        _ tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [Left] {
        var cursor = try RowCursor(
            "former_emails",
            """
            SELECT identity_id, last_account_id, linked_position, former_email FROM identities
            WHERE tenant_id = \(quoteLiteral(tenant.description)) AND former_email IS NOT NULL
            ORDER BY identity_id
            """, on: connection)
        var differing: [Left] = []
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
                stored.append(try rows.bytes(row, 3))
            }
            guard !left.isEmpty else { break }
            let digests = try digests(of: left, in: tenant, on: connection)
            for index in left.indices where digests[index] != stored[index] {
                differing.append(left[index])
            }
        }
        try connection.execute("CLOSE former_emails")
        return differing
    }

    private static func left(_ rows: QueryResult, _ row: Int) throws(PostgresError) -> Left {
        Left(
            identity: IdentityID(bits: try rows.uuid(row, 0)),
            account: AccountID(bits: try rows.uuid(row, 1)),
            linkedPosition: LogPosition(try rows.int8(row, 2)))
    }

    /// The digest of each e-mail; empty where none is known.
    private func digests(
        of left: [Left], in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [[UInt8]] {
        let rows = try connection.query(
            Self.signIns, [.text(tenant.description)] + Self.columns(left))
        var positions = Array(repeating: [LogPosition](), count: left.count)
        for row in 0..<rows.rowCount {
            positions[Int(try rows.int8(row, 0)) - 1].append(LogPosition(try rows.int8(row, 1)))
        }
        // Before any sign-in there was the link.
        for index in left.indices { positions[index].append(left[index].linkedPosition) }
        let linked = try LinkedDisclosures.read(
            at: Set(positions.joined()), in: tenant, with: disclosures, on: connection)
        return positions.map { own in
            let email = own.lazy.compactMap { (try? linked.values(at: $0))?.email }.first
            return email.map { key.digest(of: $0, in: tenant) } ?? []
        }
    }

    private static func columns(_ left: [Left]) -> [Parameter] {
        [
            .uuids(left.map(\.identity.bits)), .uuids(left.map(\.account.bits)),
            .int8s(left.map(\.linkedPosition.value)),
        ]
    }
}
