package import Ledger

/// The checks of a verification; the report has a count for each.
package enum VerificationCheck: String, Sendable, CaseIterable {
    /// Positions are 0..n-1 without a gap.
    case positions
    /// The columns of `events` match the entries.
    case columns
    /// Every entry is the canonical form of a known event.
    case entries
    /// From the start of its protection, every event was appended by a server, and the events before a change
    /// of the key are unchanged since.
    case macs
    /// The pure model accepts every event: `seq`, `prev`, `recorded_at` and the rules of each fact.
    case fold
    /// Every account has a way to sign in at the end of each command.
    case links
    /// Disclosures decrypt and match what the entries commit to; only an erasure removes one.
    case disclosures
    /// The head is the end of the log.
    case head
    /// Stored hashes match the tree over the entries.
    case nodes = "merkle_nodes"
    /// Checkpoints are signed, and their roots match the log at their sizes.
    case checkpoints
    case accounts
    case identities
    case sessions
    /// Nothing is left of erased accounts but where their histories begin and end.
    case erasures
    case merges
    case rules
    case addresses
    case names
    /// Every password that the log names has a row, and no other one.
    case credentials
    /// Every second factor and set of recovery codes that the log names has a row, and no other one.
    case factors
    /// No event records them; with keys, each was made by a holder of a MAC key.
    case erasureRequests = "erasure_requests"
    /// No event records them; with keys, each one that is not revoked was made by a holder of a MAC key.
    case apiKeys = "api_keys"
    /// Checkpoints are inside the log and no projection has stopped.
    case projections
    case userProviders = "user_providers"
    case accountAudit = "account_audit"
    case conflicts
    /// Its positions are 0..n-1 without a gap up to its head; nothing proves the rows.
    case accessLog = "access_log"
}

/// A difference from the log, or a log that differs from what was written.
///
/// Contains identifiers and columns; never personal data.
package struct VerificationFinding: Hashable, Sendable, CustomStringConvertible {
    package let tenant: String
    /// The event that it concerns, or from which the row comes.
    package let position: LogPosition?
    package let check: VerificationCheck
    package let text: String

    package var description: String {
        let location = position.map { ", position \($0)" } ?? ""
        return "tenant \(tenant)\(location), \(check.rawValue): \(text)"
    }
}

/// A table of a read model that holds exactly what the log gives.
package struct EqualTable: Hashable, Sendable {
    package let tenant: TenantID
    /// The read model's name.
    package let projection: String
    /// The number of events that the table had been folded from.
    package let size: LogPosition
}

/// The result of a verification.
package struct VerificationReport: Sendable {
    /// The maximum number of findings that are kept; all are counted.
    package static let findingsMax = 20
    /// The maximum number of tables that are listed; all are counted.
    private static let equalTablesMax = 20

    package internal(set) var tenants = 0
    package internal(set) var events: Int64 = 0
    /// The number of events or rows that each check covered.
    package internal(set) var counts: [VerificationCheck: Int64] = [:]
    /// The sum of the sizes of each tenant's last checkpoint.
    package internal(set) var signedEvents: Int64 = 0
    /// The number of accounts with a complete history: `seq` 0 to the last, each with the hash of the one
    /// before it, and decision state naming the last.
    package internal(set) var completeAccounts: Int64 = 0
    /// The tables of the first tenants that match the log.
    package private(set) var equalTables: [EqualTable] = []
    /// The number of such tables over all tenants.
    package private(set) var equalTableCount = 0
    /// The number of digests without a disclosure that no `AccountErased` covers; each is a finding.
    package internal(set) var withheldDisclosures: Int64 = 0
    /// The number of digests whose disclosures were destroyed with their account.
    package internal(set) var erasedDisclosures: Int64 = 0
    /// Whether keys were available to decrypt disclosures; without them personal columns are not compared.
    package internal(set) var opensDisclosures = false
    /// Whether a key was available to check that servers have appended the events.
    package internal(set) var checksMACs = false
    /// Whether a difference required a second pass to locate it.
    package internal(set) var isSearched = false
    /// The first findings, in the order of discovery.
    package private(set) var findings: [VerificationFinding] = []
    package private(set) var findingCount = 0

    /// Whether all checks passed.
    package var holds: Bool { findingCount == 0 }

    mutating func add(_ finding: VerificationFinding) {
        findingCount += 1
        if findings.count < Self.findingsMax { findings.append(finding) }
    }

    mutating func add(_ table: EqualTable) {
        equalTableCount += 1
        if equalTables.count < Self.equalTablesMax { equalTables.append(table) }
    }

    mutating func count(_ check: VerificationCheck, _ number: Int64 = 1) {
        counts[check, default: 0] += number
    }
}

/// The progress of a verification.
package struct VerificationProgress: Sendable {
    /// The number of events between two reports of progress.
    package static let eventsPerReport: Int64 = 100_000

    package let tenant: TenantID
    /// The number of events processed, over all tenants.
    package let events: Int64
    /// The minimum total of events, over all tenants.
    package let total: Int64
}
