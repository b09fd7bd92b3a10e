import CommandLine
import Foundation

/// The executable: reads the command line, runs one subcommand and ends with its exit code.
@main
enum AccountLedger {
    static func main() async {
        // Files that this process writes, above all keys, are readable by their owner only.
        umask(0o077)
        // A closed reader fails the write instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        await run(Array(Swift.CommandLine.arguments.dropFirst())).endProcess()
    }

    private static func run(_ words: [String]) async -> ExitCode {
        do {
            let code = try await Program.accountLedger.run(words, in: .ofProcess)
            if Terminal.hasFailed { throw Fault("can't write to standard output") }
            return code
        } catch let error as UsageError {
            Terminal.printError("\(error)")
            return .usage
        } catch {
            Terminal.printError("\(error)")
            return .fault
        }
    }
}
