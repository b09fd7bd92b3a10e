import LedgerTestSupport
import Postgres
import Testing

/// `import passwords`, and the sign-ins after it.
@Suite(.timeLimit(.minutes(5))) struct ImportPasswordsTests {
    private static let bcrypt = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
    private static let md5Crypt = "$1$abc$Kb85XxsXB.VXinPhbS4431"

    private func with(
        _ body: (Deployment, ServerProcess) async throws -> Void
    ) async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            _ = try deployment.write(
                file.replacing(
                    #"{"providers":["#,
                    with: #"{"providers":[{"name":"password","type":"password"},"#),
                to: "providers.json")
            let server = try await deployment.serve()
            try await body(deployment, server)
            #expect(try await server.stop() == 0)
        }
    }

    private func signIn(
        _ server: ServerProcess, _ email: String, _ password: String
    ) async throws -> WireClient.Answer {
        try await server.client.call(
            "POST", "/v1/auth/sign-in/password", ["email": email, "password": password])
    }

    private func hashes(_ deployment: Deployment) async throws -> String {
        let session = Session(url: deployment.superuserURL, applicationName: "test")
        let hashes = try await session.run { connection in
            try connection.query(
                Statement(
                    "test_hashes",
                    "SELECT string_agg(sealed::text, ' ' ORDER BY identity_id) FROM credentials")
            ).text(0, 0)
        }
        await session.close()
        return hashes
    }

    @Test func `imported passwords sign in, and lines that can't be imported are named`()
        async throws
    {
        try await with { deployment, server in
            var ada = Device(server.client)
            #expect(try await ada.signIn(deployment.google, as: "ada").status == 200)
            let path = try deployment.write(
                """
                {"email":"ada@example.com","email_verified":true,"provider":"google","provider_id":"ada","hash":"\(Self.bcrypt)"}
                {"email":"Bob@Example.COM","email_verified":true,"hash":"\(Self.md5Crypt)"}
                {"email":"eve@example.com","email_verified":false,"hash":"\(Self.md5Crypt)"}
                {"email":"eve@example.com"

                {"email":"eve@example.com","email_verified":true,"hash":"5f4dcc3b5aa765d61d8327deb882cf99"}
                {"email":"eve@example.com","email_verified":true,"provider":"google","provider_id":"eve","hash":"\(Self.md5Crypt)"}
                """, to: "passwords.jsonl")
            let checked = try await deployment.tool.run(["import", "passwords", path, "--dry-run"])
            #expect(checked.status == 1)
            #expect(checked.output == "3 valid lines, 3 others\n", "\(checked)")
            let imported = try await deployment.tool.run([
                "import", "passwords", path, "--reason", "the move",
            ])
            #expect(imported.status == 1)
            #expect(
                imported.output == """
                    opened accounts: 1
                    passwords of accounts that had none: 1
                    accounts that have, or gave up, a password or the address: 0
                    lines that were not imported: 4

                    """)
            #expect(
                imported.errors.matches(of: /line ([0-9]):/).map(\.output.1) == [
                    "3", "4", "6", "7",
                ], "\(imported.errors)")
            #expect(!imported.errors.contains("@"))

            let known = try await signIn(server, "ada@example.com", "U*U")
            #expect(known.status == 200 && known.text("user_id") == ada.userID, "\(known)")
            let sealed = try await hashes(deployment)
            #expect(try await signIn(server, "bob@example.com", "pw").status == 200)
            // The password is hashed again after the answer.
            try await eventually("the imported hash to be renewed") {
                try await hashes(deployment) == sealed ? nil : true
            }
            #expect(try await signIn(server, "bob@example.com", "pw").status == 200)
            #expect(try await signIn(server, "bob@example.com", "U*U").status == 401)
            #expect(try await signIn(server, "eve@example.com", "pw").status == 401)

            let again = try await deployment.tool.run([
                "import", "passwords", path, "--reason", "once more",
            ])
            #expect(again.output.contains("a password or the address: 2"), "\(again)")
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified)")
            let accesses = try await deployment.tool.run(["access-log"])
            #expect(accesses.output.contains("password.import"), "\(accesses.output)")
            let timeline = try await deployment.tool.run(["timeline", ada.userID])
            #expect(timeline.output.contains("was imported with"), "\(timeline.output)")
        }
    }

    @Test func `a byte order mark at the beginning is no part of the first line`() async throws {
        try await with { deployment, _ in
            let line =
                #"{"email":"ada@example.com","email_verified":true,"hash":"\#(Self.bcrypt)"}"#
            let path = try deployment.write("\u{FEFF}\(line)\n\(line)\n", to: "marked.jsonl")
            let checked = try await deployment.tool.run(["import", "passwords", path, "--dry-run"])
            #expect(checked.status == 0, "\(checked)")
            #expect(checked.output == "2 valid lines, 0 others\n", "\(checked)")
        }
    }

    @Test func `a file, a reason and a provider are required`() async throws {
        try await with { deployment, _ in
            let missing = try await deployment.tool.run([
                "import", "passwords", deployment.path("none"), "--reason", "r",
            ])
            #expect(missing.status == 1 && missing.errors.contains("can't be read"), "\(missing)")
            let path = try deployment.write("", to: "empty.jsonl")
            let unreasoned = try await deployment.tool.run(["import", "passwords", path])
            #expect(unreasoned.status == 64, "\(unreasoned)")
            let other = try await deployment.tool.run([
                "import", "passwords", path, "--reason", "r", "--provider", "google",
            ])
            #expect(other.status == 1 && other.errors.contains("no such provider"), "\(other)")
            let long = try deployment.write(
                String(repeating: "x", count: 100_000) + "\n\nx", to: "long")
            let refused = try await deployment.tool.run([
                "import", "passwords", long, "--reason", "r",
            ])
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.errors.contains("line 1: the line is longer than"), "\(refused)")
            #expect(refused.errors.contains("line 3: the line is not"), "\(refused)")
        }
    }
}
