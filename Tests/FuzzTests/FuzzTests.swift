import Foundation
import LedgerTestSupport
import Testing

/// A short round of hostile input, and the detection of planted bugs.
@Suite struct FuzzTests {
    private static let executions = 24_000

    /// The fuzz program is beside the tests, like the ledger itself.
    private static var program: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("ledger-fuzz").path
    }

    private func run(_ arguments: [String]) async throws -> (status: Int32, text: String) {
        var environment = ["TMPDIR": NSTemporaryDirectory()]
        for name in ["ASAN_OPTIONS", "TSAN_OPTIONS", "LD_PRELOAD", "SWIFT_BACKTRACE"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        let process = try RunningProcess(
            executable: Self.program,
            arguments: arguments + ["--executable", CommandLineTool.executable],
            environment: environment)
        let status = try await process.exitStatus(within: .seconds(300))
        return (status: status, text: process.output.text + process.errors.text)
    }

    @Test func `hostile input of a fixed round does no harm`() async throws {
        let (status, text) = try await run(["--executions", "\(Self.executions)", "--seed", "1"])
        #expect(status == 0, "\(text)")
    }

    @Test(arguments: [
        ("planted-finding", "a planted finding"), ("planted-crash", "crashed by signal"),
    ])
    func `a planted bug is found, reported with its input, and found again`(
        target: String, failure: String
    ) async throws {
        let found = try await run(["--target", target, "--executions", "5000", "--seed", "7"])
        #expect(found.status == 1)
        #expect(found.text.contains("\(target)") && found.text.contains(failure), "\(found.text)")

        let again = try #require(found.text.firstMatch(of: /--seed 7 --at ([0-9]+)/)?.1)
        let repeated = try await run(["--target", target, "--seed", "7", "--at", String(again)])
        #expect(repeated.status == 1 && repeated.text.contains(failure), "\(repeated.text)")

        let input = try #require(found.text.firstMatch(of: /base64\): (\S+)/)?.1)
        let fed = try await run(["--target", target, "--input", String(input)])
        #expect(fed.status == 1 && fed.text.contains(failure), "\(fed.text)")
    }

    @Test func `an input that never ends is a failure`() async throws {
        let (status, text) = try await run([
            "--target", "planted-hang", "--executions", "5000", "--hang-seconds", "2",
        ])
        #expect(status == 1 && text.contains("did not end within 2 s"), "\(text)")
    }

    @Test func `every target has a part in a round`() async throws {
        let names = try await run(["--list"]).text.split(separator: "\n")
        let (_, text) = try await run(["--executions", "1000", "--seed", "3"])
        #expect(names.count > 20)
        for name in names { #expect(text.contains("\(name) "), "\(name) in \(text)") }
    }
}
