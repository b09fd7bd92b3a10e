package import Ledger

/// What the routes of auditors, support and administrators work with.
package struct AuditServices: Sendable {
    /// Knows the API keys.
    package let keys: any APIKeyDirectory
    /// Remembers who looked at what.
    package let accesses: any AccessLog
    /// Replays the past of accounts.
    package let histories: any HistoryReader

    /// Collects the services.
    package init(
        keys: any APIKeyDirectory, accesses: any AccessLog, histories: any HistoryReader
    ) {
        self.keys = keys
        self.accesses = accesses
        self.histories = histories
    }
}
