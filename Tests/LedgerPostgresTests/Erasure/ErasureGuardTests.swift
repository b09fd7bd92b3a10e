import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerAudit
@testable import LedgerPostgres

/// Nothing is destroyed without an `AccountErased`, and a loss without one is noticed.
@Suite struct ErasureGuardTests {
    private static let denied = SQLState.insufficientPrivilege

    @Test func `the login that serves destroys nothing that the log has not erased`() async throws {
        try await ErasureFixture.with { fixture in
            try await expectRefusals(fixture)
            #expect(try await fixture.verify().holds)
        }
    }

    private func expectRefusals(_ fixture: ErasureFixture) async throws {
        let ada = fixture.ada.account
        let console = fixture.database.asRuntime
        let tables = ["accounts", "identities", "account_keys", "disclosures", "sessions"]
        let attacks =
            tables.map { "DELETE FROM \($0)" } + [
                """
                INSERT INTO erasures
                SELECT 'default', '\(ada)', 0, 1, decode(repeat('00', 32), 'hex'), 1, now()
                """,
                "DELETE FROM erasures", "UPDATE erasures SET position = 0",
                "SELECT ledger_erase_accounts('default', '{\(ada)}', '{1}')",
                "SELECT ledger_destroy_disclosures('default', '\(ada)', '{1,2,3}')",
                // Objects earlier in the search path are ignored.
                """
                CREATE TEMP TABLE events AS SELECT 'default'::text AS tenant_id,
                    1::bigint AS position, 'AccountErased'::text AS type,
                    '\(ada)'::uuid AS account_id;
                SET search_path = pg_temp, public;
                SELECT public.ledger_erase_accounts('default', '{\(ada)}', '{1}')
                """,
            ]
        for attack in attacks {
            let refusal = try await console.refusal(of: attack)
            #expect(refusal == Self.denied, "\(attack)")
        }
    }

