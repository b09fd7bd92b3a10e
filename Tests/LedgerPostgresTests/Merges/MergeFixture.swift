import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerAudit
@testable import LedgerPostgres

/// Ada with Apple and Google, and Bob, possibly the same person, with Facebook and another Google identity.
struct MergeFixture {
    let database: ScratchDatabase
    let sequencer: SequencerFixture
    let ada: Guest
    let bob: Guest

    static let apart = [
        "ada apple ada-a ada@a.example", "ada google ada-g ada@g.example",
        "bob facebook bob-f bob@f.example", "bob google bob-g bob@g.example",
    ]

    static func with(
        isProtected: Bool = false, _ body: @Sendable (MergeFixture) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: isProtected) { sequencer in
                var story = Story(sequencer.sequencer)
                let ada = try await story.signIn("apple", "ada-a", email: "ada@a.example")
                let bob = try await story.signIn("facebook", "bob-f", email: "bob@f.example")
                try await story.link(ada, "google", "ada-g", email: "ada@g.example")
                try await story.link(bob, "google", "bob-g", email: "bob@g.example")
                try await database.fold()
                try await body(
                    MergeFixture(database: database, sequencer: sequencer, ada: ada, bob: bob))
            }
        }
    }

    func story() -> Story { Story(sequencer.sequencer, seed: .random(in: 2...(.max))) }

    func signIn(_ provider: String, _ name: String, email: String? = nil) async throws -> Guest {
        var story = story()
        let guest = try await story.signIn(provider, name, email: email)
        try await database.fold()
        return guest
    }

    static func intent(
        _ absorbed: AccountID, into survivor: AccountID, keeping: [String], agreed: Digest?
    ) -> MergeAccounts {
        MergeAccounts(
            authority: .support(
                .system,
                MergeAccounts.Case(
                    survivor: survivor, absorbed: absorbed, reason: "one person",
                    reference: "case 7")),
            keepsAbsorbed: Set(keeping.map(provider)), agreed: agreed,
            digest: sha256)
    }

    /// Merges Bob's account into Ada's, or one given account into another.
    func merge(
        _ absorbed: AccountID? = nil, into survivor: AccountID? = nil, keeping: [String] = []
    ) async throws -> EventID {
        let absorbed = absorbed ?? bob.account
        let survivor = survivor ?? ada.account
        let planned = try await submit(
            .mergeAccounts(
                Self.intent(absorbed, into: survivor, keeping: keeping, agreed: nil)))
        guard case .mergePlanned(_, let digest) = planned else {
            throw Unexpected(what: "no plan: \(planned)")
        }
        let merged = try await submit(
            .mergeAccounts(
                Self.intent(absorbed, into: survivor, keeping: keeping, agreed: digest)))
        guard case .merged(_, let event?) = merged else {
            throw Unexpected(what: "not merged: \(merged)")
        }
        try await database.fold()
        return event
    }

    func undo(_ merge: EventID) async throws {
        _ = try await submit(
            .unmergeAccounts(
                UnmergeAccounts(
                    merge: merge, survivor: ada.account, absorbed: bob.account, actor: .system,
                    reason: "two people", caseReference: "case 8", isPreview: false)))
        try await database.fold()
    }

    private func submit(_ intent: Command.Intent) async throws -> Reply {
        let command = Command(
            id: CommandID(bits: .random(in: 1...(.max))), tenant: .default,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil), intent: intent)
        return try await sequencer.sequencer.submit(command).get()
    }

    /// Returns the rows of `user_providers`, by owner and provider.
    func links() async throws -> [String] {
        try await database.asSuperuser.texts(
            """
            SELECT concat_ws(' ', CASE user_id WHEN '\(ada.account)' THEN 'ada'
                WHEN '\(bob.account)' THEN 'bob' ELSE user_id::text END,
                provider, provider_id, email)
            FROM user_providers ORDER BY 1
            """)
    }

    func report() async throws -> VerificationReport {
        let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.keyring)
        let report = try await verifier.run()
        await verifier.close()
        return report
    }

    /// Verifies by the first pass and by the second one, row by row.
    func check() async throws {
        try await database.fold()
        let report = try await report()
        #expect(report.holds && !report.isSearched, "\(report.findings)")
    }
}
