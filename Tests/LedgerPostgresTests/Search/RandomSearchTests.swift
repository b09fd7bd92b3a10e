import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerAudit
@testable import LedgerPostgres

/// Searches after random histories, compared with a full read of the log.
@Suite struct RandomSearchTests {
    private static let emails = ["a@b.c", "A@b.c", "d@e.f", " g@h.i", "j@k.l"]
    /// The flags of an e-mail.
    private static let flags: [Bool?] = [true, false, nil]

    /// Returns the same command with one of many e-mails or none.
    private func command(
        _ command: Command, _ generator: inout SeededGenerator
    ) -> Command {
        let email =
            Int.random(in: 0..<3, using: &generator) == 0
            ? nil
            : Email(
                Self.emails.randomElement(using: &generator) ?? "",
                isVerified: Self.flags.randomElement(using: &generator) ?? nil)
        let intent: Command.Intent
        switch command.intent {
        case .signIn(let asked):
            intent = .signIn(
                SignIn(
                    proof(
                        asked.proof.subject, email: email,
                        authenticatedAt: asked.proof.authenticatedAt),
                    createAccount: asked.createAccount, refreshToken: asked.refreshToken,
                    newAccount: asked.newAccount, newIdentity: asked.newIdentity,
                    newSession: asked.newSession))
        case .linkProvider(let asked):
            guard let subject = asked.credential.proof?.subject else { return command }
            intent = .linkProvider(
                LinkProvider(
                    caller: asked.caller,
                    credential: Credential(
                        subject, email: email, digest: asked.credential.digest.digest),
                    idempotency: nil, newIdentity: asked.newIdentity))
        default: return command
        }
        return Command(
            id: command.id, tenant: command.tenant, origin: command.origin, intent: intent)
    }

    /// A sign-in or a link with its e-mail.
    private struct Proof {
        let position: LogPosition
        let account: AccountID
        let isLink: Bool
        var email: Email?
    }

    /// Returns the proofs of each identity, in order.
    private func proofs(_ database: ScratchDatabase) async throws -> [IdentityID: [Proof]] {
        let reads = EventReads(url: database.runtimeURL, keyring: SequencerFixture.keyring) { _ in }
        var query = EventQuery(limit: 1_000)
        var proofs: [IdentityID: [Proof]] = [:]
        var link: (identity: IdentityID, command: CommandID)?
        var hasMore = true
        while hasMore {
            let page = try await reads.events(matching: query, in: .default, isDisclosing: true)
            for event in page.elements {
                let recorded = try #require(event.recorded)
                let email = DisclosedValues(event.disclosures ?? []).email
                switch recorded.event {
                case .providerLinked(let fact):
                    link = (identity: fact.identity, command: recorded.command)
                    proofs[fact.identity, default: []].append(
                        Proof(
                            position: recorded.position, account: fact.account, isLink: true,
                            email: email))
                case .signedIn(let fact):
                    // The sign-in that opened the account replaces its link.
                    if let last = proofs[fact.identity]?.indices.last,
                        link?.identity == fact.identity, link?.command == recorded.command
                    {
                        proofs[fact.identity]?[last].email = email
                    }
                    proofs[fact.identity, default: []].append(
                        Proof(
                            position: recorded.position, account: fact.account, isLink: false,
                            email: email))
                default: break
                }
            }
            query.after = page.cursor.map { LogPosition($0) }
            hasMore = page.hasMore
        }
        await reads.close()
        return proofs
    }

    private static func said(_ identity: String, _ isVerified: Bool?) -> String {
        "\(identity) \(isVerified.map { "\($0)" } ?? "nil")"
    }

    /// Returns the former e-mails, in the form that searches compare.
    private func expected(_ database: ScratchDatabase) async throws -> [String: Set<String>] {
        let proofs = try await proofs(database)
        let rows = try await database.rows(
            """
            identity_id::text, last_account_id::text, linked_position::text]) FROM identities
            WHERE account_id IS NULL
            """)
        var expected: [String: Set<String>] = [:]
        for row in rows {
            let columns = row.split(separator: "|").map { String($0) }
            let identity = try #require(IdentityID(columns[0]))
            let account = try #require(AccountID(columns[1]))
            let linked = try #require(LogPosition(digits: columns[2]))
            let own = proofs[identity] ?? []
            let link = own.first { $0.isLink && $0.position == linked }
            let signIns = own.filter { !$0.isLink && $0.position > linked }
            let email =
                signIns.suffix(10).last {
                    $0.email != nil && [account, link?.account].contains($0.account)
                }?.email ?? link?.email
            if let email {
                expected[SearchTerm.comparable(email: email.address), default: []].insert(
                    Self.said(columns[0], email.isVerified))
            }
        }
        return expected
    }

    /// Searches for every e-mail; returns the number of unlinked identities that were found.
    private func compare(_ database: ScratchDatabase) async throws -> Int {
        try await database.fold()
        let expected = try await expected(database)
        for email in Set(Self.emails.map { SearchTerm.comparable(email: $0) }) {
            let found = try await database.search(email)
            #expect(!found.hasMore)
            let former = found.identities.filter {
                $0.matchedBy == [.email(isVerified: $0.isEmailVerified, isFormer: true)]
            }
            #expect(
                Set(former.map { Self.said("\($0.id)", $0.isEmailVerified) })
                    == expected[email] ?? [], "\(email)")
            let linked = try await database.asSuperuser.texts(
                """
                SELECT concat(identity_id, ' ', coalesce(email_verified::text, 'nil'))
                FROM user_providers
                WHERE lower(btrim(email)) = '\(email)'
                """)
            let live = found.identities.filter {
                $0.matchedBy == [.email(isVerified: $0.isEmailVerified, isFormer: false)]
            }
            #expect(
                Set(live.map { Self.said("\($0.id)", $0.isEmailVerified) }) == Set(linked),
                "\(email)")
            let flags = found.identities.map { $0.isEmailVerified == true }
            #expect(flags == flags.sorted { $0 && !$1 }, "verified ones come first")
            #expect(live.count + former.count == found.identities.count)
        }
        return expected.values.reduce(0) { $0 + $1.count }
    }

    @Test(arguments: [UInt64(1), 3, 4, 5])
    func `former e-mails match the log after any history`(
        seed: UInt64
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var commands = RandomCommands(seed: seed)
                var generator = SeededGenerator(seed: seed)
                let worker = FormerEmailWorker(
                    url: database.runtimeURL, keyring: SequencerFixture.keyring,
                    key: ScratchDatabase.searchKey
                ) { Issue.record("\($0)") }
                var count = 0
                for _ in 0..<4 {
                    for number in 0..<80 {
                        let command = command(commands.next(), &generator)
                        commands.learn(try await fixture.sequencer.submit(command))
                        if number % 7 == 0 { try await worker.round() }
                    }
                    count += try await compare(database)
                }
                #expect(count > 0, "the seed has an unlinked identity")
                #expect(fixture.reportedFaults == [])
                let report = try await database.verifySearch()
                #expect(report.holds, "\(report.findings)")
            }
        }
    }
}
