import Ledger
import LedgerEngine
import Postgres

/// The columns of an account, its key, and one of its links per row.
///
/// Both loads of a batch end with them; an account therefore has as many rows as links.
struct AccountColumns {
    /// The columns for the list of a statement in which `a` is the account, `w` its key and `l` a
    /// link.
    static let selected: SelectList =
        [
            "a.account_id", "a.opened_position", "a.next_seq", "a.last_leaf", "a.last_position",
            "a.attempts", "a.disabled_position", "a.handed_over_position", "a.second_factors",
            "w.wrapping_key", "w.wrapped_key",
        ] + IdentityLoad.Columns.selected("l") + ["l.mac"]

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

    private let id, openedPosition, nextSequence, lastLeaf, lastPosition, attempts: Int
    private let disabledPosition, handedOverPosition, secondFactors: Int
    private let wrappingKey, wrappedKey, linkMAC: Int
    private let link: IdentityLoad.Columns

    /// Finds ``selected`` in the list of a statement.
    init(in list: SelectList) {
        id = list["a.account_id"]
        openedPosition = list["a.opened_position"]
        nextSequence = list["a.next_seq"]
        lastLeaf = list["a.last_leaf"]
        lastPosition = list["a.last_position"]
        attempts = list["a.attempts"]
        disabledPosition = list["a.disabled_position"]
        handedOverPosition = list["a.handed_over_position"]
        secondFactors = list["a.second_factors"]
        wrappingKey = list["w.wrapping_key"]
        wrappedKey = list["w.wrapped_key"]
        linkMAC = list["l.mac"]
        link = IdentityLoad.Columns("l", in: list)
    }

    /// Adds the account data of a row to the batch; ignores a row without an account.
    func read(_ result: QueryResult, _ row: Int, into batch: TenantBatch) throws {
        guard let bits = try result.optionalUUID(row, id) else { return }
        let id = AccountID(bits: bits)
        if batch.loadedSequences[id] == nil { try readAccount(id, result, row, into: batch) }
        try readLink(result, row, of: id, into: batch)
    }

    private func readAccount(
        _ id: AccountID, _ result: QueryResult, _ row: Int, into batch: TenantBatch
    ) throws {
        let sequence = try result.count(row, nextSequence)
        batch.state.ledger.load(
            Account(
                id: id, openedPosition: LogPosition(try result.count(row, openedPosition)),
                nextSequence: sequence, lastLeaf: try result.digest(row, lastLeaf),
                lastPosition: LogPosition(try result.count(row, lastPosition)), links: [],
                disabledPosition: try result.optionalInt8(row, disabledPosition)
                    .map { LogPosition($0) },
                handedOverPosition: try result.optionalInt8(row, handedOverPosition)
                    .map { LogPosition($0) },
                secondFactors: try result.isNull(row, secondFactors)
                    ? []
                    : try result.uuidArray(row, secondFactors).map { FactorID(bits: $0) }))
        batch.loadedSequences[id] = sequence
        if let attempts = try result.optionalBytes(row, attempts) {
            guard let attempts = AttemptList.decode(attempts) else {
                throw BatchFault.damaged("accounts.attempts")
            }
            batch.state.attempts[id] = attempts
        }
        if let wrappingKey = try result.optionalText(row, wrappingKey),
            let wrapped = try result.optionalBytes(row, wrappedKey)
        {
            batch.keys.load(wrapped, wrappingKey: wrappingKey, of: id)
        }
    }

    private func readLink(
        _ result: QueryResult, _ row: Int, of account: AccountID, into batch: TenantBatch
    ) throws {
        guard try link.optionalID(result, row) != nil else { return }
        let (identity, subject) = try link.read(result, row)
        let loaded = Account.Link(
            identity: identity.id, provider: identity.provider, linkedAt: identity.linkedAt,
            position: identity.linkedPosition)
        guard batch.state.ledger.load(loaded, of: account) else { return }
        batch.loadedRows.append(
            LoadedRow(
                content: .identity(identity, named: subject),
                stored: try result.optionalBytes(row, linkMAC)))
        batch.subjects[identity.id] = subject
        if batch.findsLinksBySubject { batch.state.directory[subject] = identity.id }
        batch.state.ledger.load(identity)
    }
}
