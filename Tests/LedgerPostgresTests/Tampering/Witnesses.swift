import Ledger
import LedgerTestSupport
import Postgres
import TransparencyLog

@testable import LedgerPostgres

/// What everybody says of a ledger who could notice something.
struct Witnesses: CustomStringConvertible {
    private enum Verdict: String {
        case yes
        /// Only against what the sealer keeps outside of the database.
        case directory
        /// Only by the sealer's audit of the whole log.
        case audit
        /// Only by `seal --once`, which looks for every log that its directory knows.
        case once = "`seal --once`"
        /// Said, and not counted as a finding.
        case printed
        case no
    }

    private let verify: Verdict
    private let withoutKeys: Verdict
    private let sealer: Verdict
    private let findings: [VerificationFinding]
    private let refusals: [String]

    init(of ledger: PreparedLedger, guardedAt level: AppendOnlyLevel) async throws {
        let isGuarded = try await Self.level(of: ledger) == level
        let records = try Self.records(ledger.copied)
        async let keyed = Self.verify(ledger, SequencerFixture.keyring, records)
        async let plain = Self.verify(ledger, nil, records)
        let (withKeys, without) = try await (keyed, plain)
        findings = withKeys.findings
        verify = withKeys.verdict == .no && !isGuarded ? .printed : withKeys.verdict
        withoutKeys = without.verdict == .no && !isGuarded ? .printed : without.verdict
        let round = try await ledger.copied.sealOnce()
        refusals = (round.refusals.values.map(\.description) + round.faults.values).sorted()
        if !refusals.isEmpty {
            sealer = .yes
        } else if Set(records.keys).isSubset(of: round.logs.map(\.tenant)) {
            sealer = try await ledger.copied.audit() == nil ? .no : .audit
        } else {
            sealer = .once
        }
    }

    /// What `verify` prints of the guards.
    static func level(of ledger: PreparedLedger) async throws -> AppendOnlyLevel {
        try await ledger.database.asRuntime.with { try AppendOnlySurvey($0).guards.level }
    }

    /// What `verify` finds by itself, or else held against what `LEDGER_SEALER_STATE` tells it.
    private static func verify(
        _ ledger: PreparedLedger, _ keyring: WrappingKeyring?, _ records: [TenantID: Checkpoint]
    ) async throws -> (verdict: Verdict, findings: [VerificationFinding]) {
        for (verdict, records) in [(Verdict.yes, [:]), (.directory, records)] {
            var trust = SealTrust()
            trust.records = records
            let verifier = Verifier(
                url: ledger.database.superuserURL, keyring: keyring, trust: trust)
            let report = try await verifier.run()
            await verifier.close()
            if !report.holds { return (verdict, report.findings) }
        }
        return (.no, [])
    }

    private static func records(_ sealing: SealingFixture) throws -> [TenantID: Checkpoint] {
        var records: [TenantID: Checkpoint] = [:]
        for tenant in try sealing.record.signedTenants() {
            records[tenant] = try sealing.record.lastSigned(of: tenant)?.checkpoint
        }
        return records
    }

    /// Every cell of a row but the first.
    func cells(at position: Int64?) -> [String] {
        [
            verify.rawValue, withoutKeys.rawValue, sealer.rawValue,
            findings.isEmpty ? "-" : place(at: position),
        ]
    }

    var description: String {
        (findings.map(\.description) + refusals).joined(separator: "\n")
    }

    /// Where it is found: at its position best, and there by what was signed.
    private func place(at position: Int64?) -> String {
        let exact = findings.filter { $0.position?.value == position && position != nil }
        if let best = exact.first(where: { $0.check == .checkpoints }) ?? exact.first {
            return "`\(best.check.rawValue)`: its position"
        }
        if let position,
            let between = findings.first(where: { Self.range(of: $0)?.contains(position) == true })
        {
            return "`\(between.check.rawValue)`: between two checkpoints"
        }
        guard let first = findings.first else { return "-" }
        let place =
            first.position != nil
            ? "another position" : first.text.contains("row") ? "the row" : "the tenant"
        return "`\(first.check.rawValue)`: \(place)"
    }

    /// The two positions that a finding says it lies between.
    private static func range(of finding: VerificationFinding) -> ClosedRange<Int64>? {
        guard let match = finding.text.firstMatch(of: /between (\d+) and (\d+)/),
            let first = Int64(match.output.1), let last = Int64(match.output.2), first <= last
        else { return nil }
        return first...last
    }
}
