internal import Foundation
internal import Postgres

/// The results and costs of a crowd.
package struct Figures: Sendable {
    package let report: Crowd.Report
    /// Processor time of server, Postgres and crowd.
    package let cpuSeconds: Double
    /// Idle processor time meanwhile.
    package let idleSeconds: Double
    /// The server's peak memory.
    package let memoryMebibytes: Double

    var cpuSecondsPerAccepted: Double { cpuSeconds / Double(max(1, report.accepted.count)) }

    /// Returns accepted requests per second relative to another run's.
    package func rate(to peak: Figures) -> Double {
        report.acceptedPerSecond / peak.report.acceptedPerSecond
    }

    /// Returns accepted requests per second of processor time relative to another run's.
    ///
    /// If processors are the bottleneck, this is the rate without the effect of other work on the machine.
    package func economy(to peak: Figures) -> Double {
        peak.cpuSecondsPerAccepted / cpuSecondsPerAccepted
    }

    /// The used share of the available processor time, without other guests of a virtual machine and other
    /// programs.
    private var useOfProcessors: Double { cpuSeconds / max(0.001, cpuSeconds + idleSeconds) }

    /// The number of busy processors.
    ///
    /// A service that waits unnecessarily keeps few busy, even if its cost per request is low.
    package var busyProcessors: Double { Double(CPUTime.processorCount) * useOfProcessors }

    /// Returns accepted requests per second of available processor time relative to another run's: the
    /// rate that a dedicated machine would have.
    package func pace(to peak: Figures) -> Double {
        economy(to: peak) * useOfProcessors / peak.useOfProcessors
    }
}

/// A server, people who can sign in, and crowds of clients.
package final class OverloadTrial: Sendable {
    package let deployment: Deployment
    package let server: ServerProcess
    package let crowd: Crowd
    private let cluster: PrivateCluster
    private let bodies: [String]

    /// Whether this is the long run of `tools/overload`.
    package static var isLong: Bool {
        ProcessInfo.processInfo.environment["LEDGER_OVERLOAD"] == "long"
    }

    /// Runs the body with a server and people with accounts, none of them near the end of a budget.
    ///
    /// - Throws: an error of the setup or the body.
    package static func with<Value>(
        people: Int, clusterEnvironment: [String: String] = [:],
        _ body: (OverloadTrial) async throws -> Value
    ) async throws -> Value {
        let settings = ["LEDGER_SIGN_IN_LIMIT": "1000000"]
        return try await PrivateCluster.with(environment: clusterEnvironment) { cluster in
            try await Deployment.with(on: cluster, settings: settings) { deployment in
                let bodies = await tokens(of: people, from: deployment.apple)
                let crowd = try await Crowd()
                let server = try await deployment.serve()
                return try await body(
                    OverloadTrial(
                        cluster: cluster, deployment: deployment, server: server, crowd: crowd,
                        bodies: bodies))
            }
        }
    }

    private init(
        cluster: PrivateCluster, deployment: Deployment, server: ServerProcess, crowd: Crowd,
        bodies: [String]
    ) {
        self.cluster = cluster
        self.deployment = deployment
        self.server = server
        self.crowd = crowd
        self.bodies = bodies
    }

    private static func tokens(of people: Int, from provider: TestIdentityProvider) async
        -> [String]
    {
        await withTaskGroup(of: [String].self) { group in
            let lanes = 8
            for lane in 0..<lanes {
                group.addTask {
                    stride(from: lane, to: people, by: lanes).map { number in
                        #"{"id_token":"\#(provider.token(subject: "person-\(number)"))"}"#
                    }
                }
            }
            return await group.reduce([], +)
        }
    }

    /// Runs clients that sign in repeatedly.
    ///
    /// - Throws: `TestTimeout`.
    package func signIns(connections: Int, seconds: Int) async throws -> Figures {
        let (before, idleBefore) = (cpuSeconds, CPUTime.idleSeconds)
        let report = try await crowd.work(
            on: server.port, path: "/v1/auth/sign-in/apple", bodies: bodies,
            connections: connections, seconds: seconds)
        return Figures(
            report: report, cpuSeconds: cpuSeconds - before + report.cpuSeconds,
            idleSeconds: CPUTime.idleSeconds - idleBefore,
            memoryMebibytes: try mostMemory())
    }

    private var cpuSeconds: Double {
        CPUTime.seconds(of: server.process.id) + cluster.cpuSeconds
    }

    /// Returns the server's peak memory, in MiB.
    ///
    /// - Throws: an error of the file system.
    package func mostMemory() throws -> Double {
        let status = try String(
            contentsOfFile: "/proc/\(server.process.id)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        let kibibytes = line.split(separator: " ").compactMap { Double($0) }.first ?? .infinity
        return kibibytes / 1_024
    }

    /// Returns the number of sign-ins in the log.
    ///
    /// - Throws: `PostgresError`.
    package func signInsInLog() async throws -> Int {
        let session = Session(url: deployment.superuserURL, applicationName: "overload count")
        let count = try await session.run { connection in
            try connection.query(
                Statement("sign_ins", "SELECT count(*) FROM events WHERE type = 'SignedIn'")
            ).int8(0, 0)
        }
        await session.close()
        return Int(count)
    }

    /// Appends the results of a crowd to the report.
    ///
    /// - Throws: an error of the file system.
    package func report(_ what: String, _ figures: Figures, peak: Figures) throws {
        let report = figures.report
        try FaultReport.add([
            "crowd": what, "connections": report.connections, "seconds": report.seconds,
            "accepted": report.accepted.count,
            "accepted_per_second": report.acceptedPerSecond.rounded(),
            "of_peak": (figures.rate(to: peak) * 100).rounded() / 100,
            "of_peak_by_cpu": (figures.economy(to: peak) * 100).rounded() / 100,
            "of_peak_by_clock": (figures.pace(to: peak) * 100).rounded() / 100,
            "busy_processors": (figures.busyProcessors * 100).rounded() / 100,
            "cpu_us_per_accepted": (figures.cpuSecondsPerAccepted * 1_000_000).rounded(),
            "accepted_p50_ms": report.accepted.p50Milliseconds,
            "accepted_p99_ms": report.accepted.p99Milliseconds,
            "accepted_max_ms": report.accepted.longestMilliseconds,
            "refused": report.refused.count, "refused_p50_ms": report.refused.p50Milliseconds,
            "refused_p99_ms": report.refused.p99Milliseconds,
            "other": report.other, "cut": report.cut, "connect_failures": report.connectFailures,
            "outstanding": report.outstanding,
            "outstanding_max_ms": report.outstandingLongestMilliseconds,
            "memory_mib": figures.memoryMebibytes.rounded(),
        ])
    }
}
