import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

struct AccessLogTests {
    /// Runs a body with a running gate.
    private func withGate<Value: Sendable>(
        _ url: String, _ body: (AccessGate) async throws -> Value
    ) async throws -> Value {
        let gate = AccessGate(url: url, macs: SequencerFixture.keyring.macs) { _ in }
        let running = Task { await gate.run() }
        do {
            let value = try await body(gate)
            gate.close()
            await running.value
            return value
        } catch {
            gate.close()
            await running.value
            throw error
        }
    }

    private func access(_ number: Int) -> AccessRecord {
        var access = AccessRecord(
            by: Principal(key: APIKeyID(bits: UInt128(number % 3)), role: .auditor), .listEvents)
        access.details = ["after": "\(number)"]
        return access
    }

    @Test func `a line holds what was recorded`() async throws {
        try await ScratchDatabase.with { database in
            try await withGate(database.runtimeURL) { gate in
                let log = PostgresAccessLog(url: database.runtimeURL, gate: gate) { _ in }
                var first = AccessRecord(
                    by: Principal(key: APIKeyID(bits: 5), role: .support), .readEvent)
                first.account = AccountID(bits: 1)
                first.event = EventID(bits: 2)
                first.details = ["b": "\"", "a": "1"]
                first.isDisclosed = true
                first.reason = "ticket 7"
                first.request = RequestID(bits: 3)
                try await log.record(first, in: .default)
                try await log.record(AccessRecord(by: nil, .listLogKeys), in: .default)
                let page = try await log.accesses(matching: AccessQuery(limit: 9), in: .default)
                #expect(page.elements.map(\.position) == [0, 1])
                let line = try #require(page.elements.first)
                #expect(line.principal == "api_key:00000000-0000-0000-0000-000000000005")
                #expect(line.role == "support")
                #expect(line.action == "event.read")
                #expect(line.account == AccountID(bits: 1))
                #expect(line.event == EventID(bits: 2))
                #expect(line.details == #"{"a":"1","b":"\""}"#)
                #expect(line.isDisclosed)
                #expect(line.reason == "ticket 7")
                #expect(line.outcome == "allowed")
                #expect(line.request == RequestID(bits: 3))
                #expect(page.elements.last?.principal == "operator")
                #expect(!page.hasMore)
                let none = try await log.accesses(
                    matching: AccessQuery(limit: 9), in: tenant("acme"))
                #expect(none.elements.isEmpty && none.cursor == nil && !none.hasMore)
            }
        }
    }

    @Test func `the reason for a hold is found near the time of its event`() async throws {
        try await ScratchDatabase.with { database in
            try await withGate(database.runtimeURL) { gate in
                let log = PostgresAccessLog(url: database.runtimeURL, gate: gate) { _ in }
                let (hold, account) = (HoldID(bits: 8), AccountID(bits: 1))
                for (number, action) in [AccessAction.setLegalHold, .liftLegalHold].enumerated() {
                    var access = access(number)
                    access.action = action
                    access.account = account
                    access.details = ["hold": hold.description]
                    access.reason = action.rawValue
                    try await log.record(access, in: .default)
                }
                let set = try await log.accesses(matching: AccessQuery(limit: 1), in: .default)
                let time = try #require(set.elements.first).at
                func reason(
                    _ hold: HoldID, _ account: AccountID, after seconds: Int64
                ) async throws -> String? {
                    let mark = LogMark(
                        position: LogPosition(1), recordedAt: time.adding(seconds: seconds))
                    return try await log.reason(
                        of: PlacedHold(hold: hold, event: EventID(bits: 1), mark: mark),
                        on: account, in: .default)
                }
                #expect(try await reason(hold, account, after: 0) == "account.hold")
                #expect(try await reason(hold, account, after: 299) == "account.hold")
                #expect(try await reason(hold, account, after: 301) == nil)
                #expect(try await reason(HoldID(bits: 9), account, after: 0) == nil)
                #expect(try await reason(hold, AccountID(bits: 2), after: 0) == nil)
            }
        }
    }

