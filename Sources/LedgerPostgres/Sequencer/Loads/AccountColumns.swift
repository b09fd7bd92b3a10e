import Ledger
import LedgerEngine
import Postgres

/// The columns of an account, its key, and one of its links per row.
///
/// Both loads of a batch end with them; an account therefore has as many rows as links.
struct AccountColumns {
    /// The SQL of the columns, for a statement in which `a` is the account, `w` its key and `l` a
    /// link.
    static let selected = """
        a.account_id, a.opened_position, a.next_seq, a.last_leaf, a.last_position, a.attempts,
        w.wrapping_key, w.wrapped_key, l.identity_id, l.provider, l.provider_id, l.linked_at,
        l.linked_position, l.account_id, l.mac
        """

    /// Joins key and links to an account `a` of the tenant `k.tenant_id`, each by its own lookup.
    static let joined = """
        LEFT JOIN LATERAL (
            SELECT * FROM account_keys
            WHERE tenant_id = k.tenant_id AND account_id = a.account_id
            OFFSET 0) w ON true
        LEFT JOIN LATERAL (
            SELECT * FROM identities
            WHERE tenant_id IS NOT DISTINCT FROM k.tenant_id AND last_account_id = a.account_id
                AND account_id IS NOT NULL
            OFFSET 0) l ON true
        """

    private let result: QueryResult
    private let first: Int

    /// - Parameters:
    ///   - result: The rows.
    ///   - first: The index of the first of these columns.
    init(_ result: QueryResult, from first: Int) {
        self.result = result
        self.first = first
    }

    /// Adds the account data of a row to the batch; ignores a row without an account.
    func read(_ row: Int, into batch: TenantBatch) throws {
        guard let bits = try result.optionalUUID(row, first) else { return }
        let id = AccountID(bits: bits)
        if batch.loadedSequences[id] == nil { try readAccount(id, row, into: batch) }
        try readLink(row, of: id, into: batch)
    }

    private func readAccount(_ id: AccountID, _ row: Int, into batch: TenantBatch) throws {
        let sequence = try result.count(row, first + 2)
        batch.state.ledger.load(
            Account(
                id: id, openedPosition: LogPosition(try result.count(row, first + 1)),
                nextSequence: sequence, lastLeaf: try result.digest(row, first + 3),
                lastPosition: LogPosition(try result.count(row, first + 4)), links: []))
        batch.loadedSequences[id] = sequence
        if let attempts = try result.optionalBytes(row, first + 5) {
            guard let attempts = AttemptList.decode(attempts) else {
                throw BatchFault.damaged("accounts.attempts")
            }
            batch.state.attempts[id] = attempts
        }
        if let wrappingKey = try result.optionalText(row, first + 6),
            let wrapped = try result.optionalBytes(row, first + 7)
        {
            batch.keys.load(wrapped, wrappingKey: wrappingKey, of: id)
        }
    }

    private func readLink(_ row: Int, of account: AccountID, into batch: TenantBatch) throws {
        guard let bits = try result.optionalUUID(row, first + 8) else { return }
        let provider = try result.provider(row, first + 9)
        let link = Account.Link(
            identity: IdentityID(bits: bits), provider: provider,
            linkedAt: Timestamp(microseconds: try result.timestamp(row, first + 11)),
            position: LogPosition(try result.count(row, first + 12)))
        guard batch.state.ledger.load(link, of: account) else { return }
        let subject = try result.subject(row, first + 10, at: provider)
        let identity = Identity(
            id: link.identity, provider: provider,
            account: AccountID(bits: try result.uuid(row, first + 13)), lastAccount: account,
            linkedAt: link.linkedAt, linkedPosition: link.position)
        batch.loadedRows.append(
            LoadedRow(
                content: .identity(identity, named: subject),
                stored: try result.optionalBytes(row, first + 14)))
        batch.subjects[link.identity] = subject
        batch.state.ledger.load(identity)
    }
}
