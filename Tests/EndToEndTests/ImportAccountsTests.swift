import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// `import auth0`, `firebase`, `keycloak` and `supabase`, with a server and its database.
@Suite(.timeLimit(.minutes(5))) struct ImportAccountsTests {
    static let bcrypt = "$2b$10$CCCCCCCCCCCCCCCCCCCCC.KgQljzbljH4iwhlg3oTf8buusOTZRX6"

    func with(
        _ body: (Deployment, ServerProcess) async throws -> Void
    ) async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.configure(
                providers: Deployment.addressProviders,
                members: #""token_external_ids":["auth0"],"#)
            let server = try await deployment.serve()
            try await body(deployment, server)
            #expect(try await server.stop() == 0)
        }
    }

    private func payload(of token: String) -> String {
        let part = token.split(separator: ".").dropFirst().first ?? ""
        let plain = part.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - part.count % 4) % 4)
        return Data(base64Encoded: plain + padding)
            .map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    static let auth0 = """
        {"user_id":"google-oauth2|ada","email":"ada@x.test","email_verified":true,"name":"Ada","identities":[{"user_id":"ada","provider":"google-oauth2"}]}
        {"user_id":"auth0|bob","email":"bob@x.test","email_verified":true,"identities":[{"user_id":"bob","provider":"auth0"},{"user_id":"bob-a","provider":"apple"}],"password_hash":"\(bcrypt)"}
        {"user_id":"auth0|eve","email":"eve@x.test","email_verified":false,"identities":[{"user_id":"eve","provider":"auth0"}]}
        {"user_id":"google-oauth2|held","identities":[{"user_id":"held","provider":"google-oauth2"}]}
        {"user_id":"auth0|bob2","email":"bob@x.test","email_verified":true,"identities":[{"user_id":"b","provider":"auth0"},{"user_id":"kim","provider":"google-oauth2"}]}
        {"user_id":"apple|off","blocked":true,"identities":[{"user_id":"off","provider":"apple"}]}
        {"user_id":"google-oauth2|ada","identities":[{"user_id":"again","provider":"google-oauth2"}]}
        {"user_id":"x
        {"user_id":"steam|1","identities":[{"user_id":"1","provider":"steam"}]}

        """

    private static let totals = """
        accounts 4, external ids 4, identities 5, addresses 1, passwords 1
        """

    private static let leftOut = """
        not imported: 4
        of the accounts, disabled: 1
        left out, by kind:
          address_held (file): 1
          duplicate_id (file): 1
          identity_held (ledger): 1
          malformed_record: 1
          no_way_to_sign_in: 3
          password_not_in_file: 1
          profile: 1
          unknown_provider: 1
          unverified_address: 1
        identities at providers that the tenant lacks, by their names in the file:
          steam: 1

        """

    @Test func `an import reports conflicts, repeats, and lets people sign in`() async throws {
        try await with { deployment, server in
            var held = Device(server.client)
            #expect(try await held.signIn(deployment.google, as: "held").status == 200)
            let path = try deployment.write(Self.auth0, to: "auth0.json")
            let dry = try await deployment.tool.run(["import", "auth0", path, "--dry-run"])
            #expect(dry.status == 1)
            #expect(
                dry.output == """
                    records: 9
                    to import: \(Self.totals)
                    in the ledger or earlier in the file, by external id: 1
                    \(Self.leftOut)
                    """, "\(dry)")
            let report = deployment.path("report.jsonl")
            let first = try await deployment.tool.run([
                "import", "auth0", path, "--reason", "the move", "--report", report,
            ])
            #expect(first.status == 1)
            #expect(
                first.output == """
                    records: 9
                    imported: \(Self.totals)
                    in the ledger or earlier in the file, by external id: 1
                    \(Self.leftOut)
                    """, "\(first)")
            let lines = try String(contentsOfFile: report, encoding: .utf8)
            #expect(
                lines.contains(
                    #"{"line":4,"problem":"identity_held","with":"ledger","provider":"google"}"#),
                "\(lines)")
            for secret in ["x.test", "oauth2", "bob", "ada"] { #expect(!lines.contains(secret)) }

            var ada = Device(server.client)
            #expect(try await ada.signIn(deployment.google, as: "ada").status == 200)
            let payload = payload(of: ada.accessToken)
            #expect(
                payload.contains(#""external_ids":{"auth0":["google-oauth2|ada"]}"#), "\(payload)")
            let bob = try await server.client.call(
                "POST", "/v1/auth/sign-in/password", ["email": "bob@x.test", "password": "U*U"])
            #expect(bob.status == 200, "\(bob)")
            var off = Device(server.client)
            #expect(try await off.signIn(deployment.apple, as: "off").status == 403)

            let again = try await deployment.tool.run([
                "import", "auth0", path, "--reason", "once more",
            ])
            #expect(again.output.contains("accounts 0, external ids 0"), "\(again)")
            #expect(again.output.contains("by external id: 5"), "\(again)")
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified)")
            let timeline = try await deployment.tool.run(["timeline", ada.userID])
            #expect(timeline.output.contains("got an external id"), "\(timeline.output)")
            let accesses = try await deployment.tool.run(["access-log"])
            #expect(accesses.output.contains("account.import"), "\(accesses.output)")
        }
    }

    /// Records with conflicts among each other, so that each depends on the decisions about the earlier ones.
    private static let entangled = """
        {"user_id":"a|1","email":"one@x.test","email_verified":true,"identities":[{"user_id":"1","provider":"auth0"},{"user_id":"g1","provider":"google-oauth2"}]}
        {"user_id":"a|2","identities":[{"user_id":"g1","provider":"google-oauth2"},{"user_id":"g2","provider":"google-oauth2"}]}
        {"user_id":"a|1","blocked":true,"email":"dup@x.test","email_verified":false,"identities":[{"user_id":"dup","provider":"auth0"},{"user_id":"g3","provider":"google-oauth2"}]}
        {"user_id":"a|4","blocked":true,"identities":[{"user_id":"held","provider":"google-oauth2"}]}
        {"user_id":"a|5","identities":[{"user_id":"held","provider":"google-oauth2"},{"user_id":"p5","provider":"apple"}]}
        {"user_id":"a|4","identities":[{"user_id":"p4","provider":"apple"}]}
        {"user_id":"a|7","blocked":true,"identities":[{"user_id":"g2","provider":"google-oauth2"}]}
        {"user_id":"a|7","email":"seven@x.test","email_verified":true,"identities":[{"user_id":"7","provider":"auth0"},{"user_id":"g2","provider":"google-oauth2"}],"password_hash":"\(bcrypt)"}
        {"user_id":"a|9","email":"seven@x.test","email_verified":true,"identities":[{"user_id":"9","provider":"auth0"}],"password_hash":"\(bcrypt)"}
        {"user_id":"a|10","identities":[{"user_id":"p4","provider":"apple"},{"user_id":"p4","provider":"apple"},{"user_id":"g10","provider":"google-oauth2"}]}
        """

    @Test func `a dry run has the numbers and the report of the import`() async throws {
        try await with { deployment, server in
            var held = Device(server.client)
            #expect(try await held.signIn(deployment.google, as: "held").status == 200)
            let first = Self.entangled.prefix(while: { $0 != "\n" })
            let start = try deployment.write(String(first), to: "first.json")
            let begun = try await deployment.tool.run(["import", "auth0", start, "--reason", "r"])
            #expect(begun.status == 0, "\(begun)")
            let path = try deployment.write(Self.entangled, to: "all.json")
            func run(_ report: String, _ words: [String]) async throws -> (String, [String]) {
                let file = deployment.path(report)
                let ran = try await deployment.tool.run(
                    ["import", "auth0", path, "--report", file] + words)
                #expect(ran.status == 1, "\(ran)")
                let lines = try String(contentsOfFile: file, encoding: .utf8)
                return (
                    ran.output.replacing("to import", with: "imported"),
                    lines.split(separator: "\n").map(String.init)
                )
            }
            let (numbers, report) = try await run("dry.jsonl", ["--dry-run"])
            let (imported, actual) = try await run("real.jsonl", ["--reason", "the move"])
            #expect(numbers == imported && report == actual)
            #expect(
                imported.contains(
                    "accounts 5, external ids 5, identities 5, addresses 1, passwords 1"),
                "\(imported)")
            #expect(imported.contains("by external id: 2") && imported.contains("not imported: 3"))
            // The first record was imported by an earlier run, and is of the file nevertheless.
            #expect(
                actual.contains(
                    #"{"line":2,"problem":"identity_held","with":"file","provider":"google"}"#),
                "\(actual)")
            #expect(
                actual.contains(
                    #"{"line":5,"problem":"identity_held","with":"ledger","provider":"google"}"#),
                "\(actual)")
            #expect(imported.contains("address_held (file): 1"), "\(imported)")
            let (again, _) = try await run("again.jsonl", ["--reason", "once more"])
            #expect(again.contains("duplicate_id (file): 3"), "\(again)")
        }
    }

    @Test func `the other formats are imported`() async throws {
        try await with { deployment, _ in
            let firebase = try deployment.write(
                """
                {"users":[{"localId":"f1","email":"f1@x.test","emailVerified":true,"providerUserInfo":[{"providerId":"google.com","rawId":"f1"}]},
                {"localId":"f2","email":"f2@x.test","emailVerified":true}]}
                """, to: "firebase.json")
            let keycloak = try deployment.write(
                """
                {"users":[{"id":"k1","username":"k","federatedIdentities":[{"identityProvider":"corp-google","userId":"k1"}]}]}
                """, to: "keycloak.json")
            let users = try deployment.write(
                """
                id,email,encrypted_password,email_confirmed_at
                s1,s@x.test,\(Self.bcrypt),2024-01-01 00:00:00+00

                """, to: "users.csv")
            let identities = try deployment.write(
                "user_id,provider,provider_id\ns1,apple,s1\n", to: "identities.csv")
            let commands = [
                ["firebase", firebase], ["keycloak", keycloak, "--provider", "corp-google=google"],
                ["supabase", users, "--identities", identities],
            ]
            for (words, totals) in zip(
                commands,
                [
                    "accounts 2,", "accounts 1, external ids 1, identities 1,",
                    "accounts 1, external ids 1, identities 3, addresses 1, passwords 1",
                ])
            {
                let imported = try await deployment.tool.run(
                    ["import"] + words + ["--reason", "the move"])
                #expect(imported.status == 0 && imported.output.contains(totals), "\(imported)")
            }
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified)")
        }
    }

    @Test func `Auth0's export of hashes gives its users their passwords`() async throws {
        try await with { deployment, server in
            let users = try deployment.write(
                """
                {"user_id":"auth0|5dea","email":"ada@x.test","email_verified":true,"identities":[{"user_id":"5dea","provider":"auth0","connection":"Users"},{"user_id":"ada","provider":"google-oauth2","connection":"google-oauth2"}]}
                """, to: "users.json")
            let hashes = try deployment.write(
                """
                {"_id":{"$oid":"5dea"},"email":"ada@x.test","email_verified":true,"passwordHash":"\(Self.bcrypt)","tenant":"t","connection":"Users"}
                """, to: "hashes.json")
            let imported = try await deployment.tool.run([
                "import", "auth0", users, "--hashes", hashes, "--reason", "the move",
            ])
            #expect(imported.status == 0, "\(imported)")
            #expect(
                imported.output.contains(
                    "accounts 1, external ids 1, identities 2, addresses 1, passwords 1"),
                "\(imported)")
            let ada = try await server.client.call(
                "POST", "/v1/auth/sign-in/password", ["email": "ada@x.test", "password": "U*U"])
            #expect(ada.status == 200, "\(ada)")
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified)")
        }
    }

    private static let many = 6000

    /// Begins an import of many accounts; returns its process and its file.
    private func importOfMany(
        _ deployment: Deployment
    ) throws -> (process: RunningProcess, path: String) {
        let text = (0..<Self.many).map {
            #"{"user_id":"g|\#($0)","identities":[{"user_id":"\#($0)","provider":"google-oauth2"}]}"#
        }.joined(separator: "\n")
        let path = try deployment.write(text, to: "many.json")
        let process = try RunningProcess(
            executable: CommandLineTool.executable,
            arguments: ["import", "auth0", path, "--reason", "the move"],
            environment: deployment.tool.environment)
        return (process, path)
    }

    @Test func `an import that is killed goes on where it was`() async throws {
        try await with { deployment, _ in
            let (half, path) = try importOfMany(deployment)
            let session = Session(url: deployment.superuserURL, applicationName: "test")
            try await eventually("some accounts to be imported") {
                let names = try await session.run {
                    try $0.query(Statement("test_names", "SELECT count(*) FROM names")).int8(0, 0)
                }
                return names > 0 ? true : nil
            }
            await session.close()
            half.send(SIGKILL)
            _ = try await half.exitStatus(within: .seconds(60))
            let rest = try await deployment.tool.run(
                ["import", "auth0", path, "--reason", "the move"], within: .seconds(240))
            #expect(rest.status == 0, "\(rest)")
            let numbers = rest.output.matches(of: /(accounts|by external id:) ([0-9]+)/)
                .compactMap { Int($0.output.2) }
            #expect(numbers.reduce(0, +) == Self.many && (numbers.last ?? 0) > 0, "\(rest)")
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified)")
        }
    }

    @Test func `an import that loses its connection goes on`() async throws {
        try await with { deployment, _ in
            let (running, _) = try importOfMany(deployment)
            let session = Session(url: deployment.superuserURL, applicationName: "test")
            // The server's, too, which waits for commands.
            try await eventually("some accounts to be imported") {
                let ended: Int64 = try await session.run { connection in
                    let names = Statement("test_some", "SELECT count(*) FROM names")
                    guard try connection.query(names).int8(0, 0) > 0 else { return 0 }
                    return try connection.query(
                        Statement(
                            "test_end",
                            """
                            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                            WHERE application_name = 'account-ledger sequencer'
                                AND datname = current_database()
                            """)
                    ).int8(0, 0)
                }
                return ended > 0 ? true : nil
            }
            #expect(try await running.exitStatus(within: .seconds(240)) == 0)
            let names = try await session.run {
                try $0.query(Statement("test_names", "SELECT count(*) FROM names")).int8(0, 0)
            }
            #expect(names == Self.many)
            await session.close()
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified)")
        }
    }

    @Test func `progress is shown on a terminal alone`() async throws {
        try await with { deployment, _ in
            let path = try deployment.write(Self.auth0, to: "auth0.json")
            let words = ["import", "auth0", path, "--dry-run"]
            let plain = try await deployment.tool.run(words)
            #expect(plain.status == 1 && !plain.errors.contains("so far"), "\(plain)")
            let command = ([CommandLineTool.executable] + words).map { "'\($0)'" }
            let process = try RunningProcess(
                executable: "/usr/bin/script",
                arguments: [
                    "--quiet", "--return", "--command", command.joined(separator: " "), "/dev/null",
                ], environment: deployment.tool.environment)
            #expect(try await process.exitStatus(within: .seconds(60)) == 1)
            let shown = process.output.text
            #expect(shown.contains(": 9 records so far"), "\(shown)")
        }
    }

    @Test func `a broken file, a reason and known providers`() async throws {
        try await with { deployment, _ in
            let broken = try deployment.write(
                #"[{"user_id":"1","identities":[{"user_id":"1","provider":"apple"}]},"# + "\nx y]",
                to: "broken.json")
            let stopped = try await deployment.tool.run([
                "import", "auth0", broken, "--reason", "r",
            ])
            #expect(stopped.status == 1 && stopped.output.contains("accounts 1,"), "\(stopped)")
            #expect(stopped.errors.contains("from line 2 on"), "\(stopped)")
            let unreasoned = try await deployment.tool.run(["import", "auth0", broken])
            #expect(unreasoned.status == 64, "\(unreasoned)")
            let unknown = try await deployment.tool.run([
                "import", "auth0", broken, "--dry-run", "--provider", "steam=steam",
            ])
            #expect(unknown.status == 1 && unknown.errors.contains("no provider steam"))
            let missing = try await deployment.tool.run([
                "import", "auth0", deployment.path("none"), "--dry-run",
            ])
            #expect(missing.status == 1 && missing.errors.contains("can't be read"), "\(missing)")
        }
    }
}