    @Test func `a continuing reader misses no line of two processes`() async throws {
        let perProcess = 400
        try await ScratchDatabase.with { database in
            try await withGate(database.runtimeURL) { one in
                try await withGate(database.runtimeURL) { two in
                    let log = PostgresAccessLog(url: database.runtimeURL, gate: one) { _ in }
                    let isOver = Flag()
                    let writers = Task {
                        defer { isOver.raise() }
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for lane in 0..<16 {
                                group.addTask {
                                    let gate = lane % 2 == 0 ? one : two
                                    for number in 0..<perProcess / 8 {
                                        try await gate.record(
                                            self.access(lane * 1000 + number), in: .default)
                                    }
                                }
                            }
                            try await group.waitForAll()
                        }
                    }
                    var seen: [LoggedAccess] = []
                    var query = AccessQuery(limit: 7)
                    try await eventually("the last line to be seen", within: .seconds(120)) {
                        let wasOver = isOver.isRaised
                        let page = try await log.accesses(matching: query, in: .default)
                        seen += page.elements
                        query.after = page.cursor
                        return wasOver && !page.hasMore ? true : nil
                    }
                    try await writers.value
                    #expect(seen.map(\.position) == (0..<Int64(2 * perProcess)).map(\.self))
                    #expect(Set(seen.map(\.details)).count == 2 * perProcess)
                    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.at <= $1.at })
                    try await expectFilters(log, seen)
                }
            }
        }
    }

    private func expectFilters(_ log: PostgresAccessLog, _ all: [LoggedAccess]) async throws {
        var query = AccessQuery(limit: 10_000)
        query.principal = "api_key:\(APIKeyID(bits: 1))"
        let own = try await log.accesses(matching: query, in: .default)
        #expect(own.elements == all.filter { $0.principal == query.principal })
        query.principal = nil
        query.order = .newest
        query.limit = 300
        var back: [LoggedAccess] = []
        var page: CursorPage<LoggedAccess>
        repeat {
            page = try await log.accesses(matching: query, in: .default)
            back += page.elements
            query.after = page.cursor
        } while page.hasMore
        #expect(back == all.reversed())
        query = AccessQuery(limit: 10_000)
        for index in [0, 1, all.count / 2, all.count - 1] {
            let time = all[index].at
            query.from = .time(time)
            query.through = nil
            let later = try await log.accesses(matching: query, in: .default)
            #expect(later.elements == all.filter { $0.at >= time })
            query.from = nil
            query.through = .time(time)
            let earlier = try await log.accesses(matching: query, in: .default)
            #expect(earlier.elements == all.filter { $0.at <= time })
            #expect(!earlier.hasMore)
        }
        query.from = .position(LogPosition(3))
        query.through = .position(LogPosition(5))
        let some = try await log.accesses(matching: query, in: .default)
        #expect(some.elements.map(\.position) == [3, 4, 5])
    }

    @Test func `only the owner creates and revokes keys, and each use is checked`() async throws {
        try await ScratchDatabase.with { database in
            let key = StoredAPIKey(
                id: APIKeyID(bits: 9), role: .admin, secretDigest: digest(Array(0..<32)),
                label: "l", createdAt: Timestamp(seconds: 1),
                expiresAt: Timestamp(seconds: 2_000_000_000), revokedAt: nil)
            let owner = Session(url: database.ownerURL, applicationName: "test")
            try await owner.run {
                try APIKeyStore(on: $0).add(key, to: .default, macKey: SequencerFixture.macKey)
            }
            try await withGate(database.runtimeURL) { gate in
                #expect(try await gate.key(key.id, in: .default) == key)
                #expect(try await gate.key(key.id, in: tenant("acme")) == nil)
                #expect(try await gate.key(APIKeyID(bits: 8), in: .default) == nil)
                for expected in [
                    APIKeyStore.Revocation.revoked, .revokedBefore,
                ] {
                    let became = try await owner.run {
                        try APIKeyStore(on: $0).revoke(key.id, of: .default)
                    }
                    #expect(became == expected)
                    let now = try await gate.key(key.id, in: .default)
                    #expect(now?.isGood(at: Timestamp(seconds: 3)) == false)
                }
                let unknown = try await owner.run {
                    try APIKeyStore(on: $0).revoke(APIKeyID(bits: 8), of: .default)
                }
                #expect(unknown == .unknown)
                let log = PostgresAccessLog(url: database.runtimeURL, gate: gate) { _ in }
                let page = try await log.accesses(matching: AccessQuery(limit: 9), in: .default)
                #expect(page.elements.map(\.action) == ["api_key.create", "api_key.revoke"])
            }
            let runtime = Session(url: database.runtimeURL, applicationName: "test")
            await #expect(throws: PostgresError.self) {
                try await runtime.run {
                    try APIKeyStore(on: $0).add(
                        key, to: tenant("acme"), macKey: SequencerFixture.macKey)
                }
            }
        }
    }

    @Test func `a failed write is reported`() async throws {
        // Below level 3, where the owner can still drop the table.
        try await ScratchDatabase.with(owner: .plain) { database in
            let owner = Session(url: database.ownerURL, applicationName: "test")
            try await owner.run { try $0.execute("DROP TABLE access_log") }
            try await withGate(database.runtimeURL) { gate in
                _ = await #expect(throws: LedgerFault.unavailable) {
                    try await gate.record(access(1), in: .default)
                }
            }
        }
    }
}
