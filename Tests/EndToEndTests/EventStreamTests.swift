import Foundation
import LedgerTestSupport
import Testing

/// The log as a stream of server-sent events, read by a third-party client.
@Suite struct EventStreamTests {
    /// An event as it came over the wire.
    private struct Received {
        let id: String
        let position: Int
        let type: String
        let data: [String: Any]
    }

    /// Connects until the test or the server ends it.
    private func follow(
        _ server: ServerProcess, _ query: String = "", key: String, after last: String? = nil
    ) throws -> RunningProcess {
        var arguments = [
            "curl", "--silent", "--show-error", "--no-buffer", "--max-time", "600",
            "--header", "Authorization: Bearer \(key)",
        ]
        if let last { arguments += ["--header", "Last-Event-ID: \(last)"] }
        return try RunningProcess(
            executable: "/usr/bin/env",
            arguments: arguments + ["\(server.client.base)/v1/events/stream\(query)"],
            environment: [:])
    }

    /// The events that have come whole, in the grammar of the HTML standard.
    private func events(_ client: RunningProcess) throws -> [Received] {
        var blocks = client.output.text.components(separatedBy: "\n\n")
        blocks.removeLast()
        return try blocks.compactMap { block in
            var fields: [String: String] = [:]
            for line in block.components(separatedBy: "\n") where !line.hasPrefix(":") {
                let parts = line.components(separatedBy: ": ")
                fields[parts[0]] = parts.dropFirst().joined(separator: ": ")
            }
            guard let data = fields["data"] else { return nil }
            let json = try JSONSerialization.jsonObject(with: Data(data.utf8))
            return Received(
                id: try #require(fields["id"]),
                position: try #require(
                    fields["id"]?.split(separator: "-").first.flatMap { Int($0) }),
                type: try #require(fields["event"]), data: try #require(json as? [String: Any]))
        }
    }

    private func wait(
        for count: Int, _ client: RunningProcess
    ) async throws -> [Received] {
        try await eventually("\(count) events of the stream, after \(client.errors.text)") {
            let events = try events(client)
            return events.count >= count ? events : nil
        }
    }

    @Test func `a client that continues elsewhere after a crash has every event once`() async throws
    {
        try await Deployment.with { deployment in
            let first = try await deployment.serve()
            let second = try await deployment.serve()
            let key = try await deployment.apiKey("auditor")
            let before = try follow(first, key: key)
            defer { before.send(SIGTERM) }
            // Three events of each, by the process that streams and by the other one, after LedgerOpened and RulesSet.
            for (number, server) in [first, second, first].enumerated() {
                var device = Device(server.client)
                #expect(try await device.signIn(deployment.google, as: "a\(number)").status == 200)
            }
            let early = try await wait(for: 11, before)
            #expect(early.map(\.position) == Array(0..<11))
            try await first.kill()
            #expect(try await before.exitStatus(within: .seconds(120)) != 0)
            for number in 0..<2 {
                var device = Device(second.client)
                #expect(try await device.signIn(deployment.google, as: "b\(number)").status == 200)
            }
            let after = try follow(second, "?after=2", key: key, after: early.last?.id)
            defer { after.send(SIGTERM) }
            let late = try await wait(for: 6, after)
            #expect(late.map(\.position) == Array(11..<17))
            // The same as the listing shows, and no personal data.
            let page = try await second.client.call("GET", "/v1/events", token: key)
            let listed = try #require(page.json["events"] as? [[String: Any]])
            for (streamed, listed) in zip(early + late, listed) {
                #expect(
                    streamed.data["entry_base64"] as? String == listed["entry_base64"] as? String)
                let entry = streamed.data["entry"] as? [String: Any]
                #expect(entry?["type"] as? String == streamed.type)
                #expect(streamed.data["disclosures"] == nil)
            }
            #expect(try await second.stop() == 0)
            #expect(try await after.exitStatus(within: .seconds(120)) == 0, "it ended whole")
        }
    }

    @Test func `a filtered stream reports its progress`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let key = try await deployment.apiKey("support")
            let client = try follow(server, "?type=AccountOpened", key: key)
            defer { client.send(SIGTERM) }
            for name in ["ada", "bob"] {
                var device = Device(server.client)
                #expect(try await device.signIn(deployment.google, as: name).status == 200)
            }
            let opened = try await wait(for: 2, client)
            #expect(opened.map(\.type) == ["AccountOpened", "AccountOpened"])
            try await eventually("the id of the last event, which is of another type") {
                let last = client.output.text.components(separatedBy: "\n\n").dropLast().last
                return last?.hasPrefix("id: 7-") == true ? true : nil
            }
        }
    }

    @Test func `a stream ends when its key is revoked`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let key = try await deployment.apiKey("auditor")
            let client = try follow(server, key: key)
            defer { client.send(SIGTERM) }
            _ = try await wait(for: 1, client)
            let listed = try await deployment.tool.run(["keys", "api", "list"])
            let id = try #require(listed.output.split(separator: "\t").first)
            let revoked = try await deployment.tool.run(["keys", "api", "revoke", String(id)])
            #expect(revoked.status == 0, "\(revoked.errors)")
            #expect(try await client.exitStatus(within: .seconds(180)) == 0)
            #expect(client.output.text.hasPrefix("retry: 2000\n\n"))
        }
    }
}
