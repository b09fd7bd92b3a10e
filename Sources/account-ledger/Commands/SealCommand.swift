import Foundation
import Ledger
import LedgerPostgres
import TransparencyLog

/// `seal`: hashes what is appended and signs checkpoints, without serving.
enum SealCommand {
    /// How long a pass waits for a log that somebody else seals.
    private static let patience = Duration.seconds(60)
    private static let pause = Duration.milliseconds(20)

    static let syntax = Syntax(
        words: ["seal"], summary: "hash what is appended and sign checkpoints, without serving",
        options: [
            .init(name: "once", meaning: "end when everything that is there now is signed")
        ],
        settings: [.databaseURL, .sealerState, .origin, .mode, .keys, .logLevel],
        details: """
            Does what serve does where LEDGER_SEALER_STATE is set, for a process that has no other rights: a
            login of the group <database>_ledger_sealer. Waits for its turn while another one seals. Exits
            with 1 when what was signed before does not hold any more; it never signs anything else instead.
            Has no listener, and so no readiness: its log says "sealing refused". With LEDGER_KEYS it signs
            no event that no server has appended; a directory with the files mac-*.key alone will do.
            Without it nobody but a server's own sealer would see that.
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
            log.write(
                .warning, "MACs are not checked",
                ["detail": .text("\(Setting.keys.name) is not set")])
        }
        let sealer = Sealer(url: url, directory: directory, macs: macs, log: log)
        let signals = StopSignals.received()
        if arguments.has("once") { try await sealer.lookAtPublished() }
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
        // Also after a fault: it gives the leases back, and others need not wait until they expire.
        running.cancel()
        await running.value
        log.write(.info, "stopped")
        try outcome.get()
        return .success
    }

    /// The MAC keys, which follow the directory when a log names one that is not at hand.
    private static func macKeys(_ environment: Environment) throws(Fault) -> MACKeys? {
        guard let macs = try LedgerReading.macKeys(environment), let path = environment.given(.keys)
        else { return nil }
        macs.whenUnknown {
            if let found = try? KeyDirectory(path: path).loadMACKeys() { macs.use(found) }
        }
        return macs
    }

    /// Does the work, unless a signal ends it first, which is a fault: it is not done then.
    private static func untilStopped(
        by signals: AsyncStream<Int32>, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work() }
            group.addTask {
                var received = signals.makeAsyncIterator()
                if await received.next() != nil {
                    throw Fault("stopped before everything was signed")
                }
            }
            // The work is the first to end without a fault; the other one waits until it is cancelled.
            try await group.next()
            group.cancelAll()
        }
    }

    /// Waits until every log is signed up to where it ended at first, by whomever.
    private static func sealOnce(
        _ sealer: Sealer, _ directory: SealerDirectory, url: String
    ) async throws {
        // Before the events are counted, which can only grow: not who holds a lease says whether a log went
        // back, nor what is published, since a database that is set back takes both along.
        let signed = try directory.signedTenants().map { tenant in
            // A record that is not fit for use is the sealer's to refuse.
            (
                tenant,
                (try? directory.standing(of: tenant, mayBegin: false))?.last?.checkpoint.size ?? 0
            )
        }
        let tenants = try await Tenants(url: url).list()
        for (tenant, size) in signed {
            guard let found = tenants.first(where: { $0.tenant == tenant }) else {
                throw Fault("tenant \(tenant) was sealed, and the database does not have it")
            }
            try expect(size, of: tenant, events: found.events)
        }
        let wanted = tenants.filter { $0.events > 0 }
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
                        "tenant \(tenant) is sealed by another process, which does not sign")
                }
                try await Task.sleep(for: pause)
            }
        }
        await reads.close()
        Terminal.print(signedTenants.joined())
        guard refusals.isEmpty else { throw Fault(refusals.joined(separator: "; ")) }
    }

    /// Sees that a log has as many events as were signed before they were counted.
    private static func expect(
        _ signed: Int64, of tenant: TenantID, events: Int64
    ) throws(Fault) {
        guard events < signed else { return }
        let refusal = SealingRefusal.logWentBack(size: events, signed: signed)
        throw Fault("tenant \(tenant) is not signed: \(refusal)")
    }
}

extension Sealer {
    /// A sealer whose troubles go to the log: what contradicts a signature is an error that names it.
    convenience init(url: String, directory: SealerDirectory, macs: MACKeys?, log: Log) {
        self.init(
            configuration: SealerConfiguration(url: url), record: directory, macs: macs,
            onFault: { log.write(.warning, "sealer fault", ["detail": .text($0)]) },
            onRefusal: { tenant, refusal in
                log.write(
                    .error, "sealing refused",
                    ["tenant": .text("\(tenant)"), "detail": .text("\(refusal)")])
            })
    }
}
