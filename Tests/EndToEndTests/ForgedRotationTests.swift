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
        case tenantWithGarbage, tenantOfAnotherMode

        /// The damaged tenant that a new server names; nil if the row does not affect it.
        var refused: String? {
            switch self {
            case .garbageFarBehindTheHead, .encryptionKeyBehindTheHead: nil
            case .garbageBeforeTheHead, .encryptionKey, .tokenKey, .macKey: "default"
            case .tenantWithGarbage, .tenantOfAnotherMode: "zzz"
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
                #expect(answer.status == (isServed ? 200 : 500), "\(prefix)")
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
            let recorded = try await deployment.asSuperuser(
                "SELECT tenant_id FROM events WHERE type = 'KeyRotated' AND tenant_id = 'zeta'")
            #expect(recorded == ["zeta"])
        }
    }

    /// Inserts the row with the serving login, and returns its position.
    private func forge(_ forgery: Forgery, _ deployment: Deployment) async throws -> Int64 {
        let url = try #require(deployment.tool.environment["DATABASE_URL"])
        let session = Session(url: url, applicationName: "thief")
        let position = try await session.run { connection in
            let head = "SELECT next_position FROM ledger_head WHERE tenant_id = 'default'"
            let end = try connection.query(Statement("forged_end", head)).int8(0, 0)
            let position =
                switch forgery {
                case .garbageFarBehindTheHead: Int64(1) << 61
                case .tenantWithGarbage, .tenantOfAnotherMode: Int64(0)
                default: end
                }
            let tenant = forgery.refused ?? "default"
            if tenant == "zzz" {
                try connection.execute(
                    "INSERT INTO ledger_head (tenant_id, next_position) VALUES ('zzz', 1)")
            } else if forgery.refused != nil {
                try connection.execute(
                    "UPDATE ledger_head SET next_position = \(end + 1) WHERE tenant_id = 'default'")
            }
            _ = try connection.query(
                Statement(
                    "forged_row",
                    """
                    INSERT INTO events (tenant_id, position, event_id, type, schema_version,
                        recorded_at, command_id, actor, entry, mac)
                    VALUES ($1, $2, gen_random_uuid(), 'KeyRotated', 1, now(), gen_random_uuid(),
                        'system', $3, decode(repeat('00', 20), 'hex'))
                    """),
                [
                    .text(tenant), .int8(position),
                    .bytes(try entry(of: forgery, at: position, in: tenant)),
                ])
            return position
        }
        await session.close()
        return position
    }

    private func entry(
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
        case .tenantOfAnotherMode:
            event = .ledgerOpened(
                LedgerOpened(
                    mode: .development, encryptionKey: "x", macKey: "01234567", tokenKey: "x"))
        }
        return EntryEncoding.encode(
            RecordedEvent(
                tenant: tenant(name), position: LogPosition(position),
                id: EventID(bits: 1), recordedAt: Timestamp(microseconds: 1), actor: .system,
                command: CommandID(bits: 1), request: nil, accounts: [], disclosureDigests: [],
                event: event))
    }
}
