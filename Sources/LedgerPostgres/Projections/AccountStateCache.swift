import Ledger
import LedgerEngine
import Synchronization

/// The states of accounts in tables of `account_audit`, as this process last wrote them.
///
/// The states of a table are valid only while its checkpoint is the one that this process wrote, which
/// reading it under the lock shows. Bounded: entries that were not used recently are evicted.
final class AccountStateCache: Sendable {
    /// The maximum number of accounts in each of the two generations.
    private static let generationMax = 16_384

    /// A checkpoint as it was written: another write, even to the same position, has another time.
    struct Marker: Hashable, Sendable {
        let position: LogPosition
        let writtenAt: Int64
    }

    private struct Partition: Hashable {
        let tenant: TenantID
        let table: ProjectionTable
    }

    /// A table's key in the cache, renumbered whenever its cached states become invalid.
    private struct Key: Hashable {
        let number: Int
        let account: AccountID
    }

    private struct State {
        var partitions: [Partition: (number: Int, marker: Marker)] = [:]
        var numberCount = 0
        var recent: [Key: AccountAuditFold.HistoryState] = [:]
        var older: [Key: AccountAuditFold.HistoryState] = [:]

        mutating func keep(_ historyState: AccountAuditFold.HistoryState, for key: Key) {
            if recent.count >= AccountStateCache.generationMax {
                older = recent
                recent = [:]
            }
            recent[key] = historyState
        }
    }

    private let state = Mutex(State())

    /// Returns the cached states of accounts, with the checkpoint for which they are valid.
    func known(
        _ accounts: some Collection<AccountID>, of tenant: TenantID, in table: ProjectionTable
    ) -> (marker: Marker?, historyStates: [AccountID: AccountAuditFold.HistoryState]) {
        state.withLock { state in
            guard let partition = state.partitions[Partition(tenant: tenant, table: table)] else {
                return (marker: nil, historyStates: [:])
            }
            var historyStates: [AccountID: AccountAuditFold.HistoryState] = [:]
            for account in accounts {
                let key = Key(number: partition.number, account: account)
                if let historyState = state.recent[key] ?? state.older[key] {
                    historyStates[account] = historyState
                }
            }
            return (marker: partition.marker, historyStates: historyStates)
        }
    }

    /// Caches the last rows of a commit that moved a checkpoint from one marker to another.
    func take(
        _ rows: [AuditRow], of tenant: TenantID, in table: ProjectionTable, from: Marker?,
        to: Marker
    ) {
        state.withLock { state in
            let partition = Partition(tenant: tenant, table: table)
            let number: Int
            if let known = state.partitions[partition], known.marker == from {
                number = known.number
            } else {
                state.numberCount += 1
                number = state.numberCount
            }
            state.partitions[partition] = (number: number, marker: to)
            for row in rows {
                let links = row.providersAfter.map {
                    AccountAuditFold.Link(identity: nil, provider: $0)
                }
                state.keep(
                    AccountAuditFold.HistoryState(nextSequence: row.sequence + 1, links: links),
                    for: Key(number: number, account: row.account))
            }
        }
    }
}
