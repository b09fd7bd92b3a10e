import Ledger
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// The sessions of the console in Postgres.
struct StaffSessionStoreTests {
    private static let now = Timestamp(seconds: 1_790_000_000)

    private func with(
        _ body: (ScratchDatabase, PostgresStaffSessions) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            let store = PostgresStaffSessions(url: database.runtimeURL) { Issue.record("\($0)") }
            do {
                try await body(database, store)
                await store.close()
            } catch {
                await store.close()
                throw error
            }
        }
    }

    private func session(
        _ number: UInt8, staff: UInt128 = 1, usedAfter seconds: Int64 = 0
    ) -> StoredStaffSession {
        StoredStaffSession(
            digest: digest(Array(repeating: number, count: 32)), staff: StaffID(bits: staff),
            content: "content \(number)", usedAt: Self.now.adding(seconds: seconds),
            expiresAt: Self.now.adding(seconds: 43_200))
    }

    @Test func `a session is read as it was stored, used, changed and ended`() async throws {
        try await with { _, store in
            let first = session(1)
            #expect(try await store.session(first.digest) == nil)
            try await store.begin(first, replacing: nil)
            #expect(try await store.session(first.digest) == first)
            try await store.use(first.digest, at: Self.now.adding(seconds: 60))
            // A slower request does not make the use earlier.
            try await store.use(first.digest, at: Self.now.adding(seconds: 30))
            try await store.replaceContent(of: first.digest, with: "other")
            let changed = try #require(try await store.session(first.digest))
            #expect(changed.usedAt == Self.now.adding(seconds: 60) && changed.content == "other")
            try await store.end(first.digest)
            #expect(try await store.session(first.digest) == nil)
            // An ended session does not come back.
            try await store.use(first.digest, at: Self.now)
            try await store.replaceContent(of: first.digest, with: "again")
            #expect(try await store.session(first.digest) == nil)
        }
    }

    @Test func `a sign-in replaces the session of the browser, of any person`() async throws {
        try await with { _, store in
            try await store.begin(session(1), replacing: nil)
            try await store.begin(session(2, staff: 2), replacing: session(1).digest)
            #expect(try await store.session(session(1).digest) == nil)
            #expect(try await store.session(session(2).digest) != nil)
        }
    }

    @Test func `a person has a limited number of sessions, and ends them all at once`()
        async throws
    {
        try await with { _, store in
            try await store.begin(session(200, staff: 2), replacing: nil)
            for number in 1...22 {
                try await store.begin(
                    session(UInt8(number), usedAfter: Int64(number)), replacing: nil)
            }
            func live() async throws -> [UInt8] {
                var live: [UInt8] = []
                for number in UInt8(1)...22
                where try await store.session(session(number).digest) != nil {
                    live.append(number)
                }
                return live
            }
            #expect(try await live() == Array(3...22))
            try await store.endAll(of: StaffID(bits: 1))
            #expect(try await live().isEmpty)
            #expect(try await store.session(session(200, staff: 2).digest) != nil)
        }
    }

    @Test func `expired sessions are swept`() async throws {
        try await with { database, store in
            try await store.begin(session(1), replacing: nil)
            try await store.begin(session(2), replacing: nil)
            try await database.asSuperuser.execute(
                """
                UPDATE console_sessions SET expires_at = CASE
                    WHEN content = 'content 1' THEN now() - interval '61 minutes'
                    ELSE now() - interval '59 minutes' END
                """)
            let sweeper = Sweeper(url: database.runtimeURL) { Issue.record("\($0)") }
            #expect(try await sweeper.sweep() == 1)
            #expect(try await store.session(session(1).digest) == nil)
            #expect(try await store.session(session(2).digest) != nil)
        }
    }
}
