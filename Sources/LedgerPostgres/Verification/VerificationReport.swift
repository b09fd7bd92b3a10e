package import Ledger

/// What is verified; each has a count in the report.
package enum VerificationCheck: String, Sendable, CaseIterable {
    /// Positions are 0..n-1 without a gap.
    case positions
    /// The columns of `events` are those of the entries.
    case columns
    /// Every entry is the canonical form of a known event.
    case entries
    /// Every event was appended by a server, from where the log is protected on, and what stands before a
    /// change of the key is what it was then.
    case macs
    /// The pure model takes every event: `seq`, `prev`, `recorded_at` and the rules of each fact.
    case fold
    /// Every account has a way to sign in at the end of each command.
    case links
    /// Disclosures decrypt and are what the entries commit to; only an erasure leaves one out.
    case disclosures
    /// The head is the end of the log.
    case head
    /// Stored hashes are those of the tree over the entries.
    case nodes = "merkle_nodes"
    /// Checkpoints are signed, and their roots are those of the log at their sizes.
    case checkpoints
    case accounts
    case identities
    case sessions
    /// Of erased accounts nothing is left but where their histories begin and end.
    case erasures
    case merges
    /// No event is behind them; with keys, each that is not revoked has been made by a holder of a MAC key.
    case apiKeys = "api_keys"
    /// Checkpoints are inside the log and no projection has stopped.
    case projections
    case userProviders = "user_providers"
    case accountAudit = "account_audit"
    case conflicts
    /// Its positions are 0..n-1 without a gap, as far as its head says; nothing proves its rows.
    case accessLog = "access_log"
}

/// Something that is not as the log says, or a log that is not as it was written.
///
/// Names identifiers and columns; never personal data.
package struct VerificationFinding: Hashable, Sendable, CustomStringConvertible {
    package let tenant: String
    /// The event that it is about, or that the row it is about comes from.
    package let position: LogPosition?
    package let check: VerificationCheck
    package let text: String

    package var description: String {
        let place = position.map { ", position \($0)" } ?? ""
        return "tenant \(tenant)\(place), \(check.rawValue): \(text)"
    }
}

/// A table of a read model that was found to hold exactly what the log says.
package struct EqualTable: Hashable, Sendable {
    package let tenant: TenantID
    /// The read model's name.
    package let projection: String
    /// How many events the table had been folded from.
    package let size: LogPosition
}

/// What a verification checked and what it found.
package struct VerificationReport: Sendable {
    /// The most findings that are kept; all are counted.
    package static let findingsMax = 20
    /// The most tables that are named; all are counted.
    private static let equalTablesMax = 20

    package internal(set) var tenants = 0
    package internal(set) var events: Int64 = 0
    /// How many events or rows each check looked at.
    package internal(set) var counts: [VerificationCheck: Int64] = [:]
    /// How many events the last checkpoint of each tenant covers, together.
    package internal(set) var signedEvents: Int64 = 0
    /// Accounts whose events are all there: `seq` 0 to the last, each naming the one before it, and
    /// decision state naming the last.
    package internal(set) var completeAccounts: Int64 = 0
    /// The tables that hold what the log says, of the first tenants.
    package private(set) var equalTables: [EqualTable] = []
    /// How many such tables there are of all tenants.
    package private(set) var equalTableCount = 0
    /// Digests in entries without a disclosure which no `AccountErased` covers; each is a finding.
    package internal(set) var withheldDisclosures: Int64 = 0
    /// Digests in entries whose disclosures were destroyed with their account.
    package internal(set) var erasedDisclosures: Int64 = 0
    /// Whether keys were there to decrypt disclosures; without them personal columns are not
    /// compared.
    package internal(set) var opensDisclosures = false
    /// Whether there was a key to check with that servers have appended the events.
    package internal(set) var checksMACs = false
    /// Whether something was not as the log says, so that a second pass had to say what.
    package internal(set) var isSearched = false
    /// The first findings, in the order in which they were found.
    package private(set) var findings: [VerificationFinding] = []
    package private(set) var findingCount = 0

    /// Whether everything that was checked is right.
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

/// How far a verification has come.
package struct VerificationProgress: Sendable {
    /// Events between two reports of progress.
    package static let eventsPerReport: Int64 = 100_000

    package let tenant: TenantID
    /// Events of all tenants so far.
    package let events: Int64
    /// Events of all tenants that are to come at least, those so far among them.
    package let total: Int64
}
