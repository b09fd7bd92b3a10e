import Cryptography
import Encodings
import Foundation
import Ledger
import LedgerTestSupport
import Postgres
import TransparencyLog

@testable import LedgerPostgres

/// A protected ledger with every kind of event, of which each tampering gets its own copy.
///
///      0 LedgerOpened
///      1 AccountOpened, 2 ProviderLinked apple, 3 SignedIn, 4 ProviderLinked google        Ada
///      5 AccountOpened, 6 ProviderLinked facebook, 7 SignedIn, 8 ConflictRejected          Bob
///      9 ProviderUnlinked google, 10 SignedIn, 11 SignedOut                                Ada
///     12 AccountOpened, 13 ProviderLinked google, 14 SignedIn                              Carol
///     15 AccountOpened, 16 ProviderLinked facebook, 17 SignedIn                            Dave
///     18 AccountsMerged, Dave's into Carol's; 19 LegalHoldSet on Bob; 20 to 22 Eve signs in
///     23 to 25 Frank signs in
///
/// Checkpoints are of the sizes 5, 12, 20 and 23. Before Eve's sign-in every table was copied, and after 8
/// those of identities and sessions; then Bob refreshed his session. The tenant `acme` has one account.
struct PreparedLedger {
    let database: ScratchDatabase
    /// The copy that is tampered with, and its sealer's directory.
    let copied: SealingFixture
    private let sealing: SealingFixture
    let ada: Guest
    let bob: Guest
    let carol: Guest
    /// The people of `default`, in the order of their sessions.
    let guests: [Guest]

    static let acme = tenant("acme")

    /// Prepares the ledger, runs a body with it, and drops it with its copies.
    static func with(_ body: @Sendable (PreparedLedger) async throws -> Void) async throws {
        try await ScratchDatabase.with { database in
            try await SealingFixture.with(database) { sealing in
                try await SealingFixture.with(database) { copied in
                    let ledger = try await SequencerFixture.with(
                        database, isProtected: true
                    ) { try await tellStory($0, sealing, copied) }
                    try await ledger.makeTemplate()
                    do {
                        try await body(ledger)
                    } catch {
                        try await ledger.drop(ledger.template)
                        throw error
                    }
                    try await ledger.drop(ledger.template)
                }
            }
        }
    }

    private static func tellStory(
        _ sequencer: SequencerFixture, _ sealing: SealingFixture, _ copied: SealingFixture
    ) async throws -> PreparedLedger {
        let database = sealing.database
        var story = Story(sequencer.sequencer)
        let ada = try await story.signIn("apple", "ada", email: "ada@example.com")
        try await story.link(ada, "google", "ada-g", email: "g@example.com")
        try await sealing.sealOnce()
        let bob = try await story.signIn("facebook", "bob", email: "bob@example.com")
        try await story.link(bob, "apple", "ada")
        try await sealing.lift(keepEarly("identities") + ";" + keepEarly("sessions"))
        try await refresh(bob, in: &story, database)
        try await story.unlink(ada, "google")
        let again = try await story.signIn("apple", "ada", email: "ada@example.com")
        try await story.signOut(ada)
        try await sealing.sealOnce()
        let carol = try await story.signIn("google", "carol", email: "carol@example.com")
        let dave = try await story.signIn("facebook", "dave", email: "dave@example.com")
        let merges = MergeFixture(
            database: database, sequencer: sequencer, ada: carol, bob: dave)
        _ = try await merges.merge()
        _ = try await story.hold(bob.account)
        try await sequencer.open(acme)
        var other = Story(sequencer.sequencer, tenant: acme, seed: 2)
        _ = try await other.signIn("apple", "zoe", email: "zoe@example.com")
        try await sealing.sealOnce()
        try await addPrincipals(sealing)
        try await database.fold()
        try await sealing.lift(SealingFixture.backUp)
        let eve = try await story.signIn("google", "eve", email: "eve@example.com")
        try await sealing.sealOnce()
        let frank = try await story.signIn("google", "frank", email: "frank@example.com")
        try await database.fold()
        return PreparedLedger(
            database: database, copied: copied, sealing: sealing, ada: ada, bob: bob,
            carol: carol, guests: [ada, bob, again, carol, dave, eve, frank])
    }

