import Foundation

/// Feeds hostile input to every parser of external data; see docs/hostile-input.md.
@main
enum LedgerFuzz {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        // Not exit(3): OpenSSL would free memory that a target's threads still use.
        _exit(await run())
    }

    private static func run() async -> Int32 {
        do {
            let program = try URL(
                fileURLWithPath: FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/self/exe"))
            let options = try Options(Array(CommandLine.arguments.dropFirst()), beside: program)
            if options.isList {
                for (name, _) in Catalogue.shares { say(name) }
                return 0
            }
            guard options.isWorker, let name = options.target else {
                return try await Supervisor(program: program, options: options).run() ? 0 : 1
            }
            let target = try await Catalogue.target(name, options)
            let outcome = try await Worker(options: options, target: target).run()
            try Notes.write(outcome, to: options.directory)
            return outcome.finding == nil ? 0 : 1
        } catch let error as UsageError {
            FileHandle.standardError.write(Data("ledger-fuzz: \(error)\n\(Options.usage)".utf8))
            return 64
        } catch {
            FileHandle.standardError.write(Data("ledger-fuzz: \(error)\n".utf8))
            return 1
        }
    }
}

/// Prints a line without buffering.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
