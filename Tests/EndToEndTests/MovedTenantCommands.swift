import LedgerTestSupport
import Testing

extension Deployment {
    /// Marks the tenant `default` as moved to another database.
    func markMoved() async throws {
        try await asSuperuser(
            """
            INSERT INTO tenant_moves (tenant_id, state, peer, run)
            VALUES ('default', 'moved', 'elsewhere', gen_random_uuid()) RETURNING 'x'
            """)
    }

    /// Checks the commands on a tenant `default` that was moved, whose log has gone on elsewhere with the sealer's record.
    ///
    /// - Parameters:
    ///   - tool: The command, with the record's directory.
    ///   - key: An API key of the tenant.
    ///   - account: An account of the tenant.
    /// - Throws: An error of the database or of a command that does not run.
    func expectMoved(_ tool: CommandLineTool, key: String, account: String) async throws {
        try await markMoved()
        let contents = "SELECT t::text FROM api_keys t UNION ALL SELECT t::text FROM access_log t"
        let before = try await asSuperuser(contents)
        let commands = [
            ["keys", "api", "revoke", key],
            ["keys", "api", "create", "--role", "auditor", "--label", "late"],
            ["erase", account, "--reason", "r"], ["protect", "--tenant", "default"],
            ["rebuild", "user_providers", "--tenant", "default"],
            ["restore-check", "--accept", "--tenant", "default"],
        ]
        for command in commands {
            let refused = try await tool.run(command)
            #expect(refused.status == 1, "\(command)")
            #expect(
                refused.errors.contains("nothing was changed")
                    && refused.errors.contains("was moved"),
                "\(command): \(refused.errors)")
        }
        let leftOut = [
            ["seal", "--once"], ["restore-check"], ["restore-check", "--accept"], ["verify"],
            ["rules", "set"], ["protect"],
        ]
        for command in leftOut {
            let done = try await tool.run(command)
            #expect(done.status == 0, "\(command): \(done.output)\(done.errors)")
            #expect(
                command == ["protect"] || done.errors.contains("was moved to elsewhere"),
                "\(command): \(done.errors)")
        }
        let diagnosis = try await tool.run(["doctor", "--offline"])
        #expect(!diagnosis.output.contains("problem  sealer's record"), "\(diagnosis.output)")
        #expect(try await asSuperuser(contents).sorted() == before.sorted())
        try await asSuperuser("DELETE FROM tenant_moves RETURNING 'x'")
    }
}
