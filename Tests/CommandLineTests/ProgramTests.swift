import CommandLine
import Synchronization
import Testing

/// The choice of the subcommand, and its arguments.
@Suite struct ProgramTests {
    /// Collects the names of the subcommands that ran.
    private final class Runs: Sendable {
        let names = Mutex<[String]>([])
    }

    private func subcommand(_ words: String...) -> Subcommand<Runs> {
        Subcommand(
            syntax: Syntax(
                words: words, summary: "", operands: [], options: [], variables: [], details: "")
        ) { _, runs in
            runs.names.withLock { $0.append(words.joined(separator: " ")) }
            return .success
        }
    }

    private var program: Program<Runs> {
        Program(
            name: "prog", summary: "", version: "1",
            subcommands: [
                subcommand("run"), subcommand("keys", "add"), subcommand("keys", "api", "add"),
            ])
    }

    @Test(arguments: ["run", "keys add", "keys api add"])
    func `the named subcommand runs`(line: String) async throws {
        let runs = Runs()
        let code = try await program.run(line.split(separator: " ").map(String.init), in: runs)
        #expect(code == .success)
        #expect(runs.names.withLock { $0 } == [line])
    }

    @Test(arguments: [
        ("", "prog --help"), ("walk", "prog --help"), ("keys", "prog keys --help"),
        ("keys remove", "prog keys --help"), ("keys api", "prog keys api --help"),
        ("--walk", "prog --help"), ("run a", "prog run --help"),
    ])
    func `a line without a subcommand points to the help`(line: String, help: String) async throws {
        let runs = Runs()
        let error = await #expect(throws: UsageError.self) {
            try await program.run(line.split(separator: " ").map(String.init), in: runs)
        }
        #expect(try #require(error).description.hasSuffix("see \(help)"))
        #expect(runs.names.withLock { $0 }.isEmpty)
    }
}
