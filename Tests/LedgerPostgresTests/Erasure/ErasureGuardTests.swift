import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// Nothing is destroyed without an `AccountErased`, and nothing is missing without one unnoticed.
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
                "SELECT ledger_erase_accounts('{default}', '{\(ada)}', '{1}')",
                "SELECT ledger_destroy_disclosures('default', '\(ada)', '{1,2,3}')",
                // Names that come first in a search path are not looked at.
                """
                CREATE TEMP TABLE events AS SELECT 'default'::text AS tenant_id,
                    1::bigint AS position, 'AccountErased'::text AS type,
                    '\(ada)'::uuid AS account_id;
                SET search_path = pg_temp, public;
                SELECT public.ledger_erase_accounts('{default}', '{\(ada)}', '{1}')
                """,
            ]
        for attack in attacks {
            let refusal = try await console.refusal(of: attack)
            #expect(refusal == Self.denied, "\(attack)")
        }
    }

    @Test func `another account's erasure erases nobody else`() async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            guard
                case .erased(let position, _, _) = try await story.erase(fixture.ada.account).get()
            else { throw Unexpected(what: "not erased") }
            let call = """
                SELECT ledger_erase_accounts('{default}', '{\(fixture.bob.account)}', '{\(position)}')
                """
            let refusal = try await fixture.database.asRuntime.refusal(of: call)
            #expect(refusal == Self.denied)
        }
    }

    @Test(arguments: Finding.all)
    func `what an erasure should have left, or taken, is found`(finding: Finding) async throws {
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
                testDescription: "a key that is gone without an erasure",
                sql: "DELETE FROM account_keys WHERE account_id = BOB", check: .disclosures,
                text: "WITHHELD"),
            Finding(
                testDescription: "disclosures that are gone without an erasure",
                sql: "DELETE FROM disclosures WHERE account_id = BOB", check: .disclosures,
                text: "WITHHELD"),
            Finding(
                testDescription: "an erasure that the log does not know",
                sql: """
                    DELETE FROM account_keys WHERE account_id = BOB;
                    INSERT INTO erasures SELECT tenant_id, account_id, opened_position, next_seq,
                        last_leaf, last_position, now() FROM accounts WHERE account_id = BOB
                    """, check: .erasures, text: "does not erase"),
            Finding(
                testDescription: "an erasure that left no trace but the event",
                sql: "DELETE FROM erasures", check: .erasures, text: "were not taken away"),
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
