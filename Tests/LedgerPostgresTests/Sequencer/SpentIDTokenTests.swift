import Foundation
import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// The single-use ID tokens that sequencers remember.
struct SpentIDTokenTests {
    private static let acme = tenant("acme")
    private static let expiry = Timestamp(
        seconds: Int64(Date().timeIntervalSince1970) + 600)

    /// Signs in with a numbered token; returns false when it is refused as spent.
    private func opens(
        _ fixture: SequencerFixture, token: UInt8, in tenant: TenantID = .default,
        until expiry: Timestamp = expiry
    ) async throws -> Bool {
        var generator = SeededGenerator(seed: UInt64.random(in: 0...(.max)))
        let intent = SignIn(
            Proof(
                subject("google", "ada"), authenticatedAt: Timestamp(seconds: 1_000_000_000),
                methods: .federated, email: nil,
                singleUse: SingleUseIDToken(
                    digest: digest(Array(repeating: token, count: 32)), expiresAt: expiry)),
            createAccount: true, refreshToken: digest(generator.bytes(32)),
            newAccount: generator.id(), newIdentity: generator.id(), newSession: generator.id())
        let result = try await fixture.sequencer.submit(
            Command(
                id: generator.id(), tenant: tenant,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: .signIn(intent)))
        switch result {
        case .success(.signedIn): return true
        case .failure(.invalidProviderToken): return false
        default: throw ModelLedger.Unexpected(result: result)
        }
    }

    /// Makes the recorded tokens expire.
    private func pass(seconds: Int, _ database: ScratchDatabase) async throws {
        let session = Postgres.Session(url: database.superuserURL, applicationName: "time")
        try await session.run { connection in
            try connection.execute(
                """
                UPDATE spent_id_tokens SET first_used_at = first_used_at - interval '\(seconds) s',
                    expires_at = expires_at - interval '\(seconds) s'
                """)
        }
        await session.close()
    }

    private func count(_ database: ScratchDatabase) async throws -> Int64 {
        let session = Postgres.Session(url: database.superuserURL, applicationName: "count")
        let count = try await session.run { connection in
            try connection.query(Statement("count", "SELECT count(*) FROM spent_id_tokens"))
                .int8(0, 0)
        }
        await session.close()
        return count
    }

    @Test func `two sequencers share spent tokens, and so does the next process`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { first in
                try await first.open(Self.acme)
                try await SequencerFixture.with(database) { second in
                    // At once and within a minute: a repeated request has lost its answer.
                    async let here = opens(first, token: 1)
                    async let there = opens(second, token: 1)
                    let both = try await [here, there]
                    #expect(both == [true, true])
                    #expect(try await count(database) == 1)
                    try await pass(seconds: 60, database)
                    for fixture in [first, second] {
                        #expect(try await opens(fixture, token: 1) == false)
                    }
                    #expect(try await opens(second, token: 2))
                    #expect(try await opens(second, token: 1, in: Self.acme))
                    #expect(second.reportedFaults.isEmpty)
                }
                #expect(first.reportedFaults.isEmpty)
            }
            try await SequencerFixture.with(database) { later in
                let spent = try await opens(later, token: 1)
                let fresh = try await opens(later, token: 2)
                #expect(!spent && fresh)
            }
        }
    }

    @Test func `a batch's decisions count for its later commands`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let results = try await withThrowingTaskGroup { group in
                    for _ in 0..<32 { group.addTask { try await opens(fixture, token: 1) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(results == Array(repeating: true, count: 32))
                #expect(try await count(database) == 1)
            }
        }
    }

    @Test func `a token is forgotten when no clock can accept it any more`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                _ = try await opens(fixture, token: 1)
                _ = try await opens(fixture, token: 2, until: Self.expiry.adding(seconds: 36_000))
                try await pass(seconds: 600 + 3_000, database)
                let sweeper = Sweeper(url: database.runtimeURL) { _ in }
                #expect(try await sweeper.sweep() == 0)
                try await pass(seconds: 1_200, database)
                #expect(try await sweeper.sweep() == 1)
                #expect(try await count(database) == 1)
                #expect(try await opens(fixture, token: 2) == false)
                #expect(try await opens(fixture, token: 1))
            }
        }
    }
}
