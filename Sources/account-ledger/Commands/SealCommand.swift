import CommandLine
import Foundation
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import TransparencyLog

/// `seal`: hashes new events and signs checkpoints, without serving.
enum SealCommand {
    /// Time that `--once` waits for a log sealed by another process.
    private static let patience = Duration.seconds(60)
    private static let pause = Duration.milliseconds(20)

    static let syntax = Syntax(
        words: ["seal"], summary: "hash new events and sign checkpoints, without serving",
        options: [
            .init(name: "once", meaning: "exit when all events present at the start are signed"),
            .init(
                name: "without-macs",
                meaning: "without LEDGER_KEYS: sign events that no server has appended as well"),
        ],
        settings: [.databaseURL, .sealerState, .origin, .mode, .keys, .logLevel],
        details: """
            Does the sealing that serve does when LEDGER_SEALER_STATE is set, in a process without other
            rights: with a login of the group <database>_ledger_sealer. Waits while another process seals.
            Exits with 1 when the log contradicts an earlier signature; it never signs a different log
            instead. Has no listener and no readiness endpoint: its log reports "sealing refused". With
            the keys of LEDGER_KEYS it refuses events that no server has appended; a directory with only the
            files mac-*.key is enough. Without it, the command requires --without-macs.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let url = try environment.databaseURL
        guard let directory = try SealingSetup.directory(environment, mode: try environment.mode)
        else {
            throw Fault("\(Setting.sealerState.name) is not set: \(Setting.sealerState.meaning)")
        }
        try SchemaCheck.withConnection(to: url) { _ in }
        try await SealingSetup.check(directory, url: url)
        let level: LogLevel = try environment.value(
            .logLevel, wants: "debug, info, warning or error", LogLevel.init(rawValue:))
        let log = Log(threshold: level)
        defer { log.flush() }
        let macs = try macKeys(environment)
        if macs == nil {
            guard arguments.has("without-macs") else {
                throw Fault(
                    "MAC keys are required: set \(Setting.keys.name), or give --without-macs to sign"
                        + " events that no server has appended as well")
            }
            log.write(
                .warning, "MACs are not checked",
                ["detail": .text("\(Setting.keys.name) is not set")])
        }
        let sealer = Sealer(url: url, directory: directory, macs: macs, log: log)
        let signals = await StopSignals.received()
        if arguments.has("once") { try await sealer.checkPublished() }
        let running = Task { await sealer.run() }
        log.write(.info, "sealing")
        let outcome: Result<Void, any Error>
        do {
            if arguments.has("once") {
                try await untilStopped(by: signals) {
                    try await sealOnce(sealer, directory, url: url)
                }
            } else {
                var received = signals.makeAsyncIterator()
                _ = await received.next()
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        // Also after a fault: it releases the leases, so that others need not wait until they expire.
        running.cancel()
        await running.value
        log.write(.info, "stopped")
        try outcome.get()
        return .success
    }

    /// Returns the MAC keys, which are loaded again when a log names an unknown one.
    private static func macKeys(_ environment: Environment) throws(Fault) -> MACKeys? {
        guard let macs = try LedgerCommands.macKeys(environment),
            let path = environment.given(.keys)
        else { return nil }
        macs.whenUnknown {
            if let found = try? KeyDirectory(path: path).loadMACKeys() { macs.use(found) }
        }
        return macs
    }

    /// Runs the body; a signal before its end is a fault.
    private static func untilStopped(
        by signals: AsyncStream<Int32>, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work() }
            group.addTask {
                var received = signals.makeAsyncIterator()
                if await received.next() != nil {
                    throw Fault("stopped before all events were signed")
                }
            }
            // Only the body ends without a fault; the other task waits until it is cancelled.
            try await group.next()
            group.cancelAll()
        }
    }

    /// Waits until every log is signed up to its size at the start, by any process.
    private static func sealOnce(
        _ sealer: Sealer, _ directory: SealerDirectory, url: String
    ) async throws {
        // Read before the events are counted, which can only grow. Neither leases nor published checkpoints
        // show whether a log was set back, because a restored database contains old ones of both.
        let signed = try directory.signedTenants().map { tenant in
            // The sealer refuses a damaged record.
            (
                tenant,
                (try? directory.logState(of: tenant, mayBegin: false))?.last?.checkpoint.size ?? 0
            )
        }
        let tenants = try await Tenants(url: url).list()
        let moves = try await Tenants(url: url).moves()
        // The log of a tenant that was moved goes on elsewhere, with this record.
        for (tenant, move) in moves.sorted(by: { $0.key < $1.key }) {
            LedgerCommands.reportMoved(tenant, move)
        }
        for (tenant, size) in signed where moves[tenant] == nil {
            guard let found = tenants.first(where: { $0.tenant == tenant }) else {
                throw Fault("tenant \(tenant) was sealed, but it is not in the database")
            }
            try expect(size, of: tenant, events: found.events)
        }
        let wanted = tenants.filter { $0.events > 0 && moves[$0.tenant] == nil }
        let reads = ProofReads(url: url) { _ in }
        let deadline = ContinuousClock.now + patience
        var signedTenants: [String] = []
        var refusals: [String] = []
        for (tenant, size) in wanted {
            while true {
                let status = sealer.statuses.first { $0.tenant == tenant }
                if let refusal = status?.refusal {
                    refusals.append("tenant \(tenant) is not signed: \(refusal)")
                    break
                }
                if let status, status.isSignedHere, status.signed >= size {
                    signedTenants.append("\(tenant)\tsigned up to size \(size)\n")
                    break
                }
                let isOurs = status?.isHeld ?? true
                if !isOurs, let signed = try await reads.latestCheckpoint(of: tenant)?.size,
                    signed >= size
                {
                    let found = try await Tenants(url: url).list().first { $0.tenant == tenant }
                    try expect(signed, of: tenant, events: found?.events ?? 0)
                    signedTenants.append("\(tenant)\tsigned up to size \(size)\n")
                    break
                }
                guard isOurs || ContinuousClock.now < deadline else {
                    throw Fault(
                        "tenant \(tenant) is sealed by another process, which has not signed in time"
                    )
                }
                try await Task.sleep(for: pause)
            }
        }
        await reads.close()
        Terminal.print(signedTenants.joined())
        guard refusals.isEmpty else { throw Fault(refusals.joined(separator: "; ")) }
    }

    /// Checks that a log has at least as many events as were signed.
    private static func expect(
        _ signed: Int64, of tenant: TenantID, events: Int64
    ) throws(Fault) {
        guard events < signed else { return }
        let refusal = SealingRefusal.logTruncated(size: events, signed: signed)
        throw Fault("tenant \(tenant) is not signed: \(refusal)")
    }
}

extension Sealer {
    /// Creates a sealer that logs its faults, and a contradiction to a signature as an error.
    convenience init(
        url: String, configuration: SealerConfiguration = SealerConfiguration(),
        directory: SealerDirectory, macs: MACKeys?, log: Log
    ) {
        self.init(
            url: url, configuration: configuration, record: directory, macs: macs,
            onFault: { log.write(.warning, "sealer fault", ["detail": .text($0)]) },
            onRefusal: { tenant, refusal in
                log.write(
                    .error, "sealing refused",
                    ["tenant": .text("\(tenant)"), "detail": .text("\(refusal)")])
            })
    }
}
