import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// Answers and attempts are stored with the names of the keys of their digests, and found by all of them.
@Suite struct KeyedDigestStoreTests {
    @Test func `an answer and an attempt name their key, and are found after a rotation`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada")
                let old = key(1, "old", of: ada)
                let linked = try await story.submit(link(ada, "ada-g", old)).get()
                let new = IdempotencyKey(
                    scope: key(2, "new", of: ada).scope,
                    fingerprint: key(2, "new", of: ada).fingerprint, key: "new", former: [old])
                let again = try await story.submit(link(ada, "ada-g", new)).get()
                #expect("\(again)" == "\(linked)")
                let stored = try await database.rows("key_id]) FROM idempotency_records")
                #expect(stored == ["old"])
                let uses = try await database.asRuntime.with { connection in
                    try ["old", "new"].map {
                        try AttemptKeyUse.first(of: [$0], in: .default, on: connection)
                    }
                }
                #expect(uses == ["old", nil])
                try await database.asSuperuser.execute("UPDATE accounts SET attempts = NULL")
                let none = try await database.asRuntime.with {
                    try AttemptKeyUse.first(of: ["old"], in: .default, on: $0)
                }
                #expect(none == nil)
            }
        }
    }

    private func key(_ number: UInt8, _ name: String, of guest: Guest) -> IdempotencyKey {
        let bytes = digest(Array(repeating: number, count: 32))
        return IdempotencyKey(
            scope: IdempotencyScope(account: guest.account, digest: bytes), fingerprint: bytes,
            key: name)
    }

    private func link(
        _ guest: Guest, _ name: String, _ key: IdempotencyKey
    ) -> Command.Intent {
        let identity = subject("google", name)
        return .linkProvider(
            LinkProvider(
                caller: guest.caller, credential: Credential(identity, digest: .zero),
                idempotency: key, newIdentity: IdentityID(bits: 77)))
    }
}
