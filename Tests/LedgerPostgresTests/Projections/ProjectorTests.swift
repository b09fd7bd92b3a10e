import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Synchronization
import Testing

/// The read models that the projector derives from a real sequencer's log.
@Suite struct ProjectorTests {
    @Test func `links, unlinks and e-mails reach user_providers`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada", email: "ada@example.com")
                try await story.link(ada, "google", "ada-g", email: "g@example.com")
                try await database.fold()
                #expect(
                    try await database.userProviders() == [
                        "apple|ada|ada@example.com", "google|ada-g|g@example.com",
                    ])
                _ = try await story.signIn("apple", "ada", email: "new@example.com")
                try await story.unlink(ada, "google")
                try await database.fold()
                #expect(try await database.userProviders() == ["apple|ada|new@example.com"])
                _ = try await story.signIn("apple", "ada")
                try await database.fold()
                #expect(try await database.userProviders() == ["apple|ada|new@example.com"])
            }
        }
    }

    @Test func `a relink to another account moves the row and keeps the identity`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada")
                try await story.link(ada, "google", "shared", email: "old@example.com")
                try await database.fold()
                let before = try await database.rows(
                    "identity_id::text]) FROM user_providers WHERE provider = 'google'")
                let bob = try await story.signIn("apple", "bob")
                try await story.unlink(ada, "google")
                try await story.link(bob, "google", "shared")
                try await database.fold()
                #expect(
                    try await database.rows(
                        "user_id::text, coalesce(email, '-')]) FROM user_providers "
                            + "WHERE provider = 'google'") == ["\(bob.account)|-"])
                let after = try await database.rows(
                    "identity_id::text]) FROM user_providers WHERE provider = 'google'")
                #expect(after == before)
            }
        }
    }

    @Test func `a conflict is in both histories, the caller's address only in one`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada")
                let bob = try await story.signIn("google", "bob")
                try await story.link(bob, "apple", "ada")
                try await database.fold()
                let rows = try await database.rows(
                    """
                    account_id::text, account_seq::text, outcome, reason, provider,
                    coalesce(client_ip, '-'), providers_before::text, providers_after::text])
                    FROM account_audit WHERE type = 'ConflictRejected' ORDER BY account_id = \
                    '\(ada.account)'
                    """)
                #expect(
                    rows == [
                        "\(bob.account)|3|refused|held_by_other|apple|\(Story.clientIP)|"
                            + "{google}|{google}",
                        "\(ada.account)|3|refused|held_by_other|apple|-|{apple}|{apple}",
                    ])
            }
        }
    }

    @Test func `a provider is removed with its last identity and not before`() async throws {
        var policy = SequencerFixture.unlimitedPolicy
        policy.severalPerProvider = true
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, policy: policy) { fixture in
                var story = Story(fixture.sequencer)
                let first = try await story.signIn("google", "first")
                try await story.link(first, "apple", "ada")
                // The session of the unlinked identity would end with it.
                let ada = try await story.signIn("apple", "ada")
                try await story.link(ada, "google", "second")
                try await database.fold()
                let identities = try await database.rows(
                    """
                    identity_id::text]) FROM user_providers WHERE provider = 'google'
                    ORDER BY linked_position
                    """)
                for identity in identities {
                    _ = try await story.unlink(
                        ada, "google", identity: identity
                    ).get()
                    try await database.fold()
                }
                let rows = try await database.rows(
                    """
                    type, providers_before::text, providers_after::text]) FROM account_audit
                    WHERE type LIKE 'Provider%' ORDER BY account_seq
                    """)
                #expect(
                    rows == [
                        "ProviderLinked|{}|{google}",
                        "ProviderLinked|{google}|{google,apple}",
                        "ProviderLinked|{google,apple}|{google,apple}",
                        "ProviderUnlinked|{google,apple}|{apple,google}",
                        "ProviderUnlinked|{apple,google}|{apple}",
                    ])
            }
        }
    }

    @Test func `a destroyed key folds to nulls and stops no projection`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada", email: "ada@example.com")
                try await database.asSuperuser.execute("DELETE FROM account_keys")
                try await database.fold()
                #expect(
                    try await database.rows(
                        "provider, coalesce(provider_id, '-'), coalesce(email, '-')]) "
                            + "FROM user_providers") == ["apple|-|-"])
                #expect(try await database.projector().status().allSatisfy { $0.failure == nil })
            }
        }
    }

    @Test func `a wake-up is enough, and the advance is reported`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let advances = Mutex<[ProjectionAdvance]>([])
                let projector = database.projector(onAdvance: { advance in
                    advances.withLock { $0.append(advance) }
                })
                let running = Task { await projector.run() }
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada")
                projector.wake()
                try await eventually("both projections have advanced to 4") {
                    let reached = advances.withLock { $0.filter { $0.position == LogPosition(4) } }
                    return Set(reached.map(\.projection)) == Set(ProjectionName.allCases)
                }
                #expect(
                    try await projector.status().allSatisfy { $0.lag == 0 && $0.secondsBehind == 0 }
                )
                #expect(projector.isAlive())
                running.cancel()
                await running.value
            }
        }
    }
}
