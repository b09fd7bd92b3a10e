import Ledger
import LedgerEngine
import Postgres

/// The contents of the tables beside the log, stored or expected: multisets of row hashes.
///
/// Where a row's columns become known at different events, its parts are summed separately.
struct RowSums: Equatable, Sendable {
    /// `account_id`, `opened_position`; also of erased accounts, which have them in `erasures`.
    var accountsOpened = RowMultiset()
    /// `account_id` and all columns that each event of the account changes; also of erased accounts.
    var accountStates = RowMultiset()
    /// `account_id` and `legal_holds` of the accounts that have any.
    var holds = RowMultiset()
    /// `account_id` and `merged_into` of the absorbed accounts.
    var absorbed = RowMultiset()
    /// `account_id` and `disabled_position` of the disabled accounts.
    var disabled = RowMultiset()
    /// `account_id` and `handed_over_position` of the accounts that were handed over.
    var handedOver = RowMultiset()
    /// `account_id` and `second_factors` of the accounts that have any.
    var secondFactors = RowMultiset()
    /// All columns with an event behind them.
    var factors = RowMultiset()
    var merges = RowMultiset()
    var rules = RowMultiset()
    /// All columns but the digest and its key, which no event has.
    var addresses = RowMultiset()
    var names = RowMultiset()
    /// `identity_id` and `version`.
    var credentials = RowMultiset()
    /// `account_id`, `position`, `erased_at`.
    var erasures = RowMultiset()
    var identities = RowMultiset()
    /// All columns but `ended_position`.
    var sessionsOpened = RowMultiset()
    /// `session_id` and `ended_position` of the sessions that have one.
    var sessionsEnded = RowMultiset()
    /// Each live table of a read model.
    var projections: [ProjectionTable: RowMultiset] = [:]
}

/// Computes the hashes of rows, both those that a table holds and those that the log gives.
///
/// Both are computed from the same representation of a row, so that every byte of every column with an event
/// behind it is compared. Personal columns are included as digests, and only when there are keys.
struct RowSummer {
    let key: RowHashKey
    let isPersonal: Bool
    private var image = RowImage()

    init(key: RowHashKey, isPersonal: Bool) {
        self.key = key
        self.isPersonal = isPersonal
    }

    // MARK: Expected rows

    mutating func open(_ account: AccountID, at position: LogPosition, _ sums: inout RowSums) {
        image.clear()
        image.uuid(account.bits)
        image.int8(position.value)
        sums.accountsOpened.add(image.hash(key))
    }

    mutating func add(_ account: Account, _ sums: inout RowSums) {
        image.clear()
        image.uuid(account.id.bits)
        image.int8(account.nextSequence)
        image.bytes(account.lastLeaf.bytes)
        image.int8(account.lastPosition.value)
        sums.accountStates.add(image.hash(key))
        if let survivor = account.mergedInto {
            image.clear()
            image.uuid(account.id.bits)
            image.uuid(survivor.bits)
            sums.absorbed.add(image.hash(key))
        }
        add(account.disabledPosition, of: account.id, &sums.disabled)
        add(account.handedOverPosition, of: account.id, &sums.handedOver)
        if !account.secondFactors.isEmpty {
            image.clear()
            image.uuid(account.id.bits)
            image.textArray(account.secondFactors.map(\.description))
            sums.secondFactors.add(image.hash(key))
        }
        guard !account.holds.isEmpty else { return }
        image.clear()
        image.uuid(account.id.bits)
        image.textArray(account.holds.map(\.description))
        sums.holds.add(image.hash(key))
    }

    private mutating func add(
        _ position: LogPosition?, of account: AccountID, _ sum: inout RowMultiset
    ) {
        guard let position else { return }
        image.clear()
        image.uuid(account.bits)
        image.int8(position.value)
        sum.add(image.hash(key))
    }

    mutating func add(_ merge: Merge, _ sums: inout RowSums) {
        image.clear()
        image.uuid(merge.id.bits)
        image.int8(merge.position.value)
        image.uuid(merge.survivor.bits)
        image.uuid(merge.absorbed.bits)
        for identities in [merge.moved, merge.dropped, merge.replaced] {
            image.textArray(identities.map(\.description))
        }
        sums.merges.add(image.hash(key))
    }

    mutating func add(_ rules: RulesSet, _ sums: inout RowSums) {
        image.clear()
        image.int8(rules.rulesVersion)
        image.text(rules.body)
        sums.rules.add(image.hash(key))
    }

    mutating func add(_ address: HeldAddress, _ sums: inout RowSums) {
        image.clear()
        image.uuid(address.id.bits)
        image.text(address.kind.rawValue)
        image.uuid(address.account.bits)
        image.int8(address.position.value)
        if let former = address.formerOf { image.uuid(former.bits) } else { image.null() }
        add(address.keptUntil)
        image.int8(address.isClaimed ? 1 : 0)
        sums.addresses.add(image.hash(key))
    }

    mutating func add(_ name: HeldName, id: UInt64?, _ sums: inout RowSums) {
        image.clear()
        image.text(name.source.description)
        image.uuid(name.account.bits)
        image.int8(name.position.value)
        if isPersonal { image.digest(id) }
        sums.names.add(image.hash(key))
    }

    mutating func addPassword(
        of identity: IdentityID, version: LogPosition, _ sums: inout RowSums
    ) {
        image.clear()
        image.uuid(identity.bits)
        image.int8(version.value)
        sums.credentials.add(image.hash(key))
    }

