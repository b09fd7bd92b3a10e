import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// Exports for other systems, imported again.
@Suite(.timeLimit(.minutes(5))) struct OwnExportTests {
    private func texts(_ deployment: Deployment, _ statement: Statement) async throws -> [String] {
        let session = Session(url: deployment.superuserURL, applicationName: "test")
        let texts = try await session.run { connection in
            let rows = try connection.query(statement)
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }
        }
        await session.close()
        return texts
    }

    /// The ids at Auth0, each with the providers of its account.
    private static let names = Statement(
        "test_external_ids",
        """
        SELECT n.external_id || ' ' || string_agg(i.provider, ', ' ORDER BY i.provider)
        FROM names n JOIN identities i USING (tenant_id, account_id)
        WHERE n.source = 'auth0' GROUP BY n.external_id ORDER BY 1
        """)

    /// The accounts by what signs in to them, without their ids.
    private static let users = Statement(
        "test_users",
        """
        SELECT string_agg(provider || ' ' || CASE WHEN provider IN ('password', 'email')
            THEN coalesce(c.version::boolean::text, 'codes') ELSE provider_id END, ', '
            ORDER BY provider, provider_id)
            || CASE WHEN a.disabled_position IS NULL THEN '' ELSE ' disabled' END
        FROM accounts a JOIN identities i USING (tenant_id, account_id)
        LEFT JOIN (SELECT identity_id, 1 AS version FROM credentials) c USING (identity_id)
        GROUP BY a.account_id, a.disabled_position ORDER BY 1
        """)

    @Test(arguments: ["auth0", "firebase"])
    func `the import of an own export makes the same users`(format: String) async throws {
        var exported = ""
        var former: [String] = []
        var names: [String] = []
        try await ImportAccountsTests().with { deployment, server in
            let path = try deployment.write(ImportAccountsTests.auth0, to: "auth0.json")
            _ = try await deployment.tool.run(["import", "auth0", path, "--reason", "the move"])
            let file = deployment.path("users.json")
            let written = try await deployment.tool.run([
                "export", "--format", format, "--all", "--output", file, "--disclose",
                "--reason", "we leave",
            ])
            #expect(written.status == 0, "\(written)")
            exported = try String(contentsOfFile: file, encoding: .utf8)
            former = try await texts(deployment, Self.users)
            names = try await texts(deployment, Self.names)
            let accesses = try await deployment.tool.run(["access-log"])
            #expect(accesses.output.contains("account.export"), "\(accesses.output)")
            let silent = try await deployment.tool.run([
                "export", "--format", format, "--all", "--output", deployment.path("x"),
            ])
            #expect(silent.status == 64, "\(silent)")
        }
        #expect(former.count == 5, "\(former)")
        #expect(names.contains("auth0|bob apple, password"), "\(names)")
        try await ImportAccountsTests().with { deployment, server in
            let path = try deployment.write(exported, to: "users.json")
            let imported = try await deployment.tool.run([
                "import", format, path, "--reason", "the move",
            ])
            #expect(imported.output.contains("accounts \(former.count),"), "\(imported)")
            #expect(try await texts(deployment, Self.users) == former)
            if format == "auth0" {
                #expect(try await texts(deployment, Self.names) == names)
            }
            let bob = try await server.client.call(
                "POST", "/v1/auth/sign-in/password", ["email": "bob@x.test", "password": "U*U"])
            #expect(bob.status == 200, "\(bob)")
        }
    }
}
