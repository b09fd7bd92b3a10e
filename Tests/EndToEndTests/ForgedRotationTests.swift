import Cryptography
import Ledger
import LedgerTestSupport
import Postgres
import Testing

/// Events about keys that a stolen serving login has inserted in one tenant, and the start of another server.
@Suite struct ForgedRotationTests {
    enum Forgery: String, CaseIterable, Sendable {
        case garbageFarBehindTheHead, garbageBeforeTheHead
        case encryptionKey, tokenKey, macKey, encryptionKeyBehindTheHead
        case tenantWithGarbage, tenantOfAnotherMode, tenantThatNamesARealKey

        /// The damaged tenant that a new server names; nil if the row does not affect it.
        var refused: String? {
            switch self {
            case .garbageFarBehindTheHead, .encryptionKeyBehindTheHead: nil
            case .garbageBeforeTheHead, .encryptionKey, .tokenKey, .macKey: "default"
            case .tenantWithGarbage, .tenantOfAnotherMode, .tenantThatNamesARealKey: "zzz"
            }
        }

        /// Whether the tenant `default` is served; not at the position of an inserted row either.
        var servesDefault: Bool { self == .garbageFarBehindTheHead || refused == "zzz" }
    }

    @Test(arguments: Forgery.allCases)
    func `a new server serves the other tenants, and tools name the tenant`(
        forgery: Forgery
    ) async throws {
        try await Deployment.with { deployment in
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let settings = [
                "LEDGER_PROVIDERS": try deployment.write(
                    "{\"tenants\":{\"default\":\(file),\"zeta\":\(file)}}", to: "two.json")
            ]
            _ = try await deployment.tool.run(["keys", "init"])
            _ = try await deployment.tool.run(["tenant", "create", "zeta"])
            try await deployment.serve(settings: settings).stop()
            let position = try await forge(forgery, deployment)

            let server = try await deployment.serve(settings: settings)
            for (prefix, isServed) in [("/t/zeta", true), ("", forgery.servesDefault)] {
                let answer = try await server.client.call(
                    "POST", "\(prefix)/v1/auth/sign-in/google",
                    ["id_token": deployment.google.token(subject: "ada")])
                let refusal = forgery.refused == "default" ? 503 : 500
                #expect(answer.status == (isServed ? 200 : refusal), "\(prefix)")
            }
            let ready = try await server.admin.send("GET", "/readyz")
            #expect(ready.status == 200)
            let alarm = forgery.refused.map { "\"msg\":\"tenant refused\",\"tenant\":\"\($0)\"" }
            #expect(server.log.contains(alarm ?? ""), "\(server.log)")
            #expect(server.log.contains("tenant refused") == (alarm != nil))
            let shown = String(decoding: ready.body, as: UTF8.self)
            let named = forgery.refused.map { "refused at the start: \($0)" }
            #expect(shown.contains(named ?? "\"tenants\""), "\(shown)")
            try await server.stop()

            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 1 && verified.errors.isEmpty, "\(verified.errors)")
            let location = forgery.refused == "zzz" ? "zzz" : "position \(position)"
            #expect(verified.output.contains(location), "\(verified.output)")
            let protected = try await deployment.tool.run(["protect"])
            #expect(protected.output.contains("tenant zeta: "), "\(protected.errors)")
            let rotated = try await deployment.tool.run(["keys", "rotate", "mac"])
            let leftOut = forgery.refused.map { "tenant \($0) was left out: " }
            let expected =
                forgery.servesDefault ? "" : "tenant default does not record the rotation"
            #expect(rotated.errors.contains(leftOut ?? expected), "\(rotated.errors)")
            _ = try await deployment.tool.run(["keys", "rotate", "encryption", "--after", "5"])
            let recorded = try await deployment.asSuperuser(
                "SELECT tenant_id FROM events WHERE type = 'KeyRotated' AND tenant_id = 'zeta'")
            #expect(recorded == ["zeta", "zeta"])
            _ = try await deployment.tool.run(["keys", "rotate", "token", "--after", "5"])
            let listed = try await deployment.tool.run(["keys", "list"])
            #expect(listed.output.split(separator: "\n").count { $0.hasPrefix("token") } == 2)
            let created = try await deployment.tool.run(["tenant", "create", "eta"])
            #expect(created.status == 0, "\(created.errors)")
        }
    }

    /// Inserts the row with the serving login, and returns its position.
    private func forge(_ forgery: Forgery, _ deployment: Deployment) async throws -> Int64 {
        try await Thief(deployment: deployment).run { connection in
            let head = """
                SELECT next_position, encode(substr(mac, 1, 4), 'hex') AS key FROM ledger_head
                WHERE tenant_id = 'default'
                """
            let result = try connection.query(Statement("forged_end", head))
            let (end, key) = (try result.int8(0, 0), try result.text(0, 1))
            let name = forgery.refused ?? "default"
            let position =
                forgery == .garbageFarBehindTheHead ? Int64(1) << 61 : name == "zzz" ? 0 : end
            if forgery.refused != nil {
                try Thief.moveHead(to: position + 1, in: name, on: connection)
            }
            try Thief.insert(
                try Self.entry(of: forgery, at: position, in: name), at: position, in: name,
                on: connection)
            guard forgery == .tenantThatNamesARealKey else { return position }
            let prefix = KeyRotated.Prefix(root: sha256([]), size: 5)
            let rotation = KeyRotated(macKey: key, former: "01234567", after: prefix)
            try Thief.moveHead(to: 2, in: name, on: connection)
            try Thief.insert(
                try Thief.entry(of: .keyRotated(rotation), at: 1, in: name), at: 1, in: name,
                on: connection)
            return position
        }
    }

    private static func entry(
        of forgery: Forgery, at position: Int64, in name: String
    ) throws -> [UInt8] {
        let event: Event
        switch forgery {
        case .garbageFarBehindTheHead, .garbageBeforeTheHead, .tenantWithGarbage:
            return Array("garbage".utf8)
        case .encryptionKey, .encryptionKeyBehindTheHead:
            event = .keyRotated(KeyRotated(kind: .encryption, key: "0123456789abcdef", former: "x"))
        case .tokenKey:
            event = .keyRotated(KeyRotated(kind: .token, key: "0123456789abcdef", former: "x"))
        case .macKey:
            let prefix = KeyRotated.Prefix(root: sha256([]), size: position)
            event = .keyRotated(KeyRotated(macKey: "01234567", former: "x", after: prefix))
        case .tenantOfAnotherMode, .tenantThatNamesARealKey:
            event = Thief.opening
        }
        return try Thief.entry(of: event, at: position, in: name)
    }
}
