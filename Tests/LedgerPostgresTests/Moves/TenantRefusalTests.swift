import Cryptography
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Postgres
import StandardWebhooks
import Testing

@testable import LedgerPostgres

/// The commands of an operator and the workers, on a tenant that is being moved.
@Suite struct TenantRefusalTests {
    private static let states = ["leaving", "moved"]

    private static func mark(_ state: String) -> String {
        """
        INSERT INTO tenant_moves (tenant_id, state, peer, run)
        VALUES ('default', '\(state)', 'elsewhere', gen_random_uuid())
        """
    }

    /// Returns every row of the tables that the stores write.
    private func rows(_ database: ScratchDatabase) async throws -> [String] {
        var rows: [String] = []
        let tables = [
            "api_keys", "webhook_endpoints", "webhook_cursors", "webhook_secrets",
            "webhook_deliveries", "access_log", "figure_heads",
        ]
        for table in tables {
            rows += try await database.asSuperuser.texts(
                "SELECT t::text FROM \(table) t ORDER BY 1")
        }
        return rows
    }

    @Test(arguments: states)
    func `keys, webhooks, figures and the access log of a moved tenant are not changed`(
        state: String
    ) async throws {
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.add()
            let database = fixture.database
            let key = StoredAPIKey(
                id: APIKeyID(bits: 9), role: .admin, secretDigest: digest(Array(0..<32)),
                label: "l", createdAt: Timestamp(seconds: 1), expiresAt: nil, revokedAt: nil)
            let other = StoredAPIKey(
                id: APIKeyID(bits: 10), role: .admin, secretDigest: digest(Array(0..<32)),
                label: "l", createdAt: Timestamp(seconds: 1), expiresAt: nil, revokedAt: nil)
            let owner = Postgres.Session(url: database.ownerURL, applicationName: "test")
            try await owner.run {
                try APIKeyStore(on: $0).add(key, to: .default, macKey: SequencerFixture.macKey)
            }
            let before = try await rows(database)
            try await database.asSuperuser.execute(Self.mark(state))
            let changes: [@Sendable (Connection) throws -> Void] = [
                {
                    try APIKeyStore(on: $0).add(
                        other, to: .default, macKey: SequencerFixture.macKey)
                },
                { _ = try APIKeyStore(on: $0).revoke(key.id, of: .default) },
            ]
            for change in changes {
                await #expect(throws: TenantRefusal.self) { try await owner.run(change) }
            }
            let webhooks: [@Sendable (WebhookStore) throws -> Void] = [
                { _ = try $0.setEnabled(false, webhook) }, { _ = try $0.remove(webhook) },
                { _ = try $0.replay(webhook, position: nil) },
                {
                    _ = try $0.rotate(
                        webhook, to: .generate(), overlapSeconds: 1,
                        keyring: SequencerFixture.keyring)
                },
            ]
            for change in webhooks {
                await #expect(throws: TenantRefusal.self) { try await fixture.asOperator(change) }
            }
            await #expect(throws: TenantRefusal.self) { _ = try await fixture.add() }
            let figures = FigureWorker(url: database.runtimeURL)
            await #expect(throws: TenantRefusal.self) { _ = try await figures.rebuild(.default) }
            #expect(try await figures.rebuild(nil).isEmpty)
            await figures.close()
            let gate = AccessGate(url: database.runtimeURL, refusesMoved: true) {
                #expect($0.contains("nothing was changed: tenant default"))
            }
            async let finished: Void = gate.run()
            await #expect(throws: LedgerFault.unavailable) {
                try await gate.record(AccessRecord(by: nil, .addWebhook), in: .default)
            }
            gate.close()
            await finished
            await owner.close()
            #expect(try await rows(database) == before)
        }
    }

    @Test func `expired rows of a moved tenant are not swept, and its keys not rewrapped`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            try await database.asSuperuser.execute(
                """
                INSERT INTO code_counts (tenant_id, scope, count, ends_at)
                SELECT 'default', sha256('x'), 1, 'epoch';
                \(Self.mark("leaving"))
                """)
            let sweeper = Sweeper(url: database.runtimeURL) { Issue.record("\($0)") }
            #expect(try await sweeper.sweep() == 0)
            let next = WrappingKeyring(
                currentID: "next", current: .generate(),
                former: ["test": SymmetricKey(Array(repeating: 0x5A, count: 32))],
                macs: SequencerFixture.strictKeyring.macs)
            let report = try await Rewrapping(url: database.ownerURL, keyring: next) { _, _, _ in []
            }.run()
            #expect(report == RewrapReport())
            try await database.asSuperuser.execute("DELETE FROM tenant_moves")
            #expect(try await sweeper.sweep() == 1)
        }
    }
}
