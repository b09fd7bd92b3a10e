import Cryptography
import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// Values that a column can hold but no ledger has, written with the serving login: every check reports them
/// and continues.
@Suite(.timeLimit(.minutes(10))) struct FarValueTests {
    struct Value: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let check: VerificationCheck
        let says: String
    }

    static let all = [
        Value(
            testDescription: "a head at the largest valid position",
            sql: "UPDATE ledger_head SET next_position = 1::bigint << 62", check: .head,
            says: "the head is at 4611686018427387904, the log ends at 12"),
        Value(
            testDescription: "an event at the largest position",
            sql: ScratchDatabase.insertEvent(.max), check: .positions,
            says: "the events up to position 9223372036854775806 are missing"),
        Value(
            testDescription: "an event and a head far away",
            sql: """
                \(ScratchDatabase.insertEvent(1 << 62 - 1));
                UPDATE ledger_head SET next_position = 1::bigint << 62
                """, check: .positions, says: "are missing"),
        Value(
            testDescription: "a row of the access log at the largest position",
            sql: """
                INSERT INTO access_log (tenant_id, position, accessed_at, principal, role, action,
                    details, disclosed, outcome)
                VALUES ('default', 9223372036854775807, now(), 'operator', 'admin', 'x', '{}', false,
                    'allowed')
                """, check: .accessLog, says: "the row at its position 0 is missing"),
        Value(
            testDescription: "a link at the largest position",
            sql: """
                UPDATE identities SET linked_position = 9223372036854775807
                WHERE account_id IS NULL
                """, check: .identities, says: "linked_position"),
        Value(
            testDescription: "the same, without a digest of its e-mail",
            sql: """
                UPDATE identities SET linked_position = 9223372036854775807, former_email = NULL
                WHERE account_id IS NULL
                """, check: .identities, says: "linked_position"),
        Value(
            testDescription: "a link that does not exist",
            sql: """
                UPDATE identities SET linked_at = 'infinity', former_email = ''
                WHERE account_id IS NULL
                """, check: .identities, says: "a row cannot be read"),
        Value(
            testDescription: "a link that does not exist, without a digest of its e-mail",
            sql: """
                UPDATE identities SET linked_at = '-infinity', former_email = NULL
                WHERE account_id IS NULL
                """, check: .identities, says: "a row cannot be read"),
        Value(
            testDescription: "a session of the largest position",
            sql: "UPDATE sessions SET opened_position = 9223372036854775807", check: .sessions,
            says: "opened_position"),
        Value(
            testDescription: "a stored hash at the largest index",
            sql: "INSERT INTO merkle_nodes VALUES ('default', 9223372036854775807, sha256(''))",
            check: .nodes, says: "not those of a complete tree"),
        Value(
            testDescription: "a checkpoint of the largest size",
            sql: """
                INSERT INTO checkpoints VALUES ('default', 'x', 9223372036854775807, sha256(''), '',
                    'infinity');
                INSERT INTO checkpoint_keys VALUES ('default', 'x', 'infinity')
                """, check: .checkpoints, says: "is not a signed checkpoint"),
        Value(
            testDescription: "read models at the largest position",
            sql: "UPDATE projections SET position = 9223372036854775807", check: .projections,
            says: "is outside the log"),
    ]

    /// The log in one range, and in several over several connections.
    @Test(arguments: all, [Int64(2_000), 5])
    func `a value that no ledger has is found, and stops no reader`(
        value: Value, rangeEvents: Int64
    ) async throws {
        try await HistoryFixture.with { history in
            let database = history.database
            try await database.completeFormerEmails()
            try await database.asRuntime.execute(value.sql)
            let verifier = Verifier(
                url: database.runtimeURL, keyring: SequencerFixture.keyring,
                searchKey: ScratchDatabase.searchKey, rangeEvents: rangeEvents)
            let report = try await verifier.run()
            await verifier.close()
            let found = report.findings.contains {
                $0.check == value.check && $0.text.contains(value.says)
            }
            #expect(!report.holds && found, "\(report.findings)")
            // No other reader of the data fails either.
            try await database.completeFormerEmails()
            _ = try await database.search("g@example.com")
            let replay = Replay(url: database.runtimeURL, keyring: SequencerFixture.keyring)
            let replayed = try await replay.account(history.ada.account, in: .default) { _ in }
            #expect(replayed?.events == 7)
            await replay.close()
            let exporter = Exporter(url: database.runtimeURL, keyring: nil)
            let isHeadFar = value.check == .head || value.check == .positions
            do {
                _ = try await exporter.all(in: .default, basis: nil) { _ in }
                #expect(!isHeadFar)
            } catch is ExportFailure {
                #expect(isHeadFar)
            }
            await exporter.close()
        }
    }

    /// An entry that decodes but for the number.
    @Test func `an entry with an impossible position is damage to every reader`() async throws {
        try await MergeFixture.with { fixture in
            let database = fixture.database
            let merge = try await fixture.merge()
            try await fixture.undo(merge)
            try await fixture.check()
            try await database.asSuperuser.execute(
                """
                ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
                ALTER TABLE events DISABLE TRIGGER USER;
                UPDATE events SET entry = convert_to(regexp_replace(convert_from(entry, 'UTF8'),
                    '"linked_position":"[0-9]+"', '"linked_position":"9223372036854775807"', 'g'),
                    'UTF8')
                WHERE type = 'AccountsUnmerged';
                UPDATE projections SET position =
                    (SELECT position FROM events WHERE type = 'AccountsUnmerged')
                """)
            let report = try await fixture.report()
            #expect(report.findings.contains { $0.check == .entries }, "\(report.findings)")
            // The projector stops there, and the process continues.
            try await database.fold()
            let stopped = try await database.asSuperuser.texts(
                "SELECT failure FROM projections WHERE failure IS NOT NULL")
            #expect(stopped.count == ProjectionName.allCases.count, "\(stopped)")
        }
    }

    /// An unforeseen error about a value, in a table that two tenants have.
    @Test func `an error about a value ends the verification of its tenant alone`() async throws {
        let acme = tenant("acme")
        try await ScratchDatabase.with(owner: .plain) { database in
            try await SequencerFixture.with(database) { fixture in
                try await fixture.open(acme)
                for tenant in [TenantID.default, acme] {
                    var story = Story(fixture.sequencer, tenant: tenant)
                    _ = try await story.signIn("apple", "ada", email: "a@b.c")
                }
                try await database.fold()
                try await database.asSuperuser.execute(
                    """
                    UPDATE projections SET failure = 'x' WHERE name = 'account_audit';
                    INSERT INTO access_heads VALUES ('acme', 7, now());
                    ALTER TABLE access_heads RENAME TO kept;
                    CREATE VIEW access_heads AS SELECT tenant_id, last_accessed_at,
                        next_position / (next_position - 7) AS next_position FROM kept;
                    GRANT SELECT ON access_heads TO PUBLIC
                    """)
                let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.keyring)
                let report = try await verifier.run()
                await verifier.close()
                #expect(report.tenants == 2)
                for name in ["acme", "default"] {
                    #expect(
                        report.findings.contains {
                            $0.tenant == name && $0.check == .projections
                        }, "\(report.findings)")
                }
                #expect(
                    report.findings.contains {
                        $0.tenant == "acme" && $0.text.contains("division by zero")
                    }, "\(report.findings)")
            }
        }
    }
}
