import Ledger
import LedgerTestSupport
import Postgres
import TransparencyLog

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

extension Witnesses {
    /// The results of commands that use every row, and of requests with an API key.
    static func commands(
        to ledger: PreparedLedger
    ) async throws -> (verdict: Verdict, faults: [String]) {
        try await SequencerFixture.with(
            ledger.database, isProtected: true, opensLedger: false
        ) { fixture in
            var probe = ServerProbe(ledger, fixture)
            try await probe.signIn(
                "apple ada", "google ada-g", "facebook bob", "google carol", "facebook dave",
                "google eve", "google frank", "apple thief", "facebook thief")
            for guest in ledger.guests { try await probe.refresh(guest) }
            try await probe.planMerge(of: ledger.bob, into: ledger.carol)
            try await probe.useKeys()
            let touched = probe.faults
            probe.faults = []
            try await probe.signIn("google stranger")
            let verdict: Verdict =
                if try await probe.isRefusedElsewhere() {
                    .all
                } else if (touched + probe.faults).contains(where: { $0 != .internalFailure }) {
                    .unavailable
                } else if !probe.faults.isEmpty {
                    .tenant
                } else {
                    touched.isEmpty ? .no : .row
                }
            return (verdict, Set(fixture.reportedFaults).sorted())
        }
    }

    /// The results of folding, from the checkpoints on with later events, and from position 0.
    static func projector(of ledger: PreparedLedger) async throws -> Verdict {
        try await ledger.database.fold()
        let projector = ledger.database.projector()
        if try await projector.status().contains(where: { $0.failure != nil }) { return .yes }
        let rebuild = Rebuild(
            url: ledger.database.runtimeURL, keyring: SequencerFixture.strictKeyring)
        var isFound = false
        do {
            for projection in ProjectionName.allCases {
                for report in try await rebuild.run(projection) {
                    isFound = isFound || report.fault != nil || report.differences > 0
                }
            }
        } catch let error as PostgresError where error.state?.rawValue == "42501" {
            // The guards refuse to drop anything that has changed.
            isFound = true
        }
        await rebuild.close()
        return isFound ? .rebuild : .no
    }

    /// Whether reading all events reports a damaged event, or ends before it.
    static func readers(of ledger: PreparedLedger) async throws -> Verdict {
        switch (try await stopsPages(of: ledger), try await stopsWebhooks(of: ledger)) {
        case (true, true): .yes
        case (true, false): .pages
        case (false, true): .webhooks
        case (false, false): .no
        }
    }

    private static func stopsPages(of ledger: PreparedLedger) async throws -> Bool {
        let reads = EventReads(
            url: ledger.database.runtimeURL, keyring: SequencerFixture.strictKeyring
        ) { _ in }
        let isStopped: Bool
        do {
            let page = try await reads.events(
                matching: EventQuery(limit: 100), in: .default, isDisclosing: true)
            isStopped = page.hasMore || page.elements.contains { $0.damage != nil }
        } catch LedgerFault.internalFailure {
            isStopped = true
        }
        await reads.close()
        return isStopped
    }

    private static func stopsWebhooks(of ledger: PreparedLedger) async throws -> Bool {
        let store = PostgresDispatcherStore(
            url: ledger.database.runtimeURL, keyring: SequencerFixture.strictKeyring,
            leaseSeconds: 10)
        let endpoint = LeasedWebhook(
            tenant: .default, id: WebhookID(bits: 1), lease: EntityID(bits: 1))
        let first = try await store.poll(
            at: endpoint, from: LogPosition(0), limit: 100, types: [])
        // If a page ends at a gap, the next one begins with it.
        let next = try await store.poll(
            at: endpoint, from: LogPosition(Int64(first.page.count)), limit: 100, types: [])
        await store.close()
        let isDamaged = first.page.contains { event in
            guard case .failure = event else { return false }
            return true
        }
        return isDamaged || first.isGap || next.isGap
    }

    /// Whether a bundle of the whole log is refused, or is not one of the log's own keys.
    static func bundle(of ledger: PreparedLedger, _ trust: SealTrust) async throws -> Verdict {
        let exporter = Exporter(url: ledger.database.superuserURL, keyring: nil)
        var verdict = Verdict.yes
        do {
            let basis = try await exporter.basis(of: .default, since: nil)
            _ = try await exporter.all(in: .default, basis: basis) { _ in }
            let note = try SignedNote(parsing: basis.note)
            let isKnown = (try? Checkpoint.open(note, trust.recordKeys[.default] ?? [])) != nil
            verdict = isKnown ? .no : .key
        } catch is ExportFailure {
            // No bundle is made.
        }
        await exporter.close()
        return verdict
    }
}

/// Sends commands and requests to the servers of a ledger, and records their failures.
private struct ServerProbe {
    private let ledger: PreparedLedger
    private let fixture: SequencerFixture
    private var story: Story
    var faults: [LedgerFault] = []

    init(_ ledger: PreparedLedger, _ fixture: SequencerFixture) {
        self.ledger = ledger
        self.fixture = fixture
        story = Story(fixture.sequencer, seed: 3)
    }

    mutating func signIn(_ identities: String...) async throws {
        for identity in identities {
            let words = identity.split(separator: " ").map(String.init)
            do {
                _ = try await story.signIn(words[0], words[1])
            } catch let fault as LedgerFault {
                faults.append(fault)
            }
        }
    }

    /// Sends a refresh token that is not the session's.
    mutating func refresh(_ guest: Guest) async throws {
        let intent = RefreshSession(
            session: guest.caller.session, presented: digest(Array(repeating: 1, count: 32)),
            successor: digest(Array(repeating: 2, count: 32)), sealedSuccessor: [3])
        try await submit(.refreshSession(intent))
    }

    /// Sends a request of support that appends nothing.
    mutating func planMerge(of absorbed: Guest, into survivor: Guest) async throws {
        let intent = MergeFixture.intent(
            absorbed.account, into: survivor.account, keeping: [], agreed: nil)
        try await submit(.mergeAccounts(intent))
    }

    /// Sends a request with each API key of the ledger.
    mutating func useKeys() async throws {
        let ids = try await ledger.database.rows("key_id::text]) FROM api_keys")
        let gate = AccessGate(
            url: ledger.database.runtimeURL, macs: SequencerFixture.strictKeyring.macs
        ) { _ in }
        let running = Task { await gate.run() }
        for id in ids.compactMap({ APIKeyID($0) }) {
            do throws(LedgerFault) {
                _ = try await gate.key(id, in: .default)
            } catch {
                faults.append(error)
            }
        }
        gate.close()
        await running.value
    }

    /// Whether sign-ins to another tenant are refused.
    func isRefusedElsewhere() async throws -> Bool {
        var story = Story(fixture.sequencer, tenant: PreparedLedger.acme, seed: 4)
        do {
            _ = try await story.signIn("apple", "zoe")
        } catch is LedgerFault {
            return true
        } catch is Refusal {
            // The tenant is gone.
        }
        return false
    }

    private mutating func submit(_ intent: Command.Intent) async throws {
        do {
            _ = try await story.submit(intent)
        } catch let fault as LedgerFault {
            faults.append(fault)
        }
    }
}
