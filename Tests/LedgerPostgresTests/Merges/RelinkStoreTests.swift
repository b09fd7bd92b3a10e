import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// Relinking through the real store: the resulting rows of every table, which `verify` and rebuilds confirm.
@Suite struct RelinkStoreTests {
    @Test func `the read model has the identity again as it was linked`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            // A later address, which the identity had last and its link did not disclose.
            _ = try await fixture.signIn("google", "ada-g", email: "newer@g.example")
            let identity = try await fixture.identityID("ada-g")
            _ = try await story.unlink(fixture.ada, "google").get()
            try await fixture.check()
            #expect(
                try await fixture.links() == MergeFixture.apart.filter { !$0.contains("ada-g") })
            _ = try await fixture.relink(identity, to: fixture.ada).get()
            #expect(try await fixture.links() == MergeFixture.apart)
            let rows = try await fixture.database.rows(
                "type, reason, identity_id::text]) FROM account_audit ORDER BY position DESC LIMIT 1"
            )
            #expect(rows == ["ProviderLinked|relink|\(identity)"])
            #expect(
                try await fixture.signIn("google", "ada-g").account == fixture.ada.account)
            try await fixture.check()
            let rebuild = Rebuild(
                url: fixture.database.runtimeURL, keyring: SequencerFixture.keyring)
            for projection in ProjectionName.allCases {
                for report in try await rebuild.run(projection) {
                    #expect(report.differences == 0, "\(projection): \(report)")
                }
            }
            await rebuild.close()
        }
    }

    @Test func `the e-mail of the sign-up returns with the identity that opened the account`()
        async throws
    {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            let identity = try await fixture.identityID("ada-a")
            _ = try await story.unlink(fixture.ada, "apple").get()
            _ = try await fixture.relink(identity, to: fixture.ada).get()
            #expect(try await fixture.links() == MergeFixture.apart)
            try await fixture.check()
        }
    }

    @Test
    func `a link that a merge moved and the survivor unlinked returns to the survivor`()
        async throws
    {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            _ = try await fixture.merge()
            let identity = try await fixture.identityID("bob-f")
            _ = try await story.unlink(fixture.ada, "facebook").get()
            #expect(
                try await fixture.relink(identity, to: fixture.bob)
                    == .failure(.accountMerged(into: fixture.ada.account)))
            _ = try await fixture.relink(identity, to: fixture.ada).get()
            #expect(try await fixture.links().contains("ada facebook bob-f bob@f.example"))
            try await fixture.check()
        }
    }

    @Test func `if the link's disclosures are destroyed, the refusal says so`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            let identity = try await fixture.identityID("ada-g")
            _ = try await story.unlink(fixture.ada, "google").get()
            try await fixture.database.asSuperuser.execute(
                """
                SET session_replication_role = replica;
                DELETE FROM account_keys WHERE account_id = '\(fixture.ada.account)';
                DELETE FROM disclosures WHERE account_id = '\(fixture.ada.account)';
                """)
            #expect(
                try await fixture.relink(identity, to: fixture.ada)
                    == .failure(.relinkRefused(.disclosuresGone)))
        }
    }

    @Test(arguments: [
        "provider_id = 'thief'", "linked_at = linked_at - interval '1 day'", "mac = NULL",
    ])
    func `a changed identity is not relinked`(change: String) async throws {
        try await MergeFixture.with(isProtected: true) { fixture in
            var story = fixture.story()
            let identity = try await fixture.identityID("ada-g")
            _ = try await story.unlink(fixture.ada, "google").get()
            try await fixture.database.asRuntime.execute(
                "UPDATE identities SET \(change) WHERE identity_id = '\(identity)'")
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await fixture.relink(identity, to: fixture.ada)
            }
            #expect(fixture.sequencer.reportedFaults.contains { $0.contains("identities.mac") })
        }
    }

    @Test func `an erasure removes the disclosures of a relinking`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            let identity = try await fixture.identityID("ada-g")
            _ = try await story.unlink(fixture.ada, "google").get()
            _ = try await fixture.relink(identity, to: fixture.ada).get()
            _ = try await story.erase(fixture.ada.account).get()
            try await fixture.database.fold()
            try await fixture.database.destroy()
            for text in ["ada-g", "ada@g.example", "by mistake"] {
                #expect(try await fixture.database.tables(holding: text) == [])
            }
            #expect(
                try await fixture.relink(identity, to: fixture.ada) == .failure(.accountErased))
            #expect(
                try await fixture.relink(identity, to: fixture.bob)
                    == .failure(.relinkRefused(.notLinkedHereLast)))
            try await fixture.check()
        }
    }

    @Test func `relinking beside any move of the same identity leaves one owner`() async throws {
        try await MergeFixture.with { fixture in
            try await SequencerFixture.with(fixture.database) { other in
                for round in 0..<60 {
                    var story = fixture.story()
                    let guest = try await story.signIn("apple", "a\(round)")
                    let rival = try await story.signIn("facebook", "f\(round)")
                    _ = try await story.link(guest, "google", "g\(round)").get()
                    let identity = try await fixture.identityID("g\(round)")
                    _ = try await story.unlink(guest, "google").get()
                    let rivals = Story(other.sequencer, seed: UInt64(round) + 1_000)
                    async let relinked = fixture.relink(identity, to: guest)
                    async let moved: Bool = {
                        var story = rivals
                        switch round % 4 {
                        case 0:
                            return (try? await story.link(rival, "google", "g\(round)").get())
                                != nil
                        case 1:
                            let opened = try await story.signIn("google", "g\(round)")
                            return opened.account != guest.account
                        case 2:
                            return (try? await story.link(guest, "google", "x\(round)").get())
                                != nil
                        default: return (try? await story.erase(guest.account).get()) != nil
                        }
                    }()
                    let isRelinked = (try? await relinked.get()) != nil
                    let isMoved = try await moved
                    if round % 4 < 3 {
                        #expect(isRelinked != isMoved, "round \(round): one of them wins")
                    } else {
                        #expect(isMoved, "round \(round): an erasure takes all")
                    }
                    let owner = try await story.signIn("google", "g\(round)").account
                    if round % 4 != 2 {
                        #expect(
                            (owner == guest.account) == (isRelinked && round % 4 != 3),
                            "round \(round)")
                    }
                }
                #expect(other.reportedFaults + fixture.sequencer.reportedFaults == [])
            }
            try await fixture.check()
        }
    }
}

extension MergeFixture {
    /// Returns the identity of a unique subject.
    func identityID(_ name: String) async throws -> IdentityID {
        let rows = try await database.rows(
            "identity_id::text]) FROM identities WHERE provider_id = \(quoteLiteral(name))")
        guard let identity = rows.first.flatMap({ IdentityID($0) }), rows.count == 1 else {
            throw Unexpected(what: "\(rows.count) identities \(name)")
        }
        return identity
    }

    /// Relinks as the service does: reads the link's disclosures, and submits the command.
    func relink(
        _ identity: IdentityID, to guest: Guest
    ) async throws -> Result<Reply, Refusal> {
        let reads = EventReads(url: database.runtimeURL, keyring: SequencerFixture.keyring) {
            Issue.record("\($0)")
        }
        let former = try await reads.formerLink(of: identity, to: guest.account, in: .default)
        await reads.close()
        let result = try await sequencer.sequencer.submit(
            Command(
                id: CommandID(bits: .random(in: 1...(.max))), tenant: .default,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: .relinkProvider(
                    RelinkProvider(
                        account: guest.account, identity: identity, former: former,
                        actor: .system, reason: "by mistake", caseReference: "case 9",
                        isPreview: false))))
        try await database.fold()
        return result
    }
}
