import Cryptography
import Encodings
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerAPI

/// Requests that a server of the former release has answered are repeated after the upgrade.
///
/// That release stored plain SHA-256 as digests, which are looked up for a day.
@Suite struct FormerDigestTests {
    /// The times of the repetition, in hours after the upgrade, on both sides of the end of the day.
    static let hours = [0, 23, 24, 25]

    /// SHA-256 of `POST`, `/v1/auth/link/google` and the key `link-1`, with zero bytes in between.
    private static let scope = "7de6e8da29b3badd237a49051ae00b706ce48549361e42bd39fe1fa9283a037c"
    /// SHA-256 of the body.
    private static let fingerprint =
        "8249d4ddc03ee7b3c35f7fd3adc50bcb429db07ba949fc664227797321aa4b0a"
    private static let body = "{\"id_token\":\"eyJ.ada.g\"}"
    /// The digest of the token with which Bob claims Ada's identity in the fixture.
    private static let claim = "9f7070d39d4485f8ed96704095d6d213ecf2eab323158de4bd7f04969fb1c6ec"

    @Test(arguments: hours)
    func `a link under an idempotency key is answered as before, for a day`(
        hours: Int
    ) async throws {
        try await Self.upgraded { database, digests, upgradedAt in
            try await SequencerFixture.with(database, isProtected: true, opensLedger: false) {
                var story = Story($0.sequencer, seed: 99)
                let ada = try await story.signIn("apple", "ada-a")
                let events = try await $0.log().count
                let key = digests.idempotencyKey(
                    scope: Array("POST\0/v1/auth/link/google\0link-1".utf8),
                    content: Array(Self.body.utf8), of: ada.account,
                    at: upgradedAt.adding(seconds: Int64(hours) * 3600))
                let link = LinkProvider(
                    caller: ada.caller,
                    credential: Credential(subject("google", "ada-g"), digest: .zero),
                    idempotency: key, newIdentity: IdentityID(bits: 77))
                let result = try await story.submit(link.intent)
                let appended = try await $0.log().count - events
                if hours < 24 {
                    #expect(result == .success(.linked(["apple", "google"].map(provider))))
                    #expect(appended == 0)
                } else {
                    #expect(result == .failure(.providerConflict(.alreadyYours)))
                    #expect(appended == 1, "it is another request")
                }
            }
        }
    }

    @Test(arguments: hours)
    func `an attempt counts once before and after the upgrade, for a day`(hours: Int) async throws {
        var policy = SequencerFixture.unlimitedPolicy
        // Two links of Bob in the fixture, one more, and a window that includes them in any year.
        policy.linkBudget = Budget(limit: 3, windowSeconds: 100 * 366 * 86_400)
        try await Self.upgraded { database, digests, upgradedAt in
            try await SequencerFixture.with(
                database, policy: policy, isProtected: true, opensLedger: false
            ) {
                var story = Story($0.sequencer, seed: 99)
                let bob = try await story.signIn("facebook", "bob-f")
                let events = try await $0.log().count
                let now = upgradedAt.adding(seconds: Int64(hours) * 3600)
                let claim = LinkProvider(
                    caller: bob.caller,
                    credential: Credential(
                        provider: provider("apple"),
                        digest: digests.attempt(try Self.digest(of: Self.claim), at: now),
                        check: .success(proof(subject("apple", "ada-a")))),
                    idempotency: nil, newIdentity: IdentityID(bits: 77))
                let result = try await story.submit(claim.intent)
                #expect(result == .failure(.providerConflict(.heldByOther)))
                let appended = try await $0.log().count - events
                #expect(appended == (hours < 24 ? 0 : 1))
                // Another attempt is the third or the fourth.
                let other = try await story.link(bob, "google", "bob-g")
                if hours < 24 {
                    #expect(other == .success(.linked(["facebook", "google"].map(provider))))
                } else {
                    guard case .failure(.rateLimited) = other else {
                        Issue.record("\(other)")
                        return
                    }
                }
            }
        }
    }

    /// Restores the fixture with an answer that the former release stored for Ada, migrates it, and passes the
    /// digests of a server and the time of the upgrade.
    private static func upgraded(
        _ body: (ScratchDatabase, RequestDigests, Timestamp) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with(isMigrated: false) { database in
            try await FormerLedger.restore(try FormerLedger.lines(), into: database)
            try await database.asSuperuser.execute(
                """
                INSERT INTO idempotency_records
                    (tenant_id, account_id, scope, fingerprint, answer, answered_at)
                SELECT tenant_id, account_id, '\\x\(scope)', '\\x\(fingerprint)',
                    'linked:apple,google', now()
                FROM identities WHERE tenant_id = 'default' AND provider_id = 'ada-a'
                """)
            _ = try await database.migrate()
            let upgradedAt = try await database.asSuperuser.texts(
                """
                SELECT (extract(epoch FROM applied_at) * 1000000)::bigint::text
                FROM ledger_migrations WHERE name = 'V020_keyed_digests.sql'
                """)
            let microseconds = try #require(upgradedAt.first.flatMap { Int64($0) })
            let key = try #require(SymmetricKey(bytes: Array(repeating: 0x5A, count: 32)))
            let time = Timestamp(microseconds: microseconds)
            try await body(
                database, RequestDigests(current: "test", keys: ["test": key], upgradedAt: time),
                time)
        }
    }

    private static func digest(of hex: String) throws -> Digest {
        try #require(Hex.decode(hex).flatMap { Digest($0) })
    }
}
