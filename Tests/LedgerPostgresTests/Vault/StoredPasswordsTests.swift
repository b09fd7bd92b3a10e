import Cryptography
import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// The passwords that `keys remove pepper` decrypts.
@Suite struct StoredPasswordsTests {
    private func all(
        _ database: ScratchDatabase, _ keyring: WrappingKeyring = SequencerFixture.strictKeyring
    ) async throws -> [String?] {
        let session = Postgres.Session(url: database.runtimeURL, applicationName: "test")
        let found = try await session.run { connection in
            var found: [String?] = []
            try StoredPasswords.each(keyring: keyring, on: connection) { found.append($0) }
            return found
        }
        await session.close()
        return found
    }

    @Test func `every password is read once, over several pages, and one without its key is nil`()
        async throws
    {
        try await ScratchDatabase.with { database in
            #expect(try await all(database) == [])
            try await SequencerFixture.with(
                database, policy: RandomCommands.policy(hasEveryType: true), isProtected: true
            ) { fixture in
                var generator = SeededGenerator(seed: 1)
                for name in ["ada", "bob"] {
                    let signUp = SignIn(
                        address: "\(name)@example.com", password: name, &generator)
                    _ = try await fixture.submit(.signIn(signUp)).get()
                }
            }
            #expect(Set(try await all(database)) == ["ada", "bob"])
            let other = WrappingKeyring(
                currentID: "other", current: .generate(),
                macs: SequencerFixture.strictKeyring.macs)
            #expect(try await all(database, other) == [nil, nil])
            // Each is bound to its identity, so the copies can't be decrypted.
            try await database.asSuperuser.execute(
                """
                INSERT INTO credentials (tenant_id, identity_id, account_id, version, sealed,
                    wrapping_key, mac)
                SELECT tenant_id, gen_random_uuid(), account_id, version, sealed, wrapping_key, mac
                FROM credentials CROSS JOIN generate_series(1, 1250)
                """)
            let found = try await all(database)
            #expect(found.count == 2502 && Set(found.compactMap(\.self)) == ["ada", "bob"])
        }
    }
}
