package import Ledger

/// What the routes of auditors, support and administrators work with.
package struct AuditServices: Sendable {
    /// Knows the API keys.
    package let keys: any APIKeyDirectory
    /// Remembers who looked at what.
    package let accesses: any AccessLog

    /// Collects the services.
    package init(keys: any APIKeyDirectory, accesses: any AccessLog) {
        self.keys = keys
        self.accesses = accesses
    }
}