    @Test func `an erasure affects no other account`() async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            guard
                case .erased(let position, _, _) = try await story.erase(fixture.ada.account).get()
            else { throw Unexpected(what: "not erased") }
            let call = """
                SELECT ledger_erase_accounts('default', '{\(fixture.bob.account)}', '{\(position)}')
                """
            let refusal = try await fixture.database.asRuntime.refusal(of: call)
            #expect(refusal == Self.denied)
        }
    }

    /// A forged event, and whether the head is moved past it, as a thief of the serving login can write them.
    struct Forgery: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var position = "(SELECT next_position FROM ledger_head)"
        /// ADA is replaced by the account, BOB by another one, PLACE by the position.
        var entry = Forgery.truth
        var movesHead = true
        var before = ""
        var refusal = SQLState.insufficientPrivilege

        static let truth = """
            {"_sd":[],"_sd_alg":"sha-256","accounts":[{"id":"ADA","prev":null,"seq":"9"}],\
            "position":"PLACE","recorded_at":"2030-01-01T00:00:00.000000Z","tenant":"default",\
            "type":"AccountErased","v":"1"}
            """

        static let all = [
            Forgery(
                testDescription: "far away, with an empty entry", position: "1::bigint << 61",
                entry: "{}", movesHead: false),
            Forgery(testDescription: "before the head, with an empty entry", entry: "{}"),
            Forgery(testDescription: "no JSON", entry: "nothing"),
            Forgery(testDescription: "beyond the head", movesHead: false),
            Forgery(
                testDescription: "about another account",
                entry: truth.replacing("ADA", with: "BOB")),
            Forgery(
                testDescription: "of another type",
                entry: truth.replacing("AccountErased", with: "AccountOpened")),
            Forgery(
                testDescription: "of an unknown version",
                entry: truth.replacing("\"v\":\"1\"", with: "\"v\":\"4\"")),
            Forgery(
                testDescription: "of another tenant",
                entry: truth.replacing("default", with: "other")),
            Forgery(
                testDescription: "of another position",
                entry: truth.replacing("PLACE", with: "77")),
            Forgery(
                testDescription: "of another time", entry: truth.replacing("2030", with: "2031")),
            Forgery(
                testDescription: "a hold that is removed from the row",
                before: "UPDATE accounts SET legal_holds = NULL", refusal: .dataException),
            Forgery(
                testDescription: "a lift in its columns only",
                before: """
                    UPDATE accounts SET legal_holds = NULL;
                    INSERT INTO events SELECT tenant_id, next_position, gen_random_uuid(),
                        'LegalHoldLifted', 1, now(), 'ADA', 8, gen_random_uuid(), NULL, 'system',
                        (SELECT entry FROM events WHERE type = 'LegalHoldSet'),
                        decode(repeat('00', 20), 'hex') FROM ledger_head;
                    UPDATE ledger_head SET next_position = next_position + 1
                    """, refusal: .dataException),
        ]

        func sql(ada: AccountID, bob: AccountID) -> String {
            """
            BEGIN; \(before);
            INSERT INTO events SELECT 'default', p, gen_random_uuid(), 'AccountErased', 1,
                '2030-01-01T00:00:00Z', 'ADA', 9, gen_random_uuid(), NULL, 'system',
                convert_to(replace(\(quoteLiteral(entry)), 'PLACE', p::text), 'UTF8'),
                decode(repeat('00', 20), 'hex')
            FROM (SELECT \(position) AS p) place;
            \(movesHead ? "UPDATE ledger_head SET next_position = next_position + 1;" : "")
            SELECT ledger_erase_accounts('default', '{ADA}', ARRAY[max(position)])
            FROM events WHERE account_id = 'ADA';
            COMMIT
            """.replacing("ADA", with: "\(ada)").replacing("BOB", with: "\(bob)")
        }
    }

    @Test(arguments: Forgery.all)
    func `an event that is an erasure only in its columns erases no account`(
        forgery: Forgery
    ) async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            if forgery.refusal == .dataException {
                _ = try await story.hold(fixture.ada.account).get()
            }
            let attack = forgery.sql(ada: fixture.ada.account, bob: fixture.bob.account)
            let refusal = try await fixture.database.asRuntime.refusal(of: attack)
            #expect(refusal == forgery.refusal)
            let left = try await fixture.database.rows(
                "account_id::text]) FROM account_keys WHERE account_id = '\(fixture.ada.account)'")
            #expect(left.count == 1)
        }
    }

    @Test(arguments: 1...AccountErased.newestVersion)
    func `a stolen serving login can erase only with an entry of an erasure`(
        version: Int
    ) async throws {
        try await ErasureFixture.with { fixture in
            let attack = Forgery(
                testDescription: "",
                entry: Forgery.truth.replacing("\"v\":\"1\"", with: "\"v\":\"\(version)\"")
            ).sql(
                ada: fixture.ada.account, bob: fixture.bob.account)
            #expect(try await fixture.database.asRuntime.refusal(of: attack) == nil)
            let report = try await fixture.verify()
            #expect(!report.holds, "nobody decided it")
        }
    }

    @Test func `only the serving login may call the erasure functions`() async throws {
        try await ErasureFixture.with { fixture in
            let roles = LedgerRoles(database: fixture.database.name)
            for role in roles.all {
                let calls = try await fixture.database.asSuperuser.texts(
                    """
                    SELECT p.proname::text FROM pg_proc p
                    WHERE p.pronamespace = 'public'::regnamespace
                        AND has_function_privilege('\(role)', p.oid, 'EXECUTE') ORDER BY 1
                    """)
                let ours = calls.filter { $0.hasPrefix("ledger_") && $0 != "ledger_refuse_change" }
                let wanted =
                    switch role {
                    case roles.runtime:
                        ["ledger_destroy_disclosures", "ledger_erase_accounts", "ledger_expect"]
                    case roles.sealer: ["ledger_expect"]
                    default: [String]()
                    }
                #expect(ours == wanted, "\(role)")
            }
        }
    }

    @Test(arguments: Finding.all)
    func `an incomplete or unrecorded erasure is found`(finding: Finding) async throws {
        try await ErasureFixture.with(owner: .plain) { fixture in
            var story = fixture.story
            let ada = fixture.ada.account
            let bob = fixture.bob.account
            try await fixture.database.asSuperuser.execute(
                """
                CREATE TABLE kept_key AS SELECT * FROM account_keys WHERE account_id = '\(ada)';
                CREATE TABLE kept_account AS SELECT * FROM accounts WHERE account_id = '\(ada)';
                CREATE TABLE kept_disclosures AS SELECT * FROM disclosures WHERE account_id = '\(ada)'
                """)
            try await story.erase(ada)
            try await fixture.settle()
            #expect(try await fixture.verify().holds)
            let sql = finding.sql.replacing("ADA", with: "'\(ada)'").replacing(
                "BOB", with: "'\(bob)'")
            try await fixture.database.asSuperuser.execute(sql)
            let report = try await fixture.verify()
            #expect(
                report.findings.contains {
                    $0.check == finding.check && $0.text.contains(finding.text)
                }, "\(report.findings)")
        }
    }

    struct Finding: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let check: VerificationCheck
        let text: String

        static let all = [
            Finding(
                testDescription: "a key missing without an erasure",
                sql: "DELETE FROM account_keys WHERE account_id = BOB", check: .disclosures,
                text: "WITHHELD"),
            Finding(
                testDescription: "disclosures missing without an erasure",
                sql: "DELETE FROM disclosures WHERE account_id = BOB", check: .disclosures,
                text: "WITHHELD"),
            Finding(
                testDescription: "an erasure that is not in the log",
                sql: """
                    DELETE FROM account_keys WHERE account_id = BOB;
                    INSERT INTO erasures SELECT tenant_id, account_id, opened_position, next_seq,
                        last_leaf, last_position, now() FROM accounts WHERE account_id = BOB
                    """, check: .erasures, text: "does not erase"),
            Finding(
                testDescription: "an erasure that left no trace but the event",
                sql: "DELETE FROM erasures", check: .erasures, text: "were not deleted"),
            Finding(
                testDescription: "a key that came back",
                sql: "INSERT INTO account_keys SELECT * FROM kept_key", check: .erasures,
                text: "was not destroyed"),
            Finding(
                testDescription: "disclosures that came back",
                sql: "INSERT INTO disclosures SELECT * FROM kept_disclosures", check: .erasures,
                text: "are left"),
            Finding(
                testDescription: "an account that came back",
                sql: "INSERT INTO accounts SELECT * FROM kept_account", check: .accounts,
                text: "surplus"),
            Finding(
                testDescription: "another end of the history",
                sql: "UPDATE erasures SET next_seq = next_seq + 1", check: .erasures,
                text: "next_seq"),
            Finding(
                testDescription: "another time",
                sql: "UPDATE erasures SET erased_at = erased_at + interval '1 s'",
                check: .erasures, text: "erased_at"),
        ]
    }
}
