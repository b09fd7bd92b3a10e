import LedgerTestSupport
import Testing

/// Expects that the executable refuses a command line with a one-line message.
///
/// - Throws: The error of running it.
func expectUsageError(
    _ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let tool = CommandLineTool(environment: ["DATABASE_URL": "postgresql://x@127.0.0.1:1/x"])
    let outcome = try await tool.run(arguments)
    #expect(outcome.status == 64, sourceLocation: sourceLocation)
    #expect(outcome.errors.split(separator: "\n").count == 1, sourceLocation: sourceLocation)
    #expect(outcome.output.isEmpty, sourceLocation: sourceLocation)
}
