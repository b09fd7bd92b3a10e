import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres
import TransparencyLog

/// Finds the first event that no server has appended, and contradictions of the roots that the log states.
struct MACCheck {
    let protection: LogProtection?
    private var roots: StatedRoots
    private var tree = CompactRange()
    /// Whether a forged event was found; only the first is reported.
    private var hasForgery = false

    /// Creates a check, which does nothing without key positions.
    init(_ protection: LogProtection?) {
        self.protection = protection
        roots = StatedRoots(protection)
    }

    /// Checks the next event; counts it if a key authenticates it.
    mutating func take(
        _ row: EventRow, _ report: inout VerificationReport
    ) -> [(position: LogPosition, text: String)] {
        guard let protection else { return [] }
        var found: [(position: LogPosition, text: String)] = []
        do throws(LogDamage) {
            if try protection.check(row.mac, at: row.position, leaf: LogDigest.leaf(row.entry)) {
                report.count(.macs)
            }
        } catch {
            if !hasForgery { found.append((error.position, error.fault)) }
            hasForgery = true
        }
        // After a gap no root can be right.
        guard row.position.value == tree.size else { return found }
        tree.append(.leaf(row.entry))
        if let other = roots.difference(at: tree) {
            found.append(
                (
                    LogPosition(roots.agreed),
                    "the entries between \(roots.agreed) and \(other.size - 1) are not those of which the change"
                        + " of the MAC key at position \(other.stated) states the root"
                ))
        }
        return found
    }
}

extension TenantVerification {
    /// Checks that a server has appended the event of a row.
    mutating func checkMAC(_ row: EventRow) {
        for (position, text) in macs.take(row, &report) { add(.macs, position, text) }
    }
}
