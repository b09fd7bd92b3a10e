import Foundation
import LedgerTestSupport
import Testing

/// Proofs from before an erasure remain valid; checked by third-party programs, and by programs that only
/// need Python and OpenSSL.
@Suite struct ErasureDrillTests {
    private static let personal = [
        "ada-at-apple", "ada-at-google", "ada@private.example", "ada-too@private.example",
    ]

    @Test func `bundles and proofs hold before an erasure and after it`() async throws {
        try await Deployment.with(settings: ["LEDGER_ORIGIN": "ledger.example.com"]) { deployment in
            let server = try await deployment.serve(
                settings: ["LEDGER_SEALER_STATE": deployment.path("sealer")])
            let auditor = Auditor(server.client, key: try await deployment.apiKey("auditor"))
            var (ada, ben) = (Device(server.client), Device(server.client))
            try await ada.signIn(deployment.apple, as: "ada-at-apple", email: Self.personal[2])
            let linked = try await ada.link(
                deployment.google, as: "ada-at-google", email: Self.personal[3])
            #expect(linked.status == 200)
            try await ben.signIn(deployment.google, as: "ben-at-google", email: "ben@example.org")
            // Ada's refusal is in Ben's history, too.
            #expect(try await ada.link(deployment.google, as: "ben-at-google").status == 409)

            let events = try await auditor.events(of: ada.userID)
            #expect(events.count == 5)
            let oldSize = try await auditor.sealedSize(covering: events)
            let proofs = try await auditor.proofs(of: events, size: oldSize)
            let vkey = try await auditor.vkey()
            let claims = try deployment.write(
                Claims(events, proofs, vkey: vkey).lines, to: "claims.jsonl")
            try expectOthersAccept(claims, count: events.count)
            let old = try await bundle(deployment, "old.tar", vkey, [])
            #expect(old.output.contains("disclosures  0\n"))

            let erased = try await deployment.tool.run(
                ["erase", ada.userID, "--reason", "case 4711"])
            #expect(erased.status == 0, "\(erased.errors)")
            let after = try await auditor.events(of: ada.userID)
            #expect(after.count == events.count + 1)
            let newSize = try await auditor.sealedSize(covering: after)
            #expect(newSize > oldSize)

            // Earlier proofs are valid, and the ledger returns the same ones again.
            #expect(try OtherPrograms.verify(deployment.path("old.tar"), vkey).hasPrefix("log  "))
            #expect(try await auditor.proofs(of: events, size: oldSize) == proofs)
            try expectOthersAccept(claims, count: events.count)
            let newClaims = try deployment.write(
                Claims(after, try await auditor.proofs(of: after, size: newSize), vkey: vkey).lines,
                to: "new-claims.jsonl")
            try expectOthersAccept(newClaims, count: after.count)

            let disclose = ["--disclose", "--reason", "audit"]
            let new = try await bundle(
                deployment, "new.tar", vkey, ["--since", "\(oldSize)"] + disclose)
            #expect(new.output.contains(" redacted: their accounts were erased\n"))
            #expect(!new.text.contains("private.example"))
            #expect(Self.personal.allSatisfy { !new.text.contains($0) })
            #expect(new.text.contains("ben@example.org"))
            // It continues the checkpoint that the auditor held before.
            #expect(new.consistency.contains("\\n\(oldSize)\\n"))
            let own = try await bundle(
                deployment, "ada.tar", vkey, disclose, scope: ["--account", ada.userID])
            #expect(own.output.contains("disclosures  0\n"))
            #expect(own.output.contains(" redacted: their accounts were erased\n"))
            #expect(Self.personal.allSatisfy { !own.text.contains($0) })
            #expect(own.text.contains("AccountErased"))
            let offline = try await deployment.tool.run(
                ["verify", "--offline", deployment.path("new.tar"), "--vkey", vkey])
            #expect(offline.status == 0, "\(offline.output)")
        }
    }

    private struct Unpacked {
        /// The output of the program in the bundle.
        let output: String
        /// All files, and their base64 values, decoded.
        let text: String
        let consistency: String
    }

