import Foundation
import Ledger
import LedgerTestSupport
import Postgres
import Synchronization
import Testing

/// Keys that are rotated while two servers use them.
@Suite struct KeyRotationTests {
    private static let waitMax = Duration.seconds(60)

    @Test func `a token key changes under traffic and no token is refused`() async throws {
        try await Deployment.with { deployment in
            let servers = [try await deployment.serve(), try await deployment.serve()]
            let before = try await publishedKeys(servers[0])
            var early = Device(servers[0].client)
            try await early.signIn(deployment.google, as: "early")
            let end = EndOfTraffic()
            let traffic = Task {
                try await end.traffic(over: servers, of: deployment, turnsMin: 10) { device, turn in
                    let read = try await servers[(turn + 1) % 2].client.call(
                        "GET", "/v1/account", token: device.accessToken)
                    return [read.status]
                }
            }
            let rotated = try await deployment.tool.run(["keys", "rotate", "token", "--after", "5"])
            #expect(rotated.status == 0, "\(rotated.errors)")
            let new = try #require(keys(try await list(deployment), "token", "next").first)
            let again = try await deployment.tool.run(["keys", "rotate", "token"])
            #expect(again.status == 1 && again.errors.contains("in progress"), "\(again.errors)")

            // Both publish it before any signs with it, both sign with it in the end.
            for server in servers {
                try await eventually("the new key to be published", within: Self.waitMax) {
                    try await publishedKeys(server).contains(new) ? true : nil
                }
                try await eventually("a server to sign with the new key", within: Self.waitMax) {
                    var device = Device(server.client)
                    try await device.signIn(deployment.google, as: UUID().uuidString)
                    return try Self.keyID(of: device.accessToken) == new ? true : nil
                }
            }
            end.tell()
            let refused = try await traffic.value
            #expect(refused == [], "no token was refused")
            #expect(try await publishedKeys(servers[1]).isSuperset(of: before), "old tokens hold")

            let removal = ["keys", "remove", "token", try #require(before.first)]
            let tooEarly = try await deployment.tool.run(removal)
            #expect(tooEarly.status == 1 && tooEarly.errors.contains("less than an hour"))
            #expect(try await early.account().status == 200)
            let leaked = try await deployment.tool.run(removal + ["--leaked"])
            #expect(leaked.status == 0, "\(leaked.errors)")
            for server in servers {
                let bearer = ["Authorization": "Bearer \(early.accessToken)"]
                try await eventually("tokens of the leaked key to be refused", within: Self.waitMax)
                {
                    let answer = try await server.client.send("GET", "/v1/account", headers: bearer)
                    return answer.status == 401 ? true : nil
                }
                #expect(try await publishedKeys(server) == [new])
            }
            let used = try await deployment.tool.run(
                ["keys", "remove", "token", new, "--leaked"])
            #expect(used.status == 1 && used.errors.contains("is in use"), "\(used.errors)")
            for server in servers { try await server.stop() }
            let restarted = try await deployment.serve()
            try await restarted.stop()
            let replay = try await deployment.tool.run(
                ["replay", "--from", "0", "--format", "json"])
            #expect(
                replay.output.contains(
                    "\"details\":{\"former\":\"\(before.first ?? "")\",\"key\":\"\(new)\",\"kind\":\"token\"}"
                ), "\(replay.output)")
            try await expectVerified(deployment)
        }
    }