    mutating func add(_ factor: HeldFactor, _ sums: inout RowSums) {
        image.clear()
        image.uuid(factor.id.bits)
        image.uuid(factor.account.bits)
        image.text(factor.kind.rawValue)
        image.int8(factor.position.value)
        image.int8(factor.usedCodes)
        add(factor.removalDue)
        sums.factors.add(image.hash(key))
    }

    private mutating func add(_ time: Timestamp?) {
        if let time { image.timestamp(time.microseconds) } else { image.null() }
    }

    mutating func erase(_ account: AccountID, _ recorded: RecordedEvent, _ sums: inout RowSums) {
        image.clear()
        image.uuid(account.bits)
        image.int8(recorded.position.value)
        image.timestamp(recorded.recordedAt.microseconds)
        sums.erasures.add(image.hash(key))
    }

    mutating func add(_ identity: Identity, providerID: UInt64?, _ sums: inout RowSums) {
        image.clear()
        image.uuid(identity.id.bits)
        image.text(identity.provider.description)
        image.uuid(identity.account?.bits)
        image.uuid(identity.lastAccount.bits)
        image.timestamp(identity.linkedAt.microseconds)
        image.int8(identity.linkedPosition.value)
        add(identity.unlinkDue)
        if isPersonal { image.digest(providerID) }
        sums.identities.add(image.hash(key))
    }

    /// Hashes the row of `user_providers` of an identity; returns nil when it belongs to no account.
    mutating func hashLink(
        _ identity: Identity, providerID: UInt64?, email: UInt64?
    ) -> UInt64? {
        guard let account = identity.account else { return nil }
        image.clear()
        image.uuid(account.bits)
        image.uuid(identity.id.bits)
        image.text(identity.provider.description)
        image.timestamp(identity.linkedAt.microseconds)
        image.int8(identity.linkedPosition.value)
        if isPersonal {
            image.digest(providerID)
            image.digest(email)
        }
        return image.hash(key)
    }

    mutating func add(_ session: Ledger.Session, _ sums: inout RowSums) {
        sums.sessionsOpened.add(hash(session))
    }

    /// Replaces a row.
    mutating func replace(
        _ former: Ledger.Session, by session: Ledger.Session, _ sums: inout RowSums
    ) {
        sums.sessionsOpened.remove(hash(former))
        sums.sessionsOpened.add(hash(session))
    }

    private mutating func hash(_ session: Ledger.Session) -> UInt64 {
        image.clear()
        image.uuid(session.id.bits)
        image.uuid(session.account.bits)
        image.uuid(session.identity.bits)
        image.timestamp(session.authenticatedAt.microseconds)
        image.text(session.methods.description)
        image.timestamp(session.openedAt.microseconds)
        image.int8(session.openedPosition.value)
        return image.hash(key)
    }

    mutating func end(_ session: SessionID, at position: LogPosition, _ sums: inout RowSums) {
        image.clear()
        image.uuid(session.bits)
        image.int8(position.value)
        sums.sessionsEnded.add(image.hash(key))
    }

    mutating func hash(_ row: AuditRow) -> UInt64 {
        image.clear()
        image.uuid(row.account.bits)
        image.int8(row.sequence)
        image.int8(row.position.value)
        image.uuid(row.event.bits)
        image.timestamp(row.recordedAt.microseconds)
        image.text(row.type)
        image.text(row.outcome)
        image.text(row.reason)
        image.text(row.actor)
        image.text(row.provider)
        image.uuid(row.identity?.bits)
        image.uuid(row.session?.bits)
        image.uuid(row.request?.bits)
        image.textArray(row.providersBefore)
        image.textArray(row.providersAfter)
        if isPersonal { image.text(row.clientIP) }
        return image.hash(key)
    }

    mutating func hash(_ conflict: Conflict) -> UInt64 {
        image.clear()
        for mark in [conflict.first, conflict.last] { add(mark) }
        image.int8(conflict.attempts)
        image.text(conflict.reason.rawValue)
        image.text(conflict.provider.description)
        image.uuid(conflict.identity?.bits)
        image.uuid(conflict.caller.bits)
        image.uuid(conflict.callerNow.bits)
        image.textArray(conflict.callers.map(\.description))
        image.uuid(conflict.holder?.bits)
        image.uuid(conflict.holderNow?.bits)
        if let resolution = conflict.resolution {
            add(resolution.mark)
            image.text(resolution.type)
            image.text(resolution.actor)
        } else {
            for _ in 0..<5 { image.null() }
        }
        return image.hash(key)
    }

    private mutating func add(_ mark: Conflict.Mark) {
        image.int8(mark.position.value)
        image.uuid(mark.event.bits)
        image.timestamp(mark.recordedAt.microseconds)
    }

    // MARK: Stored rows

    /// Hashes some columns of a copied row.
    mutating func hash(_ row: CopyRow, _ columns: Range<Int>, digests: Range<Int>? = nil) -> UInt64
    {
        image.clear()
        image.add(row, columns)
        for column in digests ?? 0..<0 { image.addDigest(of: row, column, key) }
        return image.hash(key)
    }

    /// Hashes two columns of a copied row.
    mutating func hash(_ row: CopyRow, _ first: Int, _ second: Int) -> UInt64 {
        image.clear()
        image.add(row, first..<first + 1)
        image.add(row, second..<second + 1)
        return image.hash(key)
    }
}
