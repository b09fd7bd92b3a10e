import Glibc
import LedgerTestSupport
import Postgres
import Synchronization
import Testing

/// A tenant that is moved from one installation to another one with the same keys.
@Suite(.serialized) struct TenantMoveTests {
    // On Citus there and back; on Postgres alone both are alike.
    @Test(arguments: TestCluster.workers.isEmpty ? [false] : [false, true])
    func `a tenant is moved while it is written, and nothing acknowledged is lost`(
        isBack: Bool
    ) async throws {
        try await withTwo(isBack: isBack) { former, new in
            let servers = [
                try await former.serve(settings: sealing(former)),
                try await former.serve(settings: sealing(former)),
            ]
            let end = EndOfTraffic()
            let seen = Devices()
            let lanes = (0..<3).map { lane in
                Task { try await live(former, servers[lane % 2], lane, until: end, seen) }
            }
            try await eventually("traffic") { seen.all.count > 12 ? true : nil }
            let moved = try await copy(former, to: new)
            #expect(moved.status == 0, "\(moved.output)\(moved.errors)")
            #expect(moved.output.contains("with the root"))
            // At once, and by every process.
            let known = try #require(seen.all.first?.device)
            for server in servers {
                var device = Device(server.client)
                let command = try await device.signIn(former.google, as: "late")
                #expect(command.status == 503 && command.errorCode == "TENANT_MOVED")
                let read = try await account(known, server)
                #expect(read.status == 503 && read.errorCode == "TENANT_MOVED")
            }
            end.tell()
            for lane in lanes { try await lane.value }
            let server = try await new.serve(settings: sealing(former))
            for (device, linked) in seen.all {
                let account = try await account(device, server)
                #expect(account.texts("linked_providers") == linked)
                #expect(account.text("user_id") == device.userID)
            }
            var device = Device(server.client)
            try await device.signIn(former.apple, as: "lane0-1")
            #expect(seen.all.map(\.device.userID).contains(device.userID))
            try await expectVerified(new)
            let size = "SELECT next_position::text FROM ledger_head"
            let before = try #require(try await former.asSuperuser(size).first.flatMap { Int($0) })
            #expect(try await new.asSuperuser(size) == ["\(before + 1)"])
            // The same record is continued by the sealer there.
            try await eventually("the new place seals") {
                try await new.asSuperuser("SELECT max(size)::text FROM checkpoints")
                    == ["\(before + 1)"] ? true : nil
            }
            for server in servers + [server] { #expect(!server.log.contains("sealing refused")) }
            try await expectGone(former, known)
        }
    }

    /// Checks that the former place refuses the tenant after a restart, lists it, and forgets it.
    private func expectGone(_ former: Deployment, _ device: Device) async throws {
        let again = try await former.serve(settings: sealing(former))
        let late = try await account(device, again)
        #expect(late.status == 503 && late.errorCode == "TENANT_MOVED")
        let listed = try await former.tool.run(["tenant", "list"])
        #expect(listed.output.contains("was moved to"))
        #expect(try await former.tool.run(["verify"]).status == 0)
        let discarded = try await former.tool.run(["tenant", "discard", "default"])
        #expect(discarded.status == 0, "\(discarded.errors)")
        let verified = try await former.tool.run(["verify"])
        #expect(verified.status == 0 && verified.errors.contains("is left out"))
    }

    @Test func `a copy that is killed at any step is continued, and half of one is never served`()
        async throws
    {
        try await withTwo { former, new in
            let server = try await former.serve()
            var device = Device(server.client)
            try await device.signIn(former.google, as: "ada")
            for step in ["begun", "copied", "stopped"] {
                try await kill(former, to: new, at: step)
                try await expectHalf(former, new)
                // A tenant that was stopped is served again.
                if step == "stopped" {
                    try await expect(503, of: device, server, after: step)
                    let abandoned = try await copy(former, to: new, ["--abandon"])
                    #expect(abandoned.status == 0, "\(abandoned.errors)")
                }
                try await expect(200, of: device, server, after: step)
                for subject in ["guest at \(step)", "ada"] {
                    #expect(try await device.signIn(former.google, as: subject).status == 200)
                }
            }
            for step in ["quiet", "marked"] {
                try await kill(former, to: new, at: step)
                if step != "marked" { try await expectHalf(former, new) }
                #expect(try await account(device, server).status == 503)
            }
            let done = try await copy(former, to: new)
            #expect(done.status == 0, "\(done.errors)")
            let repeated = try await copy(former, to: new)
            #expect(repeated.status == 0 && repeated.output.contains("moved already"))
            let late = try await copy(former, to: new, ["--abandon"])
            #expect(late.status == 1 && late.errors.contains("a new database"), "\(late.errors)")
            try await expectVerified(new)
            let there = try await new.serve()
            #expect(try await account(device, there).status == 200)
        }
    }

    /// Checks that the new place takes no command, and takes half a tenant for none.
    private func expectHalf(_ former: Deployment, _ new: Deployment) async throws {
        #expect(try await new.asSuperuser("SELECT state FROM tenant_moves") == ["arriving"])
        let created = try await new.tool.run(["tenant", "create", "default"])
        #expect(created.status == 1 && created.errors.contains("being copied here"))
        let verified = try await new.tool.run(["verify"])
        #expect(verified.errors.contains("is left out"), "\(verified.errors)")
    }

    @Test func `refused are another schema, an existing tenant, missing keys and another mode`()
        async throws
    {
        try await withTwo { former, new in
            let server = try await former.serve()
            _ = try await server.stop()
            let unknown = try await former.tool.run([
                "tenant", "copy", "acme", "--to", new.superuserURL,
            ])
            #expect(unknown.errors.contains("does not exist"), "\(unknown.errors)")
            let same = try await copy(former, to: former)
            #expect(same.errors.contains("the database that the tenant is in"), "\(same.errors)")
            let keyless = CommandLineTool(
                environment: former.tool.environment.merging(["LEDGER_KEYS": former.path("none")]) {
                    $1
                })
            let missing = try await keyless.run([
                "tenant", "copy", "default", "--to", new.superuserURL,
            ])
            #expect(missing.status == 1 && missing.errors.contains("keys"), "\(missing.errors)")
            let versions = try await new.asSuperuser(
                "SELECT max(version)::text FROM ledger_migrations")
            let version = try #require(versions.first.flatMap { Int($0) })
            try await new.asSuperuser(
                """
                UPDATE ledger_migrations SET sha256 = sha256('x') WHERE version = \(version)
                RETURNING 'x'
                """)
            let other = try await copy(former, to: new)
            #expect(
                other.errors.contains("--to: migration \(version) of the database differs"),
                "\(other.errors)")
            try await new.asSuperuser(
                "DELETE FROM ledger_migrations WHERE version = \(version) RETURNING 'x'")
            let behind = try await copy(former, to: new)
            #expect(
                behind.errors.contains("--to: the schema has version \(version - 1)"),
                "\(behind.errors)")
            let left = try await former.tool.run(["tenant", "discard", "default"])
            #expect(left.status == 1 && left.errors.contains("was not moved"))
            #expect(try await former.asSuperuser("SELECT state FROM tenant_moves") == [])
        }
        try await withTwo { former, new in
            _ = try await former.serve()
            _ = try await new.serve()
            let taken = try await copy(former, to: new)
            #expect(taken.errors.contains("has a tenant of this name already"), "\(taken.errors)")
            #expect(try await new.asSuperuser("SELECT state FROM tenant_moves") == [])
        }
    }

    // MARK: - Help

    /// Runs the body with two installations; with nodes of Citus one is on Postgres alone, by default the former.
    private func withTwo(
        isBack: Bool = false, _ body: (Deployment, Deployment) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with(isSharded: isBack) { database in
            try await Deployment.with(database) { former in
                let settings = [
                    "LEDGER_KEYS": former.path("keys"),
                    "LEDGER_PROVIDERS": former.path("providers.json"),
                ]
                try await ScratchDatabase.with(isSharded: !isBack) { other in
                    try await Deployment.with(other, settings: settings) {
                        try await body(former, $0)
                    }
                }
            }
        }
    }

    private func sealing(_ deployment: Deployment) -> [String: String] {
        ["LEDGER_SEALER_STATE": deployment.path("sealer"), "LEDGER_ORIGIN": "ledger.example"]
    }

    private func copy(
        _ former: Deployment, to new: Deployment, _ more: [String] = []
    ) async throws -> CommandLineTool.Outcome {
        try await former.tool.run(["tenant", "copy", "default", "--to", new.superuserURL] + more)
    }

    private func account(_ device: Device, _ server: ServerProcess) async throws
        -> WireClient.Answer
    {
        try await server.client.call("GET", "/v1/account", token: device.accessToken)
    }

    /// Waits until a server answers reads of an account with a status.
    ///
    /// - Throws: `TestTimeout` with the last answer and the end of the server's log.
    private func expect(
        _ status: Int, of device: Device, _ server: ServerProcess, after step: String
    ) async throws {
        var last = "no answer"
        do {
            try await eventually("status \(status)") {
                let answer = try await account(device, server)
                last = "\(answer.status) \(String(decoding: answer.body, as: UTF8.self))"
                return answer.status == status ? true : nil
            }
        } catch is TestTimeout {
            let log = server.log.split(separator: "\n").filter { !$0.contains(#""msg":"request""#) }
            throw TestTimeout(
                waitingFor: "the answer \(status) after '\(step)', not \(last); the server's log:\n"
                    + log.suffix(20).joined(separator: "\n"))
        }
    }

    /// Starts a copy and kills it once it has reported a step.
    ///
    /// It goes on while its report is read: a lock keeps it from stopping the tenant after an earlier step, and from
    /// ending the copy after a later one. After `marked` it may end, because nothing is served here by then.
    private func kill(_ former: Deployment, to new: Deployment, at step: String) async throws {
        let isBefore = ["begun", "copied"].contains(step)
        let table = isBefore ? "tenant_moves" : step == "marked" ? nil : "identities"
        let lock = Session(
            url: isBefore ? former.superuserURL : new.superuserURL, applicationName: "move test")
        if let table {
            try await lock.step { try $0.execute("BEGIN; LOCK TABLE \(table) IN SHARE MODE") }
        }
        let process = try RunningProcess(
            executable: CommandLineTool.executable,
            arguments: ["tenant", "copy", "default", "--to", new.superuserURL],
            environment: former.tool.environment)
        try await eventually("the copy to say '\(step)'") {
            process.errors.text.contains(": \(step)") || process.hasExited ? true : nil
        }
        process.send(SIGKILL)
        _ = try await process.exitStatus(within: .seconds(60))
        await lock.close()
        #expect(process.errors.text.contains(": \(step)"), "\(process.errors.text)")
    }

    /// The devices that have signed in, with their providers.
    private final class Devices: Sendable {
        private let seen = Mutex<[(device: Device, linked: [String])]>([])

        var all: [(device: Device, linked: [String])] { seen.withLock(\.self) }

        func add(_ device: Device, _ linked: [String]) {
            seen.withLock { $0.append((device: device, linked: linked)) }
        }
    }

    /// Signs up and links, and notes what was acknowledged, until the tenant is refused.
    private func live(
        _ deployment: Deployment, _ server: ServerProcess, _ lane: Int, until end: EndOfTraffic,
        _ seen: Devices
    ) async throws {
        var turn = 0
        while !end.isHere {
            turn += 1
            var device = Device(server.client)
            let signedIn = try await device.signIn(deployment.apple, as: "lane\(lane)-\(turn)")
            guard signedIn.status == 200 else {
                #expect(signedIn.errorCode == "TENANT_MOVED")
                return
            }
            let linked = try await device.link(deployment.google, as: "lane\(lane)-\(turn)")
            #expect(linked.status == 200 || linked.errorCode == "TENANT_MOVED")
            seen.add(device, linked.status == 200 ? ["apple", "google"] : ["apple"])
        }
    }
}