    @Test func `nothing is rewrapped before the new encryption key is used`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let rotated = try await deployment.tool.run(
                ["keys", "rotate", "encryption", "--after", "3600"])
            #expect(rotated.status == 0, "\(rotated.errors)")
            let tooEarly = try await deployment.tool.run(["keys", "rewrap"])
            #expect(tooEarly.status == 1 && tooEarly.errors.contains("not in use yet"))
            try await server.stop()
        }
    }

    @Test func `after a rewrap everything is read with the new encryption key alone`() async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.google, as: "ada", email: "ada@example.org")
            let old = try #require(keys(try await list(deployment), "encryption", "in use").first)
            // Its answer is kept and found by a digest under the old key, as the attempt is.
            let kept = try await ada.link(
                deployment.apple, as: "ada", email: "a@example.org", key: "k")
            #expect(kept.status == 200)
            let rotated = try await deployment.tool.run(
                ["keys", "rotate", "encryption", "--after", "5"])
            #expect(rotated.status == 0, "\(rotated.errors)")
            try await eventually("an account wrapped with the new key", within: Self.waitMax) {
                var device = Device(server.client)
                try await device.signIn(deployment.google, as: UUID().uuidString)
                return try await wrappingKeys(deployment).count == 2 ? true : nil
            }
            let removal = ["keys", "remove", "encryption", old]
            let inUse = try await deployment.tool.run(removal)
            for part in [
                "\(old) is needed in tenant default by keys of accounts (run account-ledger keys",
                "and by repeated requests of the last day (wait for their end)",
            ] {
                #expect(inUse.status == 1 && inUse.errors.contains(part), "\(inUse.errors)")
            }
            try FileManager.default.copyItem(
                atPath: deployment.path("keys"), toPath: deployment.path("lost"))
            try FileManager.default.removeItem(
                atPath: deployment.path("lost/encryption-\(old).key"))
            let lost = try await CommandLineTool(
                environment: deployment.tool.environment.merging(
                    ["LEDGER_KEYS": deployment.path("lost")]) { $1 }
            ).run(["serve"])
            #expect(lost.status == 1 && lost.errors.contains(old), "\(lost.errors)")

            let rewrap = try await deployment.tool.run(["keys", "rewrap"])
            #expect(rewrap.status == 0, "\(rewrap.errors)")
            #expect(try await !wrappingKeys(deployment).contains(old))
            for table in ["idempotency_records", "accounts"] {
                let needed = try await deployment.tool.run(removal)
                #expect(needed.status == 1, "\(table)")
                #expect(needed.errors.contains("by repeated requests"), "\(needed.errors)")
                #expect(!needed.errors.contains("keys of accounts"), "\(needed.errors)")
                try await endDay(of: table, deployment)
            }
            let removed = try await deployment.tool.run(removal)
            #expect(removed.status == 0, "\(removed.errors)")
            #expect(try await ada.unlink(deployment.apple).status == 200)
            #expect(
                try await deployment.tool.run(["keys", "rewrap"]).output.hasPrefix(
                    "rewrapped 0 account keys"))

            try await server.stop()
            let restarted = try await deployment.serve()
            try await expectVerified(deployment)
            let shown = try await deployment.tool.run(
                [
                    "replay", "--account", ada.userID, "--disclose", "--reason", "a test",
                ])
            #expect(shown.output.contains("ada@example.org"), "\(shown.errors)")
            try await restarted.stop()
        }
    }

    /// Puts what a table keeps for a day behind its time.
    private func endDay(of table: String, _ deployment: Deployment) async throws {
        let change =
            table == "accounts"
            ? "UPDATE accounts SET attempts = NULL"
            : "UPDATE idempotency_records SET answered_at = answered_at - interval '25 hours'"
        let session = Session(url: deployment.superuserURL, applicationName: "test")
        try await session.run { try $0.execute(change) }
        await session.close()
    }

    @Test func `a rotation that was broken off is finished by the same command`() async throws {
        try await Deployment.with { deployment in
            try await deployment.serve().stop()
            // The log can't be written, so the key is there and the event is not.
            let database = Session(url: deployment.superuserURL, applicationName: "test")
            try await database.run { connection in
                try connection.execute(
                    """
                    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on',
                        current_database()); END $$
                    """)
            }
            let broken = try await deployment.tool.run(["keys", "rotate", "token", "--after", "5"])
            #expect(broken.status == 1 && broken.errors.contains("run the same command again"))
            let new = try #require(keys(try await list(deployment), "token", "next").first)
            let old = try #require(keys(try await list(deployment), "token", "in use").first)
            try await database.run { connection in
                try connection.execute(
                    """
                    SET default_transaction_read_only = off;
                    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only',
                        current_database()); END $$
                    """)
            }
            try beginUse(deployment)
            let removal = ["keys", "remove", "token", "--leaked", old]
            let named = try await deployment.tool.run(removal)
            #expect(named.status == 1 && named.errors.contains("keys rotate token"), "\(named)")
            let finished = try await deployment.tool.run(["keys", "rotate", "token"])
            #expect(finished.output.contains("finished the rotation to token key \(new)"))
            #expect(keys(try await list(deployment), "token", "").count == 2, "no third key")
            let removed = try await deployment.tool.run(removal)
            #expect(removed.status == 0, "\(removed)")
            let server = try await deployment.serve()
            try await server.stop()
        }
    }

    @Test func `a former token key is kept for an hour, whatever is rotated meanwhile`()
        async throws
    {
        try await Deployment.with { deployment in
            try await deployment.serve().stop()
            let old = try #require(keys(try await list(deployment), "token", "in use").first)
            let rotated = try await deployment.tool.run(["keys", "rotate", "token"])
            #expect(rotated.status == 0, "\(rotated)")
            try beginUse(deployment)
            for kind in ["mac", "encryption", "token"] {
                let other = try await deployment.tool.run(["keys", "rotate", kind])
                #expect(other.status == 0, "\(other)")
                let early = try await deployment.tool.run(["keys", "remove", "token", old])
                #expect(
                    early.status == 1 && early.errors.contains("less than an hour"),
                    "after \(kind): \(early)")
            }
        }
    }

    @Test func `a key that only the log of a tenant served elsewhere names can be removed`()
        async throws
    {
        try await Deployment.with { deployment in
            try await deployment.serve().stop()
            let old = try #require(keys(try await list(deployment), "token", "in use").first)
            try await deployment.markMoved()
            let rotated = try await deployment.tool.run(["keys", "rotate", "token"])
            #expect(rotated.status == 0, "\(rotated)")
            try beginUse(deployment)
            let removed = try await deployment.tool.run([
                "keys", "remove", "token", "--leaked", old,
            ])
            #expect(removed.status == 0, "\(removed)")
            let server = try await deployment.serve()
            try await server.stop()
        }
    }

    @Test func `a rotation before the first server creates the keys`() async throws {
        try await Deployment.with { deployment in
            let rotated = try await deployment.tool.run(["keys", "rotate", "token"])
            #expect(rotated.status == 0, "\(rotated)")
            #expect(keys(try await list(deployment), "token", "").count == 2)
        }
    }

    /// Sets the time of a key that is next to a minute ago.
    private func beginUse(_ deployment: Deployment) throws {
        let path = deployment.path("keys/current")
        let past = Timestamp(seconds: Int64(Date().timeIntervalSince1970) - 60)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing(/(next \w+ \S+) \S+/) { "\($0.output.1) \(past)" }
            .write(toFile: path, atomically: false, encoding: .utf8)
    }

    private static func keyID(of token: String) throws -> String? {
        var header = String(token.prefix { $0 != "." })
        header += String(repeating: "=", count: (4 - header.utf8.count % 4) % 4)
        let text = header.replacing("-", with: "+").replacing("_", with: "/")
        let data = try #require(Data(base64Encoded: text))
        let fields = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return fields?["kid"] as? String
    }

    private func publishedKeys(_ server: ServerProcess) async throws -> Set<String> {
        let answer = try await server.client.call("GET", "/.well-known/jwks.json")
        let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        let keys = object?["keys"] as? [[String: Any]] ?? []
        return Set(keys.compactMap { $0["kid"] as? String })
    }

    private func list(_ deployment: Deployment) async throws -> String {
        let outcome = try await deployment.tool.run(["keys", "list"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.output
    }

    /// Returns the keys of a kind whose state begins with a text.
    private func keys(_ list: String, _ kind: String, _ state: String) -> [String] {
        var found: [String] = []
        for line in list.split(separator: "\n") {
            let columns = line.split(separator: "\t").map { String($0) }
            guard columns.count == 3, columns[0] == kind, columns[2].hasPrefix(state) else {
                continue
            }
            found.append(columns[1])
        }
        return found
    }

    private func wrappingKeys(_ deployment: Deployment) async throws -> Set<String> {
        let session = Session(url: deployment.superuserURL, applicationName: "test")
        let keys = try await session.run { connection in
            let rows = try connection.query(
                Statement("wrapping", "SELECT DISTINCT wrapping_key FROM account_keys"))
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }
        }
        await session.close()
        return Set(keys)
    }
}
