import ChildProcesses
import Testing

@testable import CommandLine

/// The scripts that complete command lines; that of bash is run.
@Suite struct CompletionTests {
    private static let script = CompletionScript(
        program: "my-prog",
        syntaxes: [
            (["serve"], []), (["keys", "init"], []), (["keys", "list"], ["tenant"]),
            (["merge"], ["reason", "case"]),
        ].map { words, options in
            Syntax(
                words: words, summary: "", operands: [],
                options: options.map { .init(name: $0, meaning: "") }, variables: [], details: "")
        })

    /// Returns the words that bash offers for the last word of a line.
    private func completions(of line: [String]) throws -> [String] {
        let words = line.map { "'\($0)'" }.joined(separator: " ")
        let (status, text) = try ChildProcess.run(
            "/bin/bash",
            [
                "-c",
                """
                \(Self.script.text(for: .bash))
                COMP_WORDS=(my-prog \(words)) COMP_CWORD=\(line.count)
                _my_prog
                printf '%s\\n' "${COMPREPLY[@]}"
                """,
            ])
        #expect(status == 0, "\(text)")
        return text.split(separator: "\n").map(String.init)
    }

    @Test(arguments: [
        (["se"], ["serve"]), (["keys", ""], ["init", "list"]), (["keys", "l"], ["list"]),
        (["keys", "list", "--t"], ["--tenant"]),
        (["merge", "a", "b", "--"], ["--reason", "--case", "--help"]),
        (["merge", "a", "--reason", "x", "--c"], ["--case"]), (["completion", "b"], ["bash"]),
        (["no"], []),
    ])
    func `bash offers subcommands, then options`(line: [String], offered: [String]) throws {
        #expect(try completions(of: line) == offered)
    }

    @Test func `zsh gets the same choices`() {
        let text = Self.script.text(for: .zsh)
        #expect(text.hasPrefix("#compdef my-prog\n"))
        #expect(text.contains("\"keys\") next='init list' ;;"))
        #expect(text.contains("\"merge\") next='--reason --case --help' ;;"))
    }

    @Test func `another shell is a usage error`() async throws {
        let program = Program<Void>(name: "my-prog", summary: "", version: "1", subcommands: [])
        await #expect(throws: UsageError.self) {
            try await program.run(["completion", "fish"], in: ())
        }
    }
}
