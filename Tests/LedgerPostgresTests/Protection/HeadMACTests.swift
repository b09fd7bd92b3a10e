import Cryptography
import Encodings
import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// The MAC of a tenant's head: no command is decided from a head that no server has written.
@Suite struct HeadMACTests {
    private static let changes = [
        "next_position = next_position + 1", "last_recorded_at = '2099-01-01T00:00:00Z'",
        "log_id = gen_random_uuid()", "log_number = 2", "protected_from = NULL",
        "protected_from = 7", "rules_version = 1", "mac = NULL",
        "mac = set_byte(mac, 4, get_byte(mac, 4) # 1)",
        "mac = (SELECT mac FROM events WHERE position = 0 AND tenant_id = 'default')",
        "mac = (SELECT mac FROM ledger_head WHERE tenant_id = 'acme')",
    ]

    @Test(arguments: changes)
    func `no command is decided from a changed head`(change: String) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: true) { fixture in
                let acme = try #require(TenantID("acme"))
                try await fixture.open(acme)
                _ = try await fixture.signIn(subject("google", "ada"))
                try await database.asRuntime.execute(
                    "UPDATE ledger_head SET \(change) WHERE tenant_id = 'default'")
                let before = try await fixture.log().count
                await #expect(throws: LedgerFault.internalFailure) {
                    _ = try await fixture.signIn(subject("google", "ada"))
                }
                #expect(try await fixture.log().count == before, "nothing is appended")
                #expect(fixture.reportedFaults.contains { $0.contains("ledger_head.mac") })
                try await fixture.open(acme)
            }
        }
    }

    /// Changes to a log by the owner of the tables or a superuser, beside that of an identity.
    private static let takenOff = [
        """
        UPDATE events SET schema_version = 1 WHERE position = 0 AND tenant_id = 'default';
        UPDATE ledger_head SET mac = NULL, protected_from = NULL WHERE tenant_id = 'default'
        """,
        """
        DELETE FROM events WHERE tenant_id = 'default';
        UPDATE ledger_head SET mac = NULL, protected_from = NULL, next_position = 0
        WHERE tenant_id = 'default'
        """,
        """
        DELETE FROM events WHERE tenant_id = 'default';
        UPDATE ledger_head SET mac = NULL, protected_from = NULL, next_position = 0, log_id = NULL
        WHERE tenant_id = 'default'
        """,
    ]

    @Test(arguments: takenOff)
    func `removing the protection of a log hands no account over`(change: String) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: true) { fixture in
                let acme = try #require(TenantID("acme"))
                try await fixture.open(acme)
                let ada = try await fixture.signIn(subject("google", "ada"))
                _ = try await fixture.signIn(subject("google", "thief"))
                try await database.asSuperuser.execute(
                    """
                    ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
                    ALTER TABLE events DISABLE TRIGGER USER;
                    \(change);
                    UPDATE identities SET account_id = '\(ada.account)',
                        last_account_id = '\(ada.account)', mac = NULL
                    WHERE provider_id = 'thief'
                    """)
                await #expect(throws: LedgerFault.internalFailure) {
                    _ = try await fixture.signIn(subject("google", "thief"))
                }
                #expect(fixture.reportedFaults.contains { $0.contains(".mac of tenant default") })
                var neighbour = Story(fixture.sequencer, tenant: acme, seed: 2)
                _ = try await neighbour.signIn("google", "zoe")
            }
        }
    }

    @Test func `a server of an earlier release can append nothing`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { _ in
                let refusal = try await database.asRuntime.refusal(
                    of: """
                        INSERT INTO events (tenant_id, position, event_id, type, schema_version,
                            recorded_at, command_id, actor, entry)
                        SELECT tenant_id, 1, gen_random_uuid(), type, 1, recorded_at, command_id,
                            actor, entry FROM events
                        """)
                #expect(refusal == SQLState(rawValue: "23514"), "the check of the column")
            }
        }
    }

    @Test func `a log that states no protection gets its MACs from the first batch on`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                // As the migration leaves it.
                try await database.asSuperuser.execute("UPDATE ledger_head SET mac = NULL")
                _ = try await fixture.signIn(subject("google", "ada"))
                #expect(
                    try await database.asRuntime.texts(
                        "SELECT (mac IS NOT NULL)::text FROM ledger_head") == ["true"])
            }
        }
    }

    @Test(arguments: [KeyRotated.Kind.token, .pepper])
    func `a rotation of another key states no protection`(of kind: KeyRotated.Kind) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let rotated = KeyRotated(kind: kind, key: "new", former: "none")
                _ = try await fixture.submit(.rotateKey(RotateKey(rotated))).get()
                _ = try await fixture.signIn(subject("google", "ada"))
            }
        }
    }

    @Test func `a head from before its log was protected is decided from no more`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("google", "ada")
                let thief = try await story.signIn("google", "thief")
                let putBack = try await database.asRuntime.texts(
                    """
                    SELECT format('UPDATE ledger_head SET next_position = %L, last_recorded_at = %L,
                        protected_from = NULL, mac = %L', next_position, last_recorded_at, mac)
                    FROM ledger_head
                    """)
                try await Self.protect(database, fixture)
                try await database.asRuntime.execute(
                    """
                    UPDATE sessions SET account_id = '\(ada.account)', mac = NULL
                    WHERE session_id = '\(thief.caller.session)';
                    \(putBack[0])
                    """)
                let current = try await database.asRuntime.texts(
                    """
                    SELECT encode(refresh_current, 'hex') FROM sessions
                    WHERE session_id = '\(thief.caller.session)'
                    """)
                let refresh = RefreshSession(
                    session: thief.caller.session,
                    presented: try #require(Hex.decode(current[0]).flatMap { Digest($0) }),
                    successor: digest(Array(repeating: 7, count: 32)), sealedSuccessor: [1])
                await #expect(throws: LedgerFault.internalFailure) {
                    _ = try await story.submit(.refreshSession(refresh))
                }
                #expect(fixture.reportedFaults.contains { $0.contains("ledger_head.mac") })
            }
        }
    }

    /// Has the log state that it is protected, as `protect` does.
    private static func protect(
        _ database: ScratchDatabase, _ fixture: SequencerFixture
    ) async throws {
        let prefix = try await database.asRuntime.with { connection in
            try LogRoot.read(
                of: .default, keys: SequencerFixture.keyring.macs, on: connection
            ).prefix
        }
        var story = Story(fixture.sequencer, seed: 7)
        let fact = KeyRotated(
            macKey: SequencerFixture.macKey.id.description, former: nil, after: prefix)
        _ = try await story.submit(.rotateKey(RotateKey(fact))).get()
    }
}
