import Encodings
import Foundation
import Ledger
import LedgerTestSupport
import Postgres

@testable import LedgerEngine
@testable import LedgerPostgres

/// A small ledger with two tenants, every kind of event that needs no restore, and rows in every table that
/// verification and projections read.
///
/// A release writes it (``write(to:)``), and later ones upgrade it.
enum FormerLedger {
    /// The number of the last migration of the release that has written the fixture.
    static let schema = 19
    static let acme = tenant("acme")
    /// Set to a path, it makes the present release write its ledger there.
    static let variable = "LEDGER_WRITE_FORMER_RELEASE"

    /// The fixture, by release 8752942.
    static func lines() throws -> [String] {
        guard
            let url = Bundle.module.url(forResource: "FormerRelease/ledger", withExtension: "jsonl")
        else { throw Unexpected(what: "no fixture") }
        return String(decoding: try Data(contentsOf: url), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    /// Restores the lines of a fixture at its own schema.
    static func restore(_ lines: [String], into database: ScratchDatabase) async throws {
        let former = Migrator(
            ownerURL: database.ownerURL, runtimeURL: database.runtimeURL,
            migrations: Array(Migration.embedded.prefix(schema)))
        try await database.asSuperuser.with { _ in try former.applySchema() }
        try await LedgerDump.restore(lines, into: database)
    }

    /// Makes the ledger with the present release, and writes its rows into a file.
    static func write(to path: String) async throws {
        try await ScratchDatabase.with { database in
            try await SealingFixture.with(database) { sealing in
                try await SequencerFixture.with(database, isProtected: true) { sequencer in
                    try await tellStory(sequencer, sealing)
                }
                try await database.fold()
                try await database.destroy()
            }
            let text = try await LedgerDump.lines(of: database).joined(separator: "\n") + "\n"
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
    }

    private static func tellStory(
        _ sequencer: SequencerFixture, _ sealing: SealingFixture
    ) async throws {
        let database = sealing.database
        var story = Story(sequencer.sequencer)
        let ada = try await story.signIn("apple", "ada-a", email: "ada@example.org")
        try await story.link(ada, "google", "ada-g", email: "ada@g.example")
        let bob = try await story.signIn(
            "facebook", "bob-f", email: "bob@example.org", isVerified: false)
        try await refusals(of: bob, in: &story)
        try await sealing.sealOnce()

        let fixture = MergeFixture(database: database, sequencer: sequencer, ada: ada, bob: bob)
        let google = try await fixture.identityID("ada-g")
        try await story.unlink(ada, "google")
        _ = try await fixture.relink(google, to: ada).get()
        let again = try await story.signIn("apple", "ada-a", email: "ada@new.example")
        try await story.signOut(again)
        try await steal(from: bob, in: &story, database)
        let merge = try await fixture.merge()
        try await fixture.undo(merge)

        let carol = try await story.signIn("google", "carol-g", email: "carol@example.org")
        let dave = try await story.signIn("facebook", "dave-f")
        _ = try await fixture.merge(dave.account, into: carol.account)
        let erin = try await story.signIn("apple", "erin-a", email: "erin@example.org")
        let frank = try await story.signIn("google", "frank-g", email: "frank@example.org")
        _ = try await fixture.merge(frank.account, into: erin.account)
        _ = try await story.erase(erin.account).get()
        guard case .holdSet(let hold) = try await story.hold(bob.account).get() else {
            throw Unexpected(what: "no hold")
        }
        _ = try await story.hold(carol.account).get()
        _ = try await story.lift(hold, of: bob.account).get()
        try await rotateMACKey(in: &story, database)
        _ = try await story.submit(
            .setRules(SetRules(SequencerFixture.unlimitedPolicy, condition: .noneRecorded))
        ).get()

        try await sequencer.open(acme)
        var other = Story(sequencer.sequencer, tenant: acme, seed: 2)
        let zoe = try await other.signIn("apple", "ada-a", email: "zoe@example.org")
        try await other.link(zoe, "facebook", "zoe-f")
        try await sealing.sealOnce()
        _ = try await story.signIn("google", "grace-g", email: "grace@example.org")
        try await database.asOwner.with { connection in
            let key = StoredAPIKey(
                id: APIKeyID(bits: 1), role: .auditor,
                secretDigest: digest(Array(repeating: 1, count: 32)), label: "a test",
                createdAt: Timestamp(seconds: 1_790_000_000), expiresAt: nil, revokedAt: nil)
            try APIKeyStore(on: connection).add(key, to: .default, macKey: SequencerFixture.macKey)
        }
    }

    /// A conflict, an invalid token and the refused unlink of an only provider.
    private static func refusals(of bob: Guest, in story: inout Story) async throws {
        try await story.link(bob, "apple", "ada-a")
        _ = try await story.submit(
            .linkProvider(
                LinkProvider(
                    caller: bob.caller,
                    credential: Credential(
                        subject("google", "bob"), digest: digest(Array(repeating: 9, count: 32)),
                        isInvalid: true),
                    idempotency: nil, newIdentity: IdentityID(bits: 9))))
        try await story.unlink(bob, "facebook")
    }

    /// Exchanges a refresh token twice more than it may be.
    private static func steal(
        from guest: Guest, in story: inout Story, _ database: ScratchDatabase
    ) async throws {
        let session = guest.caller.session
        let current = try await database.rows(
            "encode(refresh_current, 'hex')]) FROM sessions WHERE session_id = '\(session)'")
        guard var presented = current.first.flatMap({ Hex.decode($0) }).flatMap({ Digest($0) })
        else { throw Unexpected(what: "no refresh token") }
        let first = presented
        for number in UInt8(1)...2 {
            let successor = digest(Array(repeating: number, count: 32))
            _ = try await story.submit(
                .refreshSession(
                    RefreshSession(
                        session: session, presented: presented, successor: successor,
                        sealedSuccessor: [number]))
            ).get()
            presented = successor
        }
        _ = try await story.submit(
            .refreshSession(
                RefreshSession(
                    session: session, presented: first, successor: presented,
                    sealedSuccessor: [3])))
    }

    private static func rotateMACKey(
        in story: inout Story, _ database: ScratchDatabase
    ) async throws {
        let keys = SequencerFixture.strictKeyring.macs
        let prefix = try await database.asSuperuser.with { connection in
            try LogRoot.read(of: .default, keys: keys, on: connection).prefix
        }
        let fact = KeyRotated(
            macKey: SequencerFixture.nextMACKey.id.description,
            former: SequencerFixture.macKey.id.description, after: prefix)
        _ = try await story.submit(.rotateKey(RotateKey(fact))).get()
    }
}