    /// Exports the log or a part, verifies the bundle with its own program, and parses it.
    private func bundle(
        _ deployment: Deployment, _ name: String, _ vkey: String, _ options: [String],
        scope: [String] = ["--all"]
    ) async throws -> Unpacked {
        let path = deployment.path(name)
        let export = try await deployment.tool.run(["export", "--output", path] + scope + options)
        #expect(export.status == 0, "\(export.errors)")
        #expect(!export.output.contains("WITHHELD"), "\(export.output)")
        let output = try OtherPrograms.verify(path, vkey)
        #expect(output.contains("\neverything holds"), "\(output)")
        let directory = path + ".unpacked"
        try OtherPrograms.run(
            "/bin/sh", ["-c", "mkdir \"$1\" && tar xf \"$0\" -C \"$1\"", path, directory])
        var text = ""
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            let content = FileManager.default.contents(atPath: "\(directory)/\(name)") ?? Data()
            let file = String(decoding: content, as: UTF8.self)
            text += file
            guard name.hasPrefix("entries/") else { continue }
            for match in file.matches(of: /"([A-Za-z0-9+\/_-]{16,}=*)"/) {
                let encoded = match.output.1.replacing("-", with: "+").replacing("_", with: "/")
                    .filter { $0 != "=" }
                let padding = String(repeating: "=", count: (4 - encoded.count % 4) % 4)
                let decoded = try #require(Data(base64Encoded: encoded + padding))
                text += String(decoding: decoded, as: UTF8.self) + "\n"
            }
        }
        let consistency = try String(
            contentsOfFile: directory + "/consistency.jsonl", encoding: .utf8)
        return Unpacked(output: output, text: text, consistency: consistency)
    }

    /// Checks each claim with rekor-verifier and Go's sumdb.
    private func expectOthersAccept(_ claims: String, count: Int) throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()
        let verifiers = tests.appendingPathComponent("TransparencyLogTests/Verifiers").path
        let local = tests.deletingLastPathComponent().appendingPathComponent(".local").path
        let inclusion = "inclusion invalid \(count)\ninclusion valid \(count)\n"
        #expect(
            try OtherPrograms.run(
                "\(local)/verifiers/bin/python", ["\(verifiers)/check_claims.py", claims])
                == inclusion)
        #expect(
            try OtherPrograms.run("/usr/bin/go", ["run", "\(verifiers)/check_claims.go", claims])
                == inclusion + "note valid \(count)\n")
    }
}

/// An auditor's requests.
private struct Auditor {
    struct Event {
        let position: Int
        let entry: String
    }

    private let client: WireClient
    private let key: String

    init(_ client: WireClient, key: String) {
        self.client = client
        self.key = key
    }

    func vkey() async throws -> String {
        let keys = try await client.call("GET", "/v1/log/keys", token: key)
        let first = (keys.json["keys"] as? [[String: any Sendable]])?.first
        return try #require(first?["vkey"] as? String)
    }

    func events(of account: String) async throws -> [Event] {
        let answer = try await client.call("GET", "/v1/events?account=\(account)", token: key)
        let events = try #require(answer.json["events"] as? [[String: any Sendable]])
        return try events.map { event in
            Event(
                position: try #require((event["position"] as? String).flatMap { Int($0) }),
                entry: try #require(event["entry_base64"] as? String))
        }
    }

    /// Waits until a checkpoint covers the events, and returns its size.
    func sealedSize(covering events: [Event]) async throws -> Int {
        let last = try #require(events.last).position
        return try await eventually("position \(last) to be signed") {
            let note = try await client.call("GET", "/v1/log/checkpoint", token: key)
            let lines = String(decoding: note.body, as: UTF8.self).split(separator: "\n")
            guard note.status == 200, lines.count > 2, let size = Int(lines[1]), size > last else {
                return nil
            }
            return size
        }
    }

    /// The proofs of the events, as C2SP's tlog-proof.
    func proofs(of events: [Event], size: Int) async throws -> [String] {
        var proofs: [String] = []
        for event in events {
            let proof = try await client.call(
                "GET", "/v1/log/inclusion?position=\(event.position)&size=\(size)", token: key,
                headers: ["Accept": "text/plain"])
            #expect(proof.status == 200)
            proofs.append(String(decoding: proof.body, as: UTF8.self))
        }
        return proofs
    }
}

/// Proofs as claims for third-party programs, each also with another event's position.
private struct Claims {
    private(set) var lines = ""

    init(_ events: [Auditor.Event], _ proofs: [String], vkey: String) throws {
        for (event, proof) in zip(events, proofs) {
            let end = try #require(proof.firstRange(of: "\n\n"))
            let head = proof[..<end.lowerBound].split(separator: "\n")
            let note = proof[end.upperBound...]
            let checkpoint = note.split(separator: "\n")
            #expect(head.prefix(2) == ["c2sp.org/tlog-proof@v1", "index \(event.position)"])
            let path = try head.dropFirst(2).map { try Self.hex($0) }.joined(separator: ",")
            let tree = "\"size\":\(checkpoint[1]),\"root\":\(try Self.hex(checkpoint[2]))"
            for (position, isValid) in [(event.position, true), (event.position ^ 1, false)] {
                lines +=
                    "{\"kind\":\"inclusion\",\"valid\":\(isValid),\"position\":\(position),\(tree),"
                    + "\"path\":[\(path)],\"entry\":\"\(event.entry)\"}\n"
            }
            lines +=
                "{\"kind\":\"note\",\"valid\":true,\(tree),\"key\":\"\(vkey)\","
                + "\"note\":\"\(note.replacing("\n", with: "\\n"))\"}\n"
        }
    }

    private static func hex(_ base64: Substring) throws -> String {
        let bytes = try #require(Data(base64Encoded: String(base64)))
        return "\""
            + bytes.map { byte in
                String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }.joined() + "\""
    }
}
