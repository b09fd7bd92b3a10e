import Cryptography
import Encodings
import Foundation
import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing

/// The first server after the upgrade of a ledger that the former release has written.
@Suite struct UpgradedServerTests {
    /// The bytes of the encryption key of ``SequencerFixture``, and of its MAC keys.
    private static let encryptionKey = [UInt8](repeating: 0x5A, count: 32)
    private static let macKeys: [UInt8] = [0xA5, 0xA6]

    @Test(arguments: [true, false])
    func `it records the rules, warns of used providers that they omit, and people sign in`(
        hasFacebook: Bool
    ) async throws {
        try await ScratchDatabase.with(isMigrated: false) { database in
            let encryption = Self.name(Self.encryptionKey, 8)
            // Keys of tests have names of their own; a directory names them by their bytes.
            let lines = try FormerLedger.lines().map {
                $0.replacing(
                    "\"wrapping_key\":\"test\"", with: "\"wrapping_key\":\"\(encryption)\"")
            }
            try await FormerLedger.restore(lines, into: database)
            _ = try await database.migrate()
            try await Deployment.with(database, settings: ["LEDGER_MODE": "development"]) {
                let token = try await Self.makeKeys($0, encryption)
                try await Self.announce([.encryption: encryption, .token: token], in: database)
                try await Self.expectStart(hasFacebook: hasFacebook, $0, database)
            }
        }
    }

    private static func expectStart(
        hasFacebook: Bool, _ deployment: Deployment, _ database: ScratchDatabase
    ) async throws {
        var file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
        if hasFacebook {
            file = file.replacing(
                "{\"providers\":[",
                with: """
                    {"providers":[
                      {"name":"facebook","type":"oidc","issuer":"https://facebook.example",
                       "jwks_uri":"\(deployment.google.keySetURL)",
                       "audiences":["\(TestIdentityProvider.audience)"],"algorithms":["RS256"]},
                    """)
        }
        let path = try deployment.write(file, to: "upgraded.json")
        for start in 1...3 {
            if start == 3 {
                try await database.asSuperuser.execute(
                    "UPDATE identities SET account_id = NULL WHERE provider = 'facebook'")
            }
            let server = try await deployment.serve(settings: ["LEDGER_PROVIDERS": path])
            let warnings = server.log.split(separator: "\n").filter {
                $0.contains("\"msg\":\"rules omit used providers\"")
            }
            #expect(warnings.count == (start < 3 && !hasFacebook ? 1 : 0), "\(server.log)")
            for text in ["\"level\":\"warning\"", "\"tenant\":\"default\"", "\"facebook\""] {
                #expect(warnings.allSatisfy { $0.contains(text) }, "\(warnings)")
            }
            var ada = Device(server.client)
            #expect(try await ada.signIn(deployment.apple, as: "ada-a").status == 200)
            let known = try await database.asSuperuser.texts(
                """
                SELECT account_id::text FROM identities
                WHERE tenant_id = 'default' AND provider_id = 'ada-a'
                """)
            #expect(known == [ada.userID])
            try await server.stop()
        }
        let shown = try await deployment.tool.run(["rules", "show"])
        #expect(shown.output.contains("tenant default, version 1\n"), "\(shown.errors)")
        #expect(shown.output.contains("facebook") == hasFacebook)
    }

    /// Makes the key directory of the ledger.
    ///
    /// - Returns: The name of its token key.
    private static func makeKeys(_ deployment: Deployment, _ encryption: String) async throws
        -> String
    {
        _ = try await deployment.tool.run(["keys", "init"])
        let folder = deployment.path("keys")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let file = try #require(names.first { $0.hasPrefix("token-") })
        var files = ["encryption-\(encryption).key": encryptionKey]
        for byte in macKeys {
            let key = [UInt8](repeating: byte, count: 32)
            files["mac-\(name(key, 4)).key"] = key
        }
        let current = "encryption \(encryption)\nmac \(SequencerFixture.nextMACKey.id)\n"
        files["current"] = Array(current.utf8)
        for (name, bytes) in files {
            let isMade = FileManager.default.createFile(
                atPath: "\(folder)/\(name)", contents: Data(bytes),
                attributes: [.posixPermissions: 0o600])
            #expect(isMade)
        }
        return String(file.dropFirst("token-".count).dropLast(".jwk".count))
    }

    /// Records in the logs that these keys replace those of the fixture, named `test`.
    private static func announce(
        _ keys: [KeyRotated.Kind: String], in database: ScratchDatabase
    ) async throws {
        try await SequencerFixture.with(database, isProtected: true, opensLedger: false) {
            for tenant in [TenantID.default, FormerLedger.acme] {
                var story = Story($0.sequencer, tenant: tenant, seed: 99)
                for (kind, key) in keys {
                    let fact = KeyRotated(kind: kind, key: key, former: "test")
                    _ = try await story.submit(.rotateKey(RotateKey(fact))).get()
                }
            }
        }
    }

    /// Names a key as a directory does, by the first bytes of its SHA-256.
    private static func name(_ key: [UInt8], _ count: Int) -> String {
        Hex.encode(Array(SHA256.hash(key).prefix(count)))
    }
}
