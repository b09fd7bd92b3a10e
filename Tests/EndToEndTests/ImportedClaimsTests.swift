import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// Imports into a tenant that confirms addresses later.
@Suite(.timeLimit(.minutes(5))) struct ImportedClaimsTests {
    @Test func `an unverified address signs in by its imported password`() async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.confirmLater()
            let server = try await deployment.serve()
            let hash = ImportAccountsTests.bcrypt
            let path = try deployment.write(
                """
                {"user_id":"auth0|eve","email":"eve@x.test","email_verified":false,"identities":[{"user_id":"eve","provider":"auth0"}],"password_hash":"\(hash)"}
                """, to: "users.json")
            let imported = try await deployment.tool.run([
                "import", "auth0", path, "--reason", "the move",
            ])
            #expect(imported.status == 0, "\(imported)")
            #expect(
                imported.output.contains(
                    "accounts 1, external ids 1, identities 1, addresses 1, passwords 1"),
                "\(imported)")
            let eve = try await server.client.call(
                "POST", "/v1/auth/sign-in/password", ["email": "eve@x.test", "password": "U*U"])
            #expect(eve.status == 200, "\(eve)")
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified)")
            #expect(try await server.stop() == 0)
        }
    }

    private static let records = """
        {"user_id":"auth0|eve","email":"Ada@x.test","email_verified":false,"identities":[{"user_id":"eve","provider":"auth0"},{"user_id":"eve","provider":"apple"}],"password_hash":"HASH"}
        {"user_id":"auth0|bob","email":"bob@x.test","email_verified":false,"identities":[{"user_id":"bob","provider":"auth0"}],"password_hash":"HASH"}
        {"user_id":"auth0|ada","email":"ada@x.test","email_verified":true,"identities":[{"user_id":"ada","provider":"auth0"}],"password_hash":"HASH"}
        {"user_id":"auth0|kim","email":"ada@x.test","email_verified":false,"identities":[{"user_id":"kim","provider":"auth0"},{"user_id":"kim","provider":"apple"}],"password_hash":"HASH"}
        """

    private static let totals = """
        accounts 4, external ids 4, identities 4, addresses 2, passwords 2
        in the ledger or earlier in the file, by external id: 0
        not imported: 0
        left out, by kind:
          unverified_address: 2

        """

    private static let claimed = """
        accounts 1, external ids 1, identities 2, addresses 1, passwords 1
        in the ledger or earlier in the file, by external id: 1
        not imported: 0

        """

    private static let problems = """
        {"line":1,"problem":"unverified_address"}
        {"line":4,"problem":"unverified_address"}

        """

    @Test func `a later proof of the file gets the address that an earlier record claims`()
        async throws
    {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.confirmLater()
            let server = try await deployment.serve()
            let path = try deployment.write(
                Self.records.replacing("HASH", with: ImportAccountsTests.bcrypt), to: "users.json")
            for words in [["--dry-run"], ["--reason", "the move"]] {
                let report = deployment.path(words[0])
                let run = try await deployment.tool.run(
                    ["import", "auth0", path, "--report", report] + words)
                #expect(run.status == 0 && run.output.hasSuffix(Self.totals), "\(run)")
                #expect(try String(contentsOfFile: report, encoding: .utf8) == Self.problems)
            }
            let session = Session(url: deployment.superuserURL, applicationName: "test")
            let proofs = try await session.run { connection in
                let rows = try connection.query(
                    Statement(
                        "test_proofs",
                        """
                        SELECT n.external_id FROM names n JOIN events e
                            ON e.tenant_id = n.tenant_id AND e.account_id = n.account_id
                        WHERE e.type = 'AddressConfirmed'
                        """))
                return try (0..<rows.rowCount).map { try rows.text($0, 0) }
            }
            await session.close()
            #expect(proofs == ["auth0|ada"])
            let again = try await deployment.tool.run([
                "import", "auth0", path, "--reason", "the move",
            ])
            #expect(again.status == 0 && again.output.contains("by external id: 4"), "\(again)")
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified)")
            #expect(try await server.stop() == 0)
        }
    }

    @Test func `a record of an account that the ledger has ends no claim of another record`()
        async throws
    {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.confirmLater()
            let server = try await deployment.serve()
            func run(_ lines: [String], _ words: [String]) async throws -> CommandLineTool.Outcome {
                let path = try deployment.write(lines.joined(separator: "\n"), to: "users.json")
                return try await deployment.tool.run(["import", "auth0", path] + words)
            }
            let records = Self.records.replacing("HASH", with: ImportAccountsTests.bcrypt)
                .split(separator: "\n").map(String.init)
            let (eve, ada) = (records[0], records[2])
            let former = ada.replacing("ada@x.test", with: "former@x.test")
            #expect(try await run([former], ["--reason", "the move"]).status == 0)
            for words in [["--dry-run"], ["--reason", "the move"]] {
                let second = try await run([eve, ada], words)
                #expect(
                    second.status == 0 && second.output.hasSuffix(Self.claimed), "\(second)")
            }
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified)")
            #expect(try await server.stop() == 0)
        }
    }
}
