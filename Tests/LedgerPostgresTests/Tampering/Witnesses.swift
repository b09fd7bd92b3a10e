import Ledger
import LedgerTestSupport
import Postgres
import TransparencyLog

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// The results of all checks of a ledger.
struct Witnesses: CustomStringConvertible {
    /// The content of a cell of the table.
    enum Verdict: String {
        case yes
        /// Only with the sealer's records outside the database.
        case directory
        /// Only by the sealer's audit of the whole log.
        case audit
        /// Only by `seal --once`, which checks every log in its directory.
        case once = "`seal --once`"
        /// Only requests that use the row are refused.
        case row
        /// Everything that appends to the tenant is refused.
        case tenant
        /// Other tenants are refused, too.
        case all
        /// Refused as if the database were unavailable.
        case unavailable = "503"
        /// Only by a rebuild of the read models.
        case rebuild = "`rebuild`"
        /// Only by a page of events, or the event stream.
        case pages
        /// Only by a webhook.
        case webhooks
        /// Only with the log's keys from another source.
        case key = "`--vkey`"
        case no
    }

    private let verify: Verdict
    private let withoutKeys: Verdict
    private let sealer: Verdict
    private let bundle: Verdict
    private let commands: Verdict
    private let readers: Verdict
    private let projector: Verdict
    private let isGuarded: Bool
    private let findings: [VerificationFinding]
    private let complaints: [String]

    /// Runs all checks, those that write at the end.
    init(of ledger: PreparedLedger) async throws {
        isGuarded = try await Self.level(of: ledger) >= .triggers
        let trust = try Self.trust(in: ledger.copied)
        async let keyed = Self.verify(ledger, SequencerFixture.strictKeyring, trust)
        async let plain = Self.verify(ledger, nil, trust)
        let (withKeys, without) = try await (keyed, plain)
        findings = withKeys.findings
        verify = isGuarded ? withKeys.verdict : .yes
        withoutKeys = isGuarded ? without.verdict : .yes
        bundle = try await Self.bundle(of: ledger, trust)
        readers = try await Self.readers(of: ledger)
        let round = try await ledger.copied.sealOnce()
        let refusals = (round.refusals.values.map(\.description) + round.faults.values).sorted()
        if !refusals.isEmpty {
            sealer = .yes
        } else if Set(trust.records.keys).isSubset(of: round.logs.map(\.tenant)) {
            sealer = try await ledger.copied.audit() == nil ? .no : .audit
        } else {
            sealer = .once
        }
        let served = try await Self.commands(to: ledger)
        commands = served.verdict
        complaints = refusals + served.faults
        projector = try await Self.projector(of: ledger)
    }

    /// The guards as printed by `verify`.
    static func level(of ledger: PreparedLedger) async throws -> AppendOnlyLevel {
        try await ledger.database.asRuntime.with { try AppendOnlySurvey($0).guards.level }
    }

    /// The findings of `verify`, without or with `LEDGER_SEALER_STATE`.
    private static func verify(
        _ ledger: PreparedLedger, _ keyring: WrappingKeyring?, _ trust: SealTrust
    ) async throws -> (verdict: Verdict, findings: [VerificationFinding]) {
        for (verdict, trust) in [(Verdict.yes, SealTrust()), (.directory, trust)] {
            let verifier = Verifier(
                url: ledger.database.superuserURL, keyring: keyring, trust: trust)
            let report = try await verifier.run()
            await verifier.close()
            if !report.holds { return (verdict, report.findings) }
        }
        return (.no, [])
    }

    /// The last signature of each log in the sealer's directory, as with `LEDGER_SEALER_STATE`.
    private static func trust(in sealing: SealingFixture) throws -> SealTrust {
        var trust = SealTrust()
        for tenant in try sealing.record.signedTenants() {
            trust.records[tenant] = try sealing.record.lastSigned(of: tenant)?.checkpoint
            trust.recordKeys[tenant] =
                try sealing.record.logState(of: tenant, mayBegin: false).verifiers
        }
        return trust
    }

    /// Returns every cell of a row except the first two.
    func cells(at position: Int64?) -> [String] {
        verdicts.map(\.rawValue) + [location(at: position)]
    }

    /// Whether the case is undetected.
    var areSilent: Bool { verdicts.allSatisfy { $0 == .no } }

    private var verdicts: [Verdict] {
        [verify, withoutKeys, sealer, bundle, commands, projector, readers]
    }

    var description: String {
        (findings.map(\.description) + complaints).joined(separator: "\n")
    }

    /// Returns the place of the finding, preferably at its position and by the checkpoints.
    private func location(at position: Int64?) -> String {
        guard isGuarded else { return "the guards" }
        let exact = findings.filter { $0.position?.value == position && position != nil }
        if let best = exact.first(where: { $0.check == .checkpoints }) ?? exact.first {
            return "`\(best.check.rawValue)`: its position"
        }
        if let position,
            let between = findings.first(where: { Self.range(of: $0)?.contains(position) == true })
        {
            return "`\(between.check.rawValue)`: between two checkpoints"
        }
        guard let first = findings.first else { return areSilent ? "undetected" : "-" }
        let location =
            first.position != nil
            ? "another position" : first.text.contains("row") ? "the row" : "the tenant"
        return "`\(first.check.rawValue)`: \(location)"
    }

    /// Returns the range of positions that a finding names.
    private static func range(of finding: VerificationFinding) -> ClosedRange<Int64>? {
        guard let match = finding.text.firstMatch(of: /between (\d+) and (\d+)/),
            let first = Int64(match.output.1), let last = Int64(match.output.2), first <= last
        else { return nil }
        return first...last
    }
}
