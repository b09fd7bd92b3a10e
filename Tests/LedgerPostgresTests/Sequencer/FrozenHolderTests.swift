import ChildProcesses
import Foundation
import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// Processes that freeze while they hold locks, like a process that is stopped or whose machine is paused.
@Suite struct FrozenHolderTests {
    /// The activity during which a process froze.
    enum Moment: CaseIterable {
        case sendingPipeline, readingAnswer, sendingCopy, betweenTrips

        /// The connections that Postgres then waits for.
        var condition: String {
            switch self {
            case .sendingPipeline, .sendingCopy:
                "state = 'active' AND wait_event = 'ClientRead' AND backend_xid IS NOT NULL"
            case .readingAnswer:
                "state = 'active' AND wait_event = 'ClientWrite' AND backend_xid IS NOT NULL"
            case .betweenTrips: "state = 'idle in transaction' AND backend_xid IS NOT NULL"
            }
        }
    }

    // More than the socket buffers on both sides hold.
    private static let longAnswer = Statement(
        "long_answer", "SELECT repeat('x', 1000) FROM generate_series(1, 50000)")

    @Test(arguments: [Moment.sendingPipeline, .readingAnswer])
    func `a frozen batch does not block the tenant`(_ moment: Moment) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let thaw = DispatchSemaphore(value: 0)
                defer { thaw.signal() }
                let frozen = Postgres.Session(
                    url: database.runtimeURL, applicationName: LockHolderName.sequencer.rawValue
                ) { try $0.execute(PostgresBatchStore.settings) }
                let batch = Task {
                    try await frozen.run { connection in
                        _ = try connection.query(.begin)
                        let answer = moment == .readingAnswer ? [Call(Self.longAnswer)] : []
                        _ = try connection.pipeline(parts: [
                            { [HeadLoad.lock([.default])] + answer },
                            {
                                _ = thaw.wait(timeout: .now() + 120)
                                return [Call(.commit)]
                            },
                        ])
                    }
                }
                try await expectHeld(moment, by: .sequencer, in: database)
                try await watched(database) {
                    var story = Story(fixture.sequencer)
                    var isServed = false
                    for _ in 0..<3 where !isServed {
                        isServed = (try? await story.signIn("apple", "ada")) != nil
                    }
                    #expect(isServed, "three batches waited for a frozen one")
                }
                thaw.signal()
                await #expect(throws: PostgresError.self) { try await batch.value }
            }
        }
    }

    @Test(arguments: [Moment.sendingCopy, .betweenTrips])
    func `a frozen projector does not delay reads`(
        _ moment: Moment
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada")
                try await database.fold()
                _ = try await story.link(ada, "google", "ada").get()
                let frozen = try SilentClient(
                    named: .projector, url: database.runtimeURL,
                    PostgresProjectionStore.settings
                        + "BEGIN; SELECT 1 FROM projections FOR UPDATE;\n"
                        + (moment == .sendingCopy ? "COPY user_providers_1 FROM STDIN;\n" : ""))
                defer { frozen.end() }
                try await expectHeld(moment, by: .projector, in: database)

                let projector = database.projector()
                let projecting = Task { await projector.run() }
                let reads = AccountReads(
                    url: database.runtimeURL,
                    onBehind: { projector.wakeUrgently(for: $0, from: $1) },
                    onFault: { _ in })
                let reading = Task { await reads.run() }
                try await watched(database) {
                    var seen: Int?
                    // Each waits three seconds for the projection.
                    for _ in 0..<3 where seen == nil {
                        seen = try? await reads.identities(of: ada.caller, in: .default).get().count
                    }
                    #expect(seen == 2, "three reads waited for a frozen projector")
                }
                reads.close()
                projecting.cancel()
                await reading.value
                await projecting.value
            }
        }
    }

    @Test func `a frozen client without locks is left alone`() async throws {
        try await ScratchDatabase.with { database in
            let thaw = DispatchSemaphore(value: 0)
            defer { thaw.signal() }
            let reader = Postgres.Session(
                url: database.runtimeURL, applicationName: LockHolderName.access.rawValue,
                statementDeadline: .seconds(240))
            let reading = Task {
                try await reader.run { connection in
                    _ = try connection.query(.begin)
                    _ = try connection.pipeline(parts: [
                        { [RulesLoad.call([.default])] },
                        {
                            _ = thaw.wait(timeout: .now() + 120)
                            return [Call(.commit)]
                        },
                    ])
                }
            }
            try await eventually("a reader is frozen") {
                try await count(
                    of: .access, in: database,
                    where: "state = 'active' AND wait_event = 'ClientRead'") == 1
            }
            let frozen = try SilentClient(
                named: .projector, url: database.runtimeURL,
                "BEGIN; SELECT pg_current_xact_id();\nCOPY user_providers_1 FROM STDIN;\n")
            defer { frozen.end() }
            try await expectHeld(.sendingCopy, by: .projector, in: database)
            try await watched(database) {
                // The reader is frozen for longer than the holder that is terminated.
                try await eventually("the holder is terminated") {
                    try await count(of: .projector, in: database, where: "true") == 0
                }
            }
            thaw.signal()
            try await reading.value
        }
    }

    @Test func `Postgres is configured to notice within seconds that a machine has vanished`()
        async throws
    {
        try await ScratchDatabase.with { database in
            for settings in [PostgresBatchStore.settings, PostgresProjectionStore.settings] {
                let session = Postgres.Session(url: database.runtimeURL, applicationName: "test") {
                    try $0.execute(settings)
                }
                let isAsTold = try await session.run { connection in
                    try connection.query(Self.vanishing).bool(0, 0)
                }
                #expect(isAsTold)
                await session.close()
            }
        }
    }

    // The settings of the socket, which have no effect on a local one.
    private static let vanishing = Statement(
        "vanishing",
        """
        SELECT inet_server_addr() IS NULL OR (
            current_setting('tcp_keepalives_idle')::int BETWEEN 1 AND 5
            AND current_setting('tcp_keepalives_interval')::int BETWEEN 1 AND 5
            AND current_setting('tcp_user_timeout') = '5000')
        """)

    private func expectHeld(
        _ moment: Moment, by holder: LockHolderName, in database: ScratchDatabase
    ) async throws {
        try await eventually("\(holder) is frozen: \(moment)") {
            try await count(of: holder, in: database, where: moment.condition) == 1
        }
    }

    /// Returns the number of connections with a name for which a condition holds.
    private func count(
        of holder: LockHolderName, in database: ScratchDatabase, where condition: String
    ) async throws -> Int {
        try await database.asSuperuser.texts(
            """
            SELECT pid::text FROM pg_stat_activity WHERE datname = current_database()
                AND application_name = '\(holder.rawValue)' AND \(condition)
            """
        ).count
    }

    /// Watches the database while the body runs.
    private func watched(_ database: ScratchDatabase, _ body: () async throws -> Void) async throws
    {
        let watch = LockHolderWatch(url: database.runtimeURL, onFault: { _ in })
        let watching = Task { await watch.run() }
        do {
            try await body()
        } catch {
            watching.cancel()
            await watching.value
            throw error
        }
        watching.cancel()
        await watching.value
    }
}

/// A client of Postgres that sends its script and then nothing, with its connection open.
private final class SilentClient {
    private let process: ChildProcess
    private let input = Pipe()

    init(named name: LockHolderName, url: String, _ words: String) throws {
        process = try ChildProcess(
            executable: "/usr/bin/env", arguments: ["psql", "-X", "-q", url],
            environment: ProcessInfo.processInfo.environment.merging(
                ["PGAPPNAME": name.rawValue]
            ) { $1 },
            input: .file(input.fileHandleForReading.fileDescriptor), output: .null, errors: .null)
        try input.fileHandleForWriting.write(contentsOf: Data(words.utf8))
    }

    func end() {
        process.send(SIGTERM)
    }
}
