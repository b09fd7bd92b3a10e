import Glibc

/// Puts an HTTP server under load with little CPU time and prints the figures; called by `tools/bench`.
@main
enum BenchLoad {
    private static let usage = """
        usage: ledger-bench-load run PORT REQUESTS CONNECTIONS [--warm-up N] [--repeat N]
                                 [--network N]
                                 [--expect TEXT] [--keep MEMBERS FILE]
               ledger-bench-load ready PORT SECONDS
               ledger-bench-load hash SECONDS

        run    sends each request of a file once over keep-alive connections to 127.0.0.1, and prints a
               line of JSON. A line of the file is METHOD, PATH, access token and body
               with a tab between them; the last two may be empty. Every answer must be 200 and hold
               the expected text. The first N answers warm up: they are checked, but not measured.
               --network N gives each connection an address of its own, of 127.N.0.0/16.
               --keep writes members of the answers' JSON, a line each in the order of the file.
        ready  asks /readyz until it answers 200.
        hash   hashes passwords on all processors, and prints how many a second.
        """

    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch let error as UsageError {
            complain("\(error.text)\n\(usage)")
            exit(64)
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private static func run(_ words: [String]) throws {
        switch words.first {
        case "run": try load(try LoadOptions(Array(words.dropFirst())))
        case "ready": try waitUntilReady(Array(words.dropFirst()))
        case "hash":
            guard words.count == 2, let seconds = Int(words[1]), (1...60).contains(seconds) else {
                throw UsageError(text: "hash requires seconds")
            }
            print(try HashRate.measure(seconds: seconds))
        default: throw UsageError(text: "the first argument must be run, ready or hash")
        }
    }

    private static func load(_ options: LoadOptions) throws {
        let requests = try PreparedRequests(path: options.requestsPath, port: options.port)
        var run = LoadRun(requests, options)
        try run.toItsEnd()
        if let keep = options.keep {
            try KeptMembers.write(run.kept, to: keep.path)
        }
        print(run.figures().json)
    }

    private static func waitUntilReady(_ words: [String]) throws {
        guard words.count == 2, let port = UInt16(words[0]), let seconds = UInt64(words[1]) else {
            throw UsageError(text: "ready requires a port and seconds")
        }
        try Readiness.wait(port: port, seconds: seconds)
    }

    private static func complain(_ text: String) {
        FileHandles.standardError("ledger-bench-load: \(text)\n")
    }
}

/// A mistake on the command line.
struct UsageError: Error {
    let text: String
}

/// The reason why a run failed; never contains a token.
struct LoadFailure: Error, CustomStringConvertible {
    let description: String
}
