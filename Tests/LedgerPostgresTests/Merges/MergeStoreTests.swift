import Ledger
import LedgerAudit
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// Merges through the real store: the resulting rows of every table, which `verify` and rebuilds confirm.
@Suite struct MergeStoreTests {
    @Test func `rows move with the links, and return with their disclosures`() async throws {
        try await MergeFixture.with { fixture in
            #expect(try await fixture.links() == MergeFixture.apart)
            let merge = try await fixture.merge()
            #expect(
                try await fixture.links() == [
                    "ada apple ada-a ada@a.example", "ada facebook bob-f bob@f.example",
                    "ada google ada-g ada@g.example",
                ])
            // While the accounts are merged, a sign-in discloses a newer address to the survivor.
            _ = try await fixture.signIn("facebook", "bob-f", email: "new@f.example")
            try await fixture.check()
            #expect(try await fixture.links().contains("ada facebook bob-f new@f.example"))
            try await fixture.undo(merge)
            #expect(try await fixture.links() == MergeFixture.apart)
            let again = try await fixture.signIn("google", "bob-g")
            #expect(again.account == fixture.bob.account)
            try await fixture.check()
        }
    }

    @Test func `rebuilds fold merges as projectors do`() async throws {
        try await MergeFixture.with { fixture in
            let merge = try await fixture.merge(keeping: ["google"])
            _ = try await fixture.signIn("google", "bob-g", email: "newer@g.example")
            try await fixture.undo(merge)
            _ = try await fixture.merge()
            try await fixture.database.fold()
            let rebuild = Rebuild(
                url: fixture.database.runtimeURL, keyring: SequencerFixture.keyring)
            for projection in ProjectionName.allCases {
                for report in try await rebuild.run(projection) {
                    #expect(report.differences == 0, "\(projection): \(report)")
                }
            }
            await rebuild.close()
            try await fixture.check()
        }
    }

    @Test func `the audit view shows both accounts a merge, and an unlink after it`()
        async throws
    {
        try await MergeFixture.with { fixture in
            _ = try await fixture.merge()
            var story = fixture.story()
            try await story.unlink(fixture.ada, "facebook")
            try await fixture.database.fold()
            let rows = try await fixture.database.rows(
                """
                type, CASE account_id WHEN '\(fixture.ada.account)' THEN 'ada' ELSE 'bob' END,
                    providers_before::text, providers_after::text]) FROM account_audit
                WHERE type IN ('AccountsMerged', 'ProviderUnlinked') ORDER BY position, account_id
                """)
            #expect(
                Set(rows) == [
                    "AccountsMerged|ada|{apple,google}|{apple,facebook,google}",
                    "AccountsMerged|bob|{facebook,google}|{}",
                    "ProviderUnlinked|ada|{apple,facebook,google}|{apple,google}",
                ])
            try await fixture.check()
        }
    }

    @Test func `an erasure removes everything of both accounts`() async throws {
        try await MergeFixture.with { fixture in
            _ = try await fixture.merge()
            var story = fixture.story()
            let reply = try await story.erase(fixture.bob.account).get()
            guard case .erased(_, isNew: true, let covering) = reply else {
                Issue.record("not erased: \(reply)")
                return
            }
            #expect(covering == [fixture.bob.account, fixture.ada.account])
            try await fixture.database.fold()
            try await fixture.database.destroy()
            for text in [
                "ada-a", "ada-g", "bob-f", "bob-g", "ada@a.example", "bob@f.example", "one person",
            ] {
                #expect(try await fixture.database.tables(holding: text) == [])
            }
            #expect(try await fixture.database.rows("survivor_id::text]) FROM merges").isEmpty)
            try await fixture.check()
            let anew = try await fixture.signIn("facebook", "bob-f")
            #expect(![fixture.ada.account, fixture.bob.account].contains(anew.account))
        }
    }

    @Test func `an erasure preview covers every account that was merged`()
        async throws
    {
        try await MergeFixture.with { fixture in
            let session = Postgres.Session(
                url: fixture.database.runtimeURL, applicationName: "test")
            func preview(_ guest: Guest) async throws -> ErasurePreview.Rows? {
                let found = try await session.run { connection in
                    try ErasurePreview.read(guest.account, in: .default, on: connection)
                }
                guard case .living(let rows) = found else { return nil }
                return rows
            }
            let apart = try #require(try await preview(fixture.bob))
            #expect(
                apart.covering == [fixture.bob.account] && apart.identities == 2
                    && apart.liveSessions == 1)
            _ = try await fixture.merge()
            let merged = try #require(try await preview(fixture.bob))
            #expect(Set(merged.covering) == [fixture.ada.account, fixture.bob.account])
            #expect(merged.survivor == fixture.ada.account)
            // The preview on the command line is what the decision compares.
            let agreed = merged.plan(of: fixture.bob.account)
            var story = fixture.story()
            let planned = try await story.erase(fixture.bob.account, agreement: .preview).get()
            guard case .erasurePlanned(let plan, let losses) = planned else {
                throw Unexpected(what: "no plan: \(planned)")
            }
            #expect(plan.bytes == agreed.bytes)
            #expect(losses.events == merged.events && losses.linkedIdentities == 3)
            // Bob's other identity stayed behind, and his session has ended.
            #expect(merged.identities == 4 && merged.liveSessions == 1)
            await session.close()
        }
    }

    @Test(arguments: [
        "UPDATE merges SET moved = '{}'", "DELETE FROM merges",
        "UPDATE accounts SET merged_into = NULL WHERE merged_into IS NOT NULL",
        "UPDATE accounts SET merged_into = account_id WHERE merged_into IS NULL",
    ])
    func `verify finds differences from the log`(damage: String) async throws {
        try await MergeFixture.with { fixture in
            _ = try await fixture.merge()
            try await fixture.check()
            try await fixture.database.asSuperuser.execute(damage)
            #expect(!(try await fixture.report()).holds)
        }
    }

    @Test func `a key has the same answer in every process, and an attempt counts in each`()
        async throws
    {
        var policy = SequencerFixture.unlimitedPolicy
        policy.linkBudget = Budget(limit: 5, windowSeconds: 3600)
        try await MergeFixture.with { [policy] fixture in
            try await SequencerFixture.with(fixture.database, policy: policy) { first in
                try await SequencerFixture.with(fixture.database, policy: policy) { other in
                    let key = IdempotencyKey(
                        scope: IdempotencyScope(account: fixture.ada.account, digest: .zero),
                        fingerprint: .zero)
                    func submit(
                        _ subject: Subject?, token: Int = 0, agreed: Digest? = nil,
                        key: IdempotencyKey? = nil, on sequencer: SequencerFixture
                    ) async throws -> Result<Reply, Refusal> {
                        let credential = Credential(
                            provider: provider("google"),
                            digest: digest(Array(repeating: UInt8(token), count: 32)),
                            check: subject.map { .success(proof($0)) } ?? .failure(.invalid))
                        let intent = MergeAccounts(
                            authority: .accountHolder(fixture.ada.caller, credential),
                            keepsAbsorbed: [], agreed: agreed, digest: sha256, idempotency: key)
                        return try await sequencer.sequencer.submit(
                            Command(
                                id: CommandID(bits: .random(in: 1...(.max))), tenant: .default,
                                origin: Command.Origin(
                                    request: nil, clientIP: Story.clientIP, userAgent: nil),
                                intent: .mergeAccounts(intent)))
                    }
                    let bob = subject("google", "bob-g")
                    guard
                        case .success(.mergePlanned(_, let digest)) = try await submit(
                            bob, on: other)
                    else {
                        Issue.record("no plan")
                        return
                    }
                    let merged = try await submit(
                        bob, agreed: digest, key: key, on: first)
                    guard case .success(.merged(_, .some)) = merged else {
                        Issue.record("not merged: \(merged)")
                        return
                    }
                    #expect(try await submit(bob, agreed: digest, key: key, on: other) == merged)
                    // The link of the fixture and the merge are two of five.
                    for (token, sequencer) in [first, other, first].enumerated() {
                        #expect(
                            try await submit(nil, token: token, on: sequencer)
                                == .failure(.invalidProviderToken))
                    }
                    guard case .failure(.rateLimited) = try await submit(nil, token: 9, on: other)
                    else {
                        Issue.record("the sixth attempt is not limited")
                        return
                    }
                }
            }
            try await fixture.check()
        }
    }

    @Test func `of overlapping merges from two processes one is complete`() async throws {
        try await MergeFixture.with { fixture in
            try await SequencerFixture.with(fixture.database) { other in
                for round in 0..<25 {
                    var story = fixture.story()
                    let guests = [
                        try await story.signIn("apple", "a\(round)"),
                        try await story.signIn("google", "g\(round)"),
                        try await story.signIn("facebook", "f\(round)"),
                    ]
                    // Each of three accounts tries to absorb the next one.
                    let outcomes = await withTaskGroup(of: Bool.self) { group in
                        for (index, guest) in guests.enumerated() {
                            let sequencer =
                                index == 1 ? other.sequencer : fixture.sequencer.sequencer
                            let absorbed = guests[(index + 1) % guests.count].account
                            group.addTask {
                                await merges(absorbed, into: guest.account, on: sequencer)
                            }
                        }
                        return await group.reduce(into: [Bool]()) { $0.append($1) }
                    }
                    #expect(outcomes.contains(true), "round \(round)")
                }
                #expect(other.reportedFaults + fixture.sequencer.reportedFaults == [])
            }
            try await fixture.check()
        }
    }

    @Test func `a merge beside an unlink of a moved identity leaves a way to sign in`() async throws
    {
        try await MergeFixture.with { fixture in
            try await SequencerFixture.with(fixture.database) { other in
                for round in 0..<25 {
                    var story = fixture.story()
                    let survivor = try await story.signIn("apple", "a\(round)")
                    let absorbed = try await story.signIn("facebook", "f\(round)")
                    try await story.link(absorbed, "google", "g\(round)")
                    var concurrent = Story(other.sequencer, seed: UInt64(round) + 100)
                    let unlinking = concurrent
                    async let merged = merges(
                        absorbed.account, into: survivor.account, on: fixture.sequencer.sequencer)
                    async let unlinked: Result<Reply, Refusal> = {
                        var story = unlinking
                        return try await story.unlink(absorbed, "google")
                    }()
                    let isUnlinked = (try? await unlinked.get()) != nil
                    let isMerged = await merged
                    #expect(isMerged || isUnlinked, "round \(round): one of them wins")
                    concurrent = unlinking
                    let owner = try await concurrent.signIn("facebook", "f\(round)").account
                    #expect(owner == (isMerged ? survivor : absorbed).account)
                }
                #expect(other.reportedFaults + fixture.sequencer.reportedFaults == [])
            }
            try await fixture.check()
        }
    }
}

/// Plans a merge and confirms the plan; returns whether it was executed as planned.
private func merges(
    _ absorbed: AccountID, into survivor: AccountID, on sequencer: Sequencer
) async -> Bool {
    func submit(agreed: Digest?) async -> Reply? {
        let command = Command(
            id: CommandID(bits: .random(in: 1...(.max))), tenant: .default,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
            intent: .mergeAccounts(
                MergeFixture.intent(absorbed, into: survivor, keeping: [], agreed: agreed)))
        return try? await sequencer.submit(command).get()
    }
    guard case .mergePlanned(_, let digest) = await submit(agreed: nil),
        case .merged = await submit(agreed: digest)
    else { return false }
    return true
}