    /// Copies a table.
    private static func keepEarly(_ table: String) -> String {
        "CREATE TABLE kept_early_\(table) AS TABLE \(table)"
    }

    /// Exchanges a person's refresh token, which has no event.
    private static func refresh(
        _ guest: Guest, in story: inout Story, _ database: ScratchDatabase
    ) async throws {
        let session = guest.caller.session
        let current = try await database.rows(
            "encode(refresh_current, 'hex')]) FROM sessions WHERE session_id = '\(session)'")
        guard let presented = current.first.flatMap({ Hex.decode($0) }).flatMap({ Digest($0) })
        else { throw Unexpected(what: "no refresh token") }
        let intent = RefreshSession(
            session: session, presented: presented,
            successor: digest(Array(repeating: 7, count: 32)), sealedSuccessor: [7])
        _ = try await story.submit(.refreshSession(intent)).get()
    }

    /// Adds two API keys, of which one is revoked, with three lines of the access log, and a webhook.
    private static func addPrincipals(_ sealing: SealingFixture) async throws {
        let owner = sealing.database.asOwner
        try await owner.with { connection in
            let store = APIKeyStore(on: connection)
            let now = Timestamp(seconds: 1_790_000_000)
            for number in UInt8(1)...2 {
                let key = StoredAPIKey(
                    id: APIKeyID(bits: UInt128(number)), role: .auditor,
                    secretDigest: digest(Array(repeating: number, count: 32)),
                    label: number == 2 ? "revoked" : "a test",
                    createdAt: now, expiresAt: nil, revokedAt: nil)
                try store.add(key, to: .default, macKey: SequencerFixture.macKey)
            }
        }
        try await sealing.lift(keepEarly("api_keys"))
        try await owner.with { connection in
            let store = APIKeyStore(on: connection)
            _ = try store.revoke(APIKeyID(bits: 2), of: .default)
            try connection.execute(
                """
                INSERT INTO webhook_endpoints (tenant_id, endpoint_id, url, types, revision,
                    created_at)
                VALUES ('default', gen_random_uuid(), 'https://hooks.example/', '{}', 0, now())
                """)
        }
    }

    private var template: String { database.name + "_prepared" }

    /// Restores the prepared ledger for the next tampering.
    func copy() async throws {
        try await drop(database.name)
        try await administer("CREATE DATABASE \(database.name) TEMPLATE \(template)")
        try? FileManager.default.removeItem(atPath: copied.path)
        try FileManager.default.copyItem(atPath: sealing.path, toPath: copied.path)
    }

    private func makeTemplate() async throws {
        try await administer(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = '\(database.name)'
            """)
        try await administer("ALTER DATABASE \(database.name) RENAME TO \(template)")
    }

    private func drop(_ name: String) async throws {
        try await administer("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    private static let cluster = SessionPool()

    private func administer(_ sql: String) async throws {
        try await SQLConsole(try TestCluster.url, Self.cluster).execute(sql)
    }
}

extension SealingFixture {
    private static let eventTriggers = ["ddl", "drop", "rewrite"]

    /// Executes SQL that only a superuser can, and restores the guards, so that only its effects can be
    /// found.
    func lift(_ sql: String) async throws {
        func each(_ change: String) -> String {
            """
            DO $each$ DECLARE one record; BEGIN
                FOR one IN SELECT c.relname, t.tgname FROM pg_trigger t
                    JOIN pg_class c ON c.oid = t.tgrelid
                    WHERE t.tgfoid = 'public.ledger_refuse_change'::regproc
                LOOP EXECUTE format('ALTER TABLE public.%I \(change) TRIGGER %I', one.relname, one.tgname);
                END LOOP;
            END $each$
            """
        }
        func guards(_ change: String) -> String {
            Self.eventTriggers.map { "ALTER EVENT TRIGGER ledger_guard_\($0) \(change)" }
                .joined(separator: ";")
        }
        try await database.asSuperuser.execute(
            [
                "BEGIN", guards("DISABLE"), each("DISABLE"), sql, each("ENABLE ALWAYS"),
                guards("ENABLE ALWAYS"), "COMMIT",
            ].joined(separator: ";\n"))
    }
}
