import Foundation

/// The files with which a worker process reports to its supervisor.
struct Notes {
    /// The outcome of the executions of a target.
    struct Outcome: Codable {
        /// The number of executions; the failed one, when there is a finding.
        var executions = 0
        var accepted = 0
        var seconds = 0.0
        var finding: String?
    }

    private let mark: FileHandle

    init(writingTo directory: String) throws {
        let path = Self.markPath(directory)
        try Data().write(to: URL(fileURLWithPath: path))
        mark = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    /// Records the execution that begins now.
    func begin(_ execution: Int) throws {
        let text = "\(execution)"
        try mark.seek(toOffset: 0)
        let padding = String(repeating: " ", count: max(0, 20 - text.utf8.count))
        try mark.write(contentsOf: Data((padding + text).utf8))
    }

    /// Returns the last execution that was begun.
    static func lastBegun(_ directory: String) -> Int? {
        guard let data = FileManager.default.contents(atPath: markPath(directory)) else {
            return nil
        }
        return Int(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespaces))
    }

    /// Writes the outcome.
    static func write(_ outcome: Outcome, to directory: String) throws {
        try JSONEncoder().encode(outcome)
            .write(to: URL(fileURLWithPath: directory + "/outcome"))
    }

    /// Reads the outcome; nil when the process ended before it wrote it.
    static func outcome(_ directory: String) -> Outcome? {
        FileManager.default.contents(atPath: directory + "/outcome").flatMap {
            try? JSONDecoder().decode(Outcome.self, from: $0)
        }
    }

    private static func markPath(_ directory: String) -> String { directory + "/mark" }
}
