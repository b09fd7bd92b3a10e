import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// External ids in the database: their rows, MACs, look-ups and erasures.
@Suite struct NameStoreTests {
    private func with(
        _ body: @Sendable (ScratchDatabase, SequencerFixture) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: RandomCommands.policy(hasEveryType: true), isProtected: true
            ) { try await body(database, $0) }
        }
    }

    private func command(
        _ id: String, _ number: UInt128, address: String? = nil, disabledReason: String? = nil
    ) -> ImportAccount {
        let addresses = address.flatMap { text in
            addressProof(text, new: AddressID(bits: 1000 + number)).address.map {
                ImportAccount.Address(
                    $0,
                    ways: [
                        ImportAccount.Way(
                            RandomCommands.email, newID: IdentityID(bits: 2000 + number))
                    ])
            }
        }
        return ImportAccount(
            externalName(id),
            identities: [
                .init(
                    subject("google", id), email: Email("\(id)@x.test", isVerified: true),
                    newID: IdentityID(bits: 3000 + number))
            ], addresses: [addresses].compactMap(\.self), actor: .system,
            newAccount: AccountID(bits: number), disabledReason: disabledReason)
    }

    private func imported(
        _ command: ImportAccount, _ fixture: SequencerFixture
    ) async throws -> ImportAccount.Success {
        let reply = try await fixture.submit(command.intent).get()
        return try #require(ImportAccount.success(in: reply))
    }

    private func findings(
        _ database: ScratchDatabase, keyring: WrappingKeyring? = SequencerFixture.strictKeyring
    ) async throws -> [VerificationFinding] {
        let verifier = Verifier(url: database.runtimeURL, keyring: keyring)
        let report = try await verifier.run()
        await verifier.close()
        return report.findings
    }

    private func found(
        _ id: String, _ database: ScratchDatabase
    ) async throws -> NamedAccount? {
        let reads = NameReads(url: database.runtimeURL, macs: SequencerFixture.strictKeyring.macs) {
            Issue.record("\($0)")
        }
        let account = try await reads.account(named: externalName(id), in: .default)
        await reads.close()
        return account
    }

    private func names(
        of account: ImportAccount, in sources: [String] = ["auth0"], countMax: Int = 9,
        _ database: ScratchDatabase
    ) async throws -> [String] {
        let reads = NameReads(url: database.runtimeURL, macs: SequencerFixture.strictKeyring.macs) {
            Issue.record("\($0)")
        }
        let names = try await reads.names(
            of: account.newAccount, in: sources.map { try #require(NameSource($0)) },
            countMax: countMax, of: .default)
        await reads.close()
        return names.map(\.id)
    }

    @Test func `an account is found by its external id, and a second import keeps it`() async throws
    {
        try await with { database, fixture in
            let ada = command("ada", 1, address: "ada@x.test")
            #expect(try await imported(ada, fixture).effect == .opened)
            let again = try await imported(command("ada", 2), fixture)
            #expect(again.effect == .kept && again.position != nil)
            #expect(
                try await database.asSuperuser.texts(
                    "SELECT source || ' ' || external_id || ' ' || account_id FROM names")
                    == ["auth0 ada \(ada.newAccount)"])
            let found = try #require(try await found("ada", database))
            #expect(found.named == ada.newAccount && found.survivor == ada.newAccount)
            #expect(found.position == again.position)
            #expect(try await self.found("eve", database) == nil)
            #expect(try await findings(database) == [])
            #expect(try await findings(database, keyring: nil) == [])
        }
    }

    @Test func `the name of an absorbed account resolves to the survivor`() async throws {
        try await with { database, fixture in
            let (ada, bob) = (command("ada", 1), command("bob", 2))
            _ = try await imported(ada, fixture)
            _ = try await imported(bob, fixture)
            func merge(_ agreed: Digest?) -> Command.Intent {
                .mergeAccounts(
                    MergeAccounts(
                        authority: .support(
                            .system,
                            MergeAccounts.Case(
                                survivor: ada.newAccount, absorbed: bob.newAccount,
                                reason: "one person", reference: "7")),
                        keepsAbsorbed: [], agreed: agreed, digest: sha256))
            }
            guard case .mergePlanned(_, let plan) = try await fixture.submit(merge(nil)).get()
            else { throw Unexpected(what: "a reply") }
            _ = try await fixture.submit(merge(plan)).get()
            let found = try #require(try await found("bob", database))
            #expect(found.named == bob.newAccount && found.survivor == ada.newAccount)
            #expect(try await names(of: ada, database) == ["ada", "bob"])
            #expect(try await names(of: ada, countMax: 1, database) == ["ada"])
            #expect(try await names(of: ada, in: ["keycloak"], database) == [])
            #expect(
                try await names(of: ada, in: ["keycloak", "auth0"], database) == ["ada", "bob"])
            let export = UserExport(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring, types: [:])
            let page = try await export.page(after: nil, in: .default)
            await export.close()
            #expect(page.map(\.id) == [ada.newAccount])
            #expect(page.map(\.names) == [[externalName("ada"), externalName("bob")]])
            #expect(try await findings(database) == [])
        }
    }

    @Test func `an erased account's id is in no row, and opens another account`() async throws {
        try await with { database, fixture in
            let ada = command("ada", 1, address: "ada@x.test")
            _ = try await imported(ada, fixture)
            _ = try await fixture.submit(
                .eraseAccount(
                    EraseAccount(account: ada.newAccount, basis: .operator, actor: .system))
            ).get()
            #expect(try await database.rows("source]) FROM names") == [])
            #expect(try await found("ada", database) == nil)
            #expect(try await names(of: ada, database) == [])
            #expect(try await imported(command("ada", 5), fixture).effect == .opened)
            #expect(try await findings(database) == [])
        }
    }

    @Test func `an account that was disabled comes disabled`() async throws {
        try await with { database, fixture in
            let imported = try await imported(
                command("ada", 1, disabledReason: "moved"), fixture)
            #expect(imported.effect == .opened)
            #expect(
                try await database.rows("(disabled_position IS NOT NULL)::text]) FROM accounts")
                    == ["true"])
            #expect(try await findings(database) == [])
        }
    }

    @Test(arguments: [
        "UPDATE names SET account_id = gen_random_uuid()", "UPDATE names SET external_id = 'eve'",
        "UPDATE names SET source = 'x'", "UPDATE names SET position = position + 1",
        "DELETE FROM names",
        "INSERT INTO names (tenant_id, source, external_id, account_id, position) VALUES ('default', 'auth0', 'eve', gen_random_uuid(), 99)",
    ])
    func `verify finds a row that was changed`(change: String) async throws {
        try await with { database, fixture in
            _ = try await imported(command("ada", 1), fixture)
            try await database.asSuperuser.execute(change)
            let found = try await findings(database)
            #expect(found.contains { $0.check == .names }, "\(found)")
        }
    }

    @Test func `a row that gives an account away is refused`() async throws {
        try await with { database, fixture in
            _ = try await imported(command("ada", 1), fixture)
            try await database.asSuperuser.execute(
                "UPDATE names SET account_id = gen_random_uuid()")
            await #expect(throws: LedgerFault.internalFailure) {
                try await fixture.submit(command("ada", 2).intent)
            }
            await #expect(throws: LedgerFault.unavailable) {
                try await NameReads(
                    url: database.runtimeURL, macs: SequencerFixture.strictKeyring.macs
                ) { _ in }.account(named: externalName("ada"), in: .default)
            }
        }
    }

    @Test(arguments: [
        "UPDATE names SET mac = NULL",
        "UPDATE names SET mac = NULL, account_id = gen_random_uuid()",
        "UPDATE names SET mac = NULL; UPDATE ledger_head SET mac = NULL, protected_from = NULL",
    ])
    func `a row without a MAC names nothing in a protected tenant`(change: String) async throws {
        try await with { database, fixture in
            _ = try await imported(command("ada", 1), fixture)
            try await database.asSuperuser.execute(change)
            for keyring in [SequencerFixture.strictKeyring, SequencerFixture.keyring] {
                let reads = NameReads(url: database.runtimeURL, macs: keyring.macs) { _ in }
                await #expect(throws: LedgerFault.unavailable) {
                    try await reads.account(named: externalName("ada"), in: .default)
                }
                await reads.close()
            }
        }
    }

    @Test(arguments: ["SET external_id = 'eve'", "SET mac = NULL", "SET account_id = ACCOUNT"])
    func `an account has no id that no server gave it`(change: String) async throws {
        try await with { database, fixture in
            let (ada, bob) = (command("ada", 1), command("bob", 2))
            _ = try await imported(ada, fixture)
            _ = try await imported(bob, fixture)
            let account = "'\(bob.newAccount)'"
            try await database.asSuperuser.execute(
                """
                UPDATE names \(change.replacing("ACCOUNT", with: account))
                WHERE external_id = 'ada'
                """)
            let target = change.contains("ACCOUNT") ? bob : ada
            let reads = NameReads(
                url: database.runtimeURL, macs: SequencerFixture.strictKeyring.macs
            ) { _ in }
            let source = try #require(NameSource("auth0"))
            await #expect(throws: LedgerFault.unavailable) {
                try await reads.names(
                    of: target.newAccount, in: [source], countMax: 9, of: .default)
            }
            await reads.close()
        }
    }

    @Test func `a row without a MAC is valid until its tenant is protected`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: RandomCommands.policy(hasEveryType: true)
            ) { fixture in
                let ada = command("ada", 1)
                _ = try await imported(ada, fixture)
                try await database.asSuperuser.execute("UPDATE names SET mac = NULL")
                let reads = NameReads(
                    url: database.runtimeURL, macs: SequencerFixture.keyring.macs
                ) { Issue.record("\($0)") }
                let found = try await reads.account(named: externalName("ada"), in: .default)
                #expect(found?.named == ada.newAccount)
                await reads.close()
            }
        }
    }

    @Test func `two sequencers open one account for one external id`() async throws {
        try await with { database, fixture in
            try await SequencerFixture.with(
                database, policy: RandomCommands.policy(hasEveryType: true), isProtected: true,
                opensLedger: false
            ) { other in
                try await withThrowingTaskGroup(of: ImportAccount.Effect.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            try await imported(
                                command("ada", 10 + UInt128(number)),
                                number.isMultiple(of: 2) ? fixture : other
                            ).effect
                        }
                    }
                    var opened = 0
                    for try await effect in group where effect == .opened { opened += 1 }
                    #expect(opened == 1)
                }
            }
            #expect(try await findings(database) == [])
        }
    }
}
