import Foundation

/// A mistake on the command line.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The options of the command line.
struct Options: Sendable {
    static let usage = """
        Usage: ledger-fuzz [--executions N] [--seconds N] [--target T] [--seed S] [--at N | --input BASE64]
                           [--server PORT] [--executable PATH] [--hang-seconds N] [--list]

        """

    var executions = 1_050_000
    var secondsMax = 280
    /// The time after which an execution counts as hanging; longer than the minute that a server has for
    /// ending a connection.
    var hangSeconds = 90
    var target: String?
    var seed = UInt64.random(in: 0...999_999_999)
    /// Only this execution.
    var at: Int?
    /// Only this input.
    var input: [UInt8]?
    /// The port of an account-ledger in development mode.
    var server: UInt16?
    /// The account-ledger executable for the target command-line.
    var executable = ""
    var isList = false
    /// Set for worker processes: the directory of their notes.
    var directory = ""

    var isWorker: Bool { !directory.isEmpty }

    init(_ words: [String], beside program: URL) throws(UsageError) {
        executable =
            program.deletingLastPathComponent().appendingPathComponent("account-ledger").path
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--list" {
                isList = true
                continue
            }
            guard let value = rest.popFirst() else { throw UsageError("\(word) requires a value") }
            try take(word, value)
        }
    }

    private mutating func take(_ word: String, _ value: String) throws(UsageError) {
        func number(_ range: ClosedRange<Int>) throws(UsageError) -> Int {
            guard let number = Int(value), range.contains(number) else {
                throw UsageError("\(word) must be a number, not '\(value)'")
            }
            return number
        }
        switch word {
        case "--executions": executions = try number(1...1_000_000_000)
        case "--seconds": secondsMax = try number(1...1_000_000)
        case "--hang-seconds": hangSeconds = try number(1...3600)
        case "--seed": seed = UInt64(try number(0...Int.max))
        case "--at": at = try number(0...Int.max)
        case "--server": server = UInt16(try number(1...65_535))
        case "--target": target = value
        case "--executable": executable = value
        case "--worker": directory = value
        case "--input":
            guard let data = Data(base64Encoded: value) else {
                throw UsageError("--input must be base64")
            }
            input = Array(data)
        default: throw UsageError("unknown option \(word)")
        }
    }

    /// Returns the arguments for a worker process of one target.
    func words(target: String, executions: Int, directory: String) -> [String] {
        var words = [
            "--target", target, "--executions", "\(executions)", "--seed", "\(seed)", "--seconds",
            "\(secondsMax)", "--executable", executable, "--worker", directory,
        ]
        if let server { words += ["--server", "\(server)"] }
        if let at { words += ["--at", "\(at)"] }
        if let input { words += ["--input", Data(input).base64EncodedString()] }
        return words
    }
}
