import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// The undoing of a merge into an account with a second factor: its notices, its races and its verification.
@Suite struct UnmergeByTwoStoreTests {
    private static let sam = Principal(staff: StaffID(bits: 1), role: .support)
    private static let kim = Principal(staff: StaffID(bits: 2), role: .support)

    /// Ada absorbed Bob, and enrolled a factor then.
    private struct Trial: Sendable {
        let scene: NoticeTests.Scene
        let ada: Caller
        let bob: Caller
        let merge: EventID

        init(_ scene: NoticeTests.Scene) async throws {
            self.scene = scene
            ada = try await scene.signIn("ada@example.com")
            try await scene.link(ada, proof(subject("google", "ada")))
            bob = try await scene.signIn("bob@example.com")
            try await scene.link(bob, proof(subject("apple", "bob")))
            try await scene.unlink(bob, RandomCommands.email)
            merge = try await scene.merge(bob, into: ada)
            var generator = SeededGenerator(seed: 3)
            let enrolled = EnrolFactor(by: ada, &generator)
            _ = try await scene.ledger.submit(.enrolFactor(enrolled)).get()
            _ = try await scene.sent()
        }

        func undo(
            by principal: Principal, _ step: TwoPersonStep
        ) async throws -> Result<Reply, Refusal> {
            try await scene.ledger.submit(
                .unmergeAccounts(
                    UnmergeAccounts(
                        merge: merge, survivor: ada.account, absorbed: bob.account,
                        actor: .principal(principal), reason: "two people",
                        caseReference: "case 8", isPreview: false, step: step)))
        }
    }

    @Test func `one of two confirmations at once undoes, both sides are told, and verify agrees`()
        async throws
    {
        try await NoticeTests().with { scene in
            let trial = try await Trial(scene)
            let asked = try await trial.undo(by: Self.sam, .ask(sha256)).get()
            guard case .unmergeAsked(let digest) = asked else {
                Issue.record("not asked: \(asked)")
                return
            }
            #expect(try await scene.sent() == [])
            let step = TwoPersonStep.confirm(
                TwoPersonStep.Request(asker: Self.sam, digest: digest), sha256)
            async let own = trial.undo(by: Self.sam, step)
            async let again = trial.undo(by: Self.sam, step)
            let refused = try await [own, again]
            #expect(refused.allSatisfy { $0 == .failure(.secondPersonRequired) })
            async let first = trial.undo(by: Self.kim, step)
            async let second = trial.undo(by: Self.kim, step)
            let done = try await [first, second]
            let successes = done.filter { if case .success = $0 { true } else { false } }
            #expect(successes.count == 1, "\(done)")
            #expect(done.contains(.failure(.mergeSuperseded(.notActive))))
            let events = try await scene.ledger.log().map(\.recorded)
            let undone = events.filter { $0.event.name == .accountsUnmerged }
            #expect(undone.count == 1)
            guard case .accountsUnmerged(let fact)? = undone.first?.event else { return }
            #expect(fact.asker == Self.sam && undone.first?.actor == .principal(Self.kim))
            #expect(
                try await scene.sent() == [
                    "ada@example.com merge_undone de -", "bob@example.com merge_undone de -",
                ])
            let database = scene.messages.database
            try await database.fold()
            let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.keyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.holds, "\(report.findings)")
        }
    }
}
