import Cryptography
import Foundation
import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Passwords
import Postgres
import Testing

/// The pepper of a key directory: begun, rotated, removed and lost.
@Suite(.timeLimit(.minutes(5))) struct PepperTests {
    private static let address = "ada@example.com"
    private static let password = "correct horse battery staple"

    /// A deployment in development mode, which keeps messages.
    private func with(_ body: (Deployment) async throws -> Void) async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.configure(providers: Deployment.addressProviders)
            try await body(deployment)
        }
    }

    private func post(
        _ server: ServerProcess, _ path: String, _ body: [String: String]
    ) async throws -> WireClient.Answer {
        try await server.client.call("POST", "/v1/auth/\(path)", body)
    }

    private func signUp(_ server: ServerProcess) async throws {
        let answer = try await KeptMessages(servers: [server.client]).code(to: Self.address) {
            try await post(
                server, "sign-up/password", ["email": Self.address, "password": Self.password])
        }
        let opened = try await post(server, "sign-in/password", answer)
        #expect(opened.status == 200, "\(opened)")
    }

    private func signIn(
        _ server: ServerProcess, _ password: String = password
    ) async throws -> WireClient.Answer {
        try await post(server, "sign-in/password", ["email": Self.address, "password": password])
    }

    /// Creates a pepper that is in use at once.
    private func rotate(_ deployment: Deployment) async throws -> String {
        let rotated = try await deployment.tool.run(["keys", "rotate", "pepper"])
        #expect(rotated.status == 0, "\(rotated)")
        try begin(deployment, secondsAgo: 60)
        let listed = try await deployment.tool.run(["keys", "list"])
        let line = try #require(listed.output.firstMatch(of: /pepper\t(\S+)\tin use/))
        return String(line.output.1)
    }

    /// Sets the time from which on the newest pepper is used.
    private func begin(_ deployment: Deployment, secondsAgo seconds: Int64) throws {
        let path = deployment.path("keys/current")
        let past = Timestamp(seconds: Int64(Date().timeIntervalSince1970) - seconds)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing(/(next pepper \S+) \S+/) { "\($0.output.1) \(past)" }
            .write(toFile: path, atomically: false, encoding: .utf8)
    }

    private func remove(_ deployment: Deployment, _ id: String) async throws -> String {
        let removed = try await deployment.tool.run(["keys", "remove", "pepper", id])
        return removed.output + removed.errors
    }

    private func keyBytes(_ deployment: Deployment, _ file: String) throws -> SymmetricKey {
        let data = try Data(contentsOf: URL(fileURLWithPath: deployment.path("keys/\(file)")))
        return try #require(SymmetricKey(bytes: Array(data)))
    }

    /// Returns the only password as a thief of the database and the encryption key has it.
    private func hash(_ deployment: Deployment) async throws -> PasswordHash {
        let files = try FileManager.default.contentsOfDirectory(atPath: deployment.path("keys"))
        let file = try #require(files.first { $0.hasPrefix("encryption-") })
        let id = String(file.dropFirst("encryption-".count).dropLast(".key".count))
        let keyring = WrappingKeyring(
            currentID: id, current: try keyBytes(deployment, file), macs: MACKeys(current: nil))
        let session = Postgres.Session(url: deployment.superuserURL, applicationName: "test")
        let found = try await session.run { connection in
            var found: [String?] = []
            try StoredPasswords.each(keyring: keyring, on: connection) { found.append($0) }
            return found
        }
        await session.close()
        try #require(found.count == 1)
        return try PasswordHash(try #require(found[0]))
    }

    /// Waits until a server has read a pepper that is in use, and until a sign-in has hashed the password with it.
    private func raise(
        _ deployment: Deployment, _ server: ServerProcess, to id: String
    ) async throws -> PasswordHash {
        try await eventually("the server to use the pepper", within: .seconds(60)) {
            server.log.split(separator: "\n").contains {
                $0.contains("peppers changed") && $0.contains(id)
            } ? true : nil
        }
        #expect(try await signIn(server).status == 200)
        return try await eventually("the password to be hashed again") {
            let hash = try await self.hash(deployment)
            return hash.pepperID == id ? hash : nil
        }
    }

    @Test
    func `passwords are hashed with the newest pepper, and a dump is worth nothing without it`()
        async throws
    {
        try await with { deployment in
            let server = try await deployment.serve()
            try await signUp(server)
            #expect(try await hash(deployment).pepperID == nil)
            let first = try await rotate(deployment)
            let peppered = try await raise(deployment, server, to: first)
            let right = try Password(Self.password)
            #expect(throws: HashingFault.unknownPepper(first)) {
                try PasswordHasher().verify(right, against: peppered)
            }
            let bare = try PasswordHash(peppered.text.replacing(",keyid=\(first)", with: ""))
            #expect(try !PasswordHasher().verify(right, against: bare))
            let key = try keyBytes(deployment, "pepper-\(first).key")
            let peppers = try #require(PasswordPeppers(keys: [first: key], current: first))
            #expect(try PasswordHasher(peppers: peppers).verify(right, against: peppered))

            let second = try await rotate(deployment)
            #expect(try await remove(deployment, second).contains("is in use: rotate it first"))
            #expect(try await remove(deployment, first).contains("less than an hour"))
            try begin(deployment, secondsAgo: 7200)
            #expect(try await remove(deployment, first).contains("needed by 1 passwords"))
            _ = try await raise(deployment, server, to: second)
            #expect(try await signIn(server, Self.password + "!").status == 401)
            let removed = try await remove(deployment, first)
            #expect(removed == "pepper key \(first) was deleted\n", "\(removed)")
            #expect(try await signIn(server).status == 200)
            let replay = try await deployment.tool.run([
                "replay", "--from", "0", "--format", "json",
            ])
            for (former, key) in [("none", first), (first, second)] {
                let details =
                    #""details":{"former":"\#(former)","key":"\#(key)","kind":"pepper"}"#
                #expect(replay.output.contains(details), "\(replay)")
            }
            try await expectVerified(deployment)
            #expect(try await server.stop() == 0)
        }
    }

    @Test func `a password whose pepper is lost is not wrong, and its holder resets it`()
        async throws
    {
        try await with { deployment in
            let before = try await deployment.serve()
            try await signUp(before)
            let first = try await rotate(deployment)
            _ = try await raise(deployment, before, to: first)
            #expect(try await before.stop() == 0)
            _ = try await rotate(deployment)
            try FileManager.default.removeItem(
                atPath: deployment.path("keys/pepper-\(first).key"))
            let server = try await deployment.serve()
            for password in [Self.password, Self.password + "!"] {
                let answer = try await signIn(server, password)
                #expect(answer.status == 503, "\(answer)")
            }
            #expect(server.log.contains("the key directory lacks the pepper \(first)"))
            #expect(
                try await post(
                    server, "sign-in/password",
                    ["email": "bob@example.com", "password": Self.password]
                ).status == 401)
            var reset = try await KeptMessages(servers: [server.client]).code(to: Self.address) {
                try await post(server, "password-resets/password", ["email": Self.address])
            }
            reset["password"] = Self.password + "!"
            let done = try await post(server, "password-resets/password/complete", reset)
            #expect(done.status == 200, "\(done)")
            #expect(try await signIn(server, Self.password + "!").status == 200)
            #expect(try await server.stop() == 0)
        }
    }

    @Test func `no server starts without the last pepper of the log, until another replaces it`()
        async throws
    {
        try await with { deployment in
            #expect(try await deployment.serve().stop() == 0)
            let id = try await rotate(deployment)
            let current = deployment.path("keys/current")
            let named = try String(contentsOfFile: current, encoding: .utf8)
            try named.replacing(/(next )?pepper .*\n/, with: "")
                .write(toFile: current, atomically: false, encoding: .utf8)
            // Both would hash passwords without a pepper again.
            for missing in ["lacks the line 'pepper \(id)'", "lacks the pepper \(id)"] {
                for command in ["serve", "doctor"] {
                    let outcome = try await deployment.tool.run([command])
                    #expect(outcome.status == 1)
                    #expect((outcome.output + outcome.errors).contains(missing), "\(outcome)")
                }
                try? FileManager.default.removeItem(
                    atPath: deployment.path("keys/pepper-\(id).key"))
            }
            let other = try await rotate(deployment)
            #expect(other != id)
            let server = try await deployment.serve()
            #expect(try await server.stop() == 0)
        }
    }
}
