import Cryptography
import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing
import TransparencyLog

@Suite(.overBothTransports) struct LogRoutesTests {
    @Test func `the signed checkpoint is returned verbatim, with its keys`() async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        let none = try await service.send("GET", "/v1/log/checkpoint", token: key)
        #expect(none.summary == "404 NOT_SEALED_YET")
        _ = try await service.signIn("google", "ada")
        service.audit.proofs.seal(at: service.clock.now)
        _ = try await service.signIn("google", "bob")
        service.audit.proofs.seal(at: service.clock.now)
        let latest = try await service.send("GET", "/v1/log/checkpoint", token: key)
        #expect(latest["Content-Type"] == "text/plain; charset=utf-8")
        let keys = try await service.send("GET", "/v1/log/keys", token: key)
        let vkey = try #require(keys.json["keys"]?.array?.first?.members?["vkey"]?.string)
        let checkpoint = try Checkpoint.open(
            try SignedNote(parsing: latest.body), [try #require(NoteVerifier(vkey))])
        #expect(checkpoint.size == Int64(service.ledger.recordings().count))
        let all = try await service.send("GET", "/v1/log/checkpoints", token: key)
        let listed = (all.json["checkpoints"]?.array ?? []).compactMap(\.members)
        #expect(listed.count == 2)
        #expect(listed.last?["note"]?.string == latest.body)
        #expect(all.json["more"] == .bool(false))
        let first = try await service.send("GET", "/v1/log/checkpoints?limit=1", token: key)
        #expect(first.json["more"] == .bool(true))
        let next = try #require(first.text("next"))
        let rest = try await service.send(
            "GET", "/v1/log/checkpoints?limit=1&from=\(next)", token: key)
        #expect(rest.json["checkpoints"]?.array?.count == 1)
        let actions = service.audit.access.accesses().map(\.action)
        #expect(actions.filter { $0 == "log.checkpoint" }.count == 2)
        #expect(actions.last == "log.checkpoints")
    }

    @Test func `an inclusion proof verifies, as JSON and as text`() async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        for name in ["ada", "bob", "eve"] {
            _ = try await service.signIn("google", name)
            service.audit.proofs.seal(at: service.clock.now)
        }
        for (position, recording) in service.ledger.recordings().enumerated() {
            let path = "/v1/log/inclusion?position=\(position)"
            for accept in ["text/plain", "text/plain;q=0.5, application/json;q=0.1"] {
                let text = try await service.send(
                    "GET", path, token: key, headers: [("Accept", accept)])
                let proof = try TLogProof(parsing: Array(text.body.utf8))
                try proof.verify(entry: recording.entry, [service.audit.verifier])
                #expect(proof.position == Int64(position))
            }
            for accept in ["application/json", "*/*", "text/html", "application/*,text/plain"] {
                let answer = try await service.send(
                    "GET", path, token: key, headers: [("Accept", accept)])
                let root = answer.json["checkpoint"]?.members?["root_hash"]?.string
                let proof = InclusionProof(
                    position: Int64(position),
                    size: try #require(answer.text("size").flatMap { Int64($0) }),
                    path: (answer.json["path"]?.array ?? []).compactMap {
                        $0.string.flatMap { TreeHash(base64: $0) }
                    })
                try proof.verify(
                    leaf: try #require(
                        answer.text("leaf_hash").flatMap { TreeHash(base64: $0) }),
                    root: try #require(root.flatMap { TreeHash(base64: $0) }))
            }
        }
    }

    @Test func `a consistency proof verifies between signed sizes`() async throws {
        let service = try TestService()
        let key = try service.audit.key(.admin)
        for name in ["ada", "bob", "eve", "mallory"] {
            _ = try await service.signIn("google", name)
            service.audit.proofs.seal(at: service.clock.now)
        }
        for old in [3, 6, 9, 12] {
            let answer = try await service.send(
                "GET", "/v1/log/consistency?old=\(old)", token: key)
            let roots = try ["old_checkpoint", "checkpoint"].map {
                try #require(
                    answer.json[$0]?.members?["root_hash"]?.string.flatMap { TreeHash(base64: $0) })
            }
            let proof = ConsistencyProof(
                old: Int64(old), size: 12,
                path: (answer.json["path"]?.array ?? []).compactMap {
                    $0.string.flatMap { TreeHash(base64: $0) }
                })
            try proof.verify(oldRoot: roots[0], root: roots[1])
        }
    }

    @Test(arguments: [
        ("inclusion?position=9", "404 NOT_SEALED_YET"),
        ("inclusion?position=0&size=1", "404 SIZE_NOT_SIGNED"),
        ("inclusion?position=2&size=2", "400 INVALID_REQUEST"),
        ("inclusion", "400 INVALID_REQUEST"), ("inclusion?position=-1", "400 INVALID_REQUEST"),
        ("inclusion?position=0&size=x", "400 INVALID_REQUEST"),
        ("inclusion?position=0&index=0", "400 INVALID_REQUEST"),
        ("consistency?old=1", "404 SIZE_NOT_SIGNED"),
        ("consistency?old=2&size=3", "404 SIZE_NOT_SIGNED"),
        ("consistency?old=3&size=2", "400 INVALID_REQUEST"),
        ("consistency?size=2", "400 INVALID_REQUEST"),
        ("checkpoints?from=3&to=2", "400 INVALID_REQUEST"),
        ("checkpoints?from=2026-01-01T00:00:00Z", "400 INVALID_REQUEST"),
        ("checkpoint?size=1", "400 INVALID_REQUEST"), ("keys?x=1", "400 INVALID_REQUEST"),
    ])
    func `a missing proof has a reason`(query: String, summary: String) async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        _ = try await service.signIn("google", "ada")
        service.audit.proofs.seal(at: service.clock.now)
        let answer = try await service.send("GET", "/v1/log/\(query)", token: key)
        #expect(answer.summary == summary, "\(answer.body)")
    }

    @Test func `stored data that proves nothing is reported as damaged`() async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        service.audit.proofs.fail(with: .internalFailure)
        for query in ["inclusion?position=0", "consistency?old=1"] {
            let answer = try await service.send("GET", "/v1/log/\(query)", token: key)
            #expect(answer.summary == "500 LOG_DAMAGED")
        }
        service.audit.proofs.fail(with: .unavailable)
        let away = try await service.send("GET", "/v1/log/inclusion?position=0", token: key)
        #expect(away.summary == "503 UNAVAILABLE")
    }

    @Test(arguments: ["checkpoint", "checkpoints", "inclusion", "consistency", "keys"])
    func `nothing of the log is shown without a key`(path: String) async throws {
        let service = try TestService()
        let answer = try await service.send("GET", "/v1/log/\(path)")
        #expect(answer.summary == "401 INVALID_API_KEY")
    }
}
