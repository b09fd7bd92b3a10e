import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

/// Unlinks and removals that a second person of support does at once, in the database.
@Suite struct SupportByTwoStoreTests {
    private static let sam = Principal(staff: StaffID(bits: 1), role: .support)
    private static let kim = Principal(staff: StaffID(bits: 2), role: .support)

    private static let policy: TenantPolicy = {
        var policy = SequencerFixture.unlimitedPolicy
        policy.supportNeedsTwo = true
        return policy
    }()

    @Test func `both events name who asked and who confirmed, and verify agrees`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { fixture in
                _ = try await fixture.submit(
                    .setRules(SetRules(Self.policy, condition: .noneRecorded))
                ).get()
                let ada = try await fixture.signIn(subject("apple", "ada"))
                var generator = SeededGenerator(seed: 1)
                let link = LinkProvider(
                    caller: ada, credential: Credential(subject("google", "ada"), digest: .zero),
                    idempotency: nil, newIdentity: generator.id())
                _ = try await fixture.submit(.linkProvider(link)).get()
                let enrolled = EnrolFactor(by: ada, &generator)
                _ = try await fixture.submit(.enrolFactor(enrolled)).get()
                func change(
                    by principal: Principal, _ step: TwoPersonStep
                ) -> SupportChange {
                    SupportChange(
                        .plan, of: ada.account, actor: .principal(principal),
                        reason: "lost phone", caseReference: "7", step: step)
                }
                let commands: [(SupportChange) -> Command.Intent] = [
                    { .planUnlink(PlanUnlink($0, of: link.newIdentity)) },
                    { .planFactorRemoval(PlanFactorRemoval($0, of: enrolled.factor.id)) },
                ]
                for command in commands {
                    let reply = try await fixture.submit(
                        command(change(by: Self.sam, .ask(sha256)))
                    ).get()
                    let digest =
                        PlanUnlink.success(in: reply)?.plan.request
                        ?? PlanFactorRemoval.success(in: reply)?.plan.request
                    let step = TwoPersonStep.confirm(
                        TwoPersonStep.Request(asker: Self.sam, digest: try #require(digest)),
                        sha256)
                    #expect(
                        try await fixture.submit(command(change(by: Self.sam, step)))
                            == .failure(.secondPersonRequired))
                    _ = try await fixture.submit(command(change(by: Self.kim, step))).get()
                }
                let done = try await fixture.log().map(\.recorded).filter {
                    $0.event.supportEffect != nil
                }
                #expect(
                    done.map(\.event.name) == [
                        .providerUnlinked, .secondFactorRemoved, .secondFactorRemoved,
                    ])
                for recorded in done {
                    #expect(recorded.actor == .principal(Self.kim))
                    #expect(recorded.event.supportEffect?.asker == Self.sam)
                }
            }
            try await database.fold()
            let verifier = Verifier(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.holds, "\(report.findings)")
        }
    }
}
