import ChildProcesses
import Foundation
import Testing

/// The script that puts WAL into the archive (`docs/operating/backup.md`).
@Suite struct ArchiveCommandTests {
    private let directory: String
    private let archive: String

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appending(path: "archive-wal \(UUID().uuidString)").path(percentEncoded: false)
        archive = directory + "/archive"
        try FileManager.default.createDirectory(
            atPath: archive, withIntermediateDirectories: true)
    }

    private func write(_ text: String, to name: String) throws {
        try text.write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
    }

    private func read(_ name: String) throws -> String {
        try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
    }

    /// Calls the script as Postgres does, and returns its exit status.
    private func call() throws -> Int32 {
        let result = try ChildProcess.run(
            SourceTree.root.appendingPathComponent("packaging/postgres/archive-wal").path,
            ["segment", "\(archive)/segment"],
            directory: directory)
        return result.status
    }

    private func remove() throws {
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test func `a file is archived once, and again only with the same content`() throws {
        try write("WAL", to: "segment")
        #expect(try call() == 0)
        #expect(try read("archive/segment") == "WAL")
        #expect(try call() == 0)
        try write("of another cluster", to: "segment")
        #expect(try call() != 0)
        #expect(try read("archive/segment") == "WAL")
        #expect(try FileManager.default.contentsOfDirectory(atPath: archive) == ["segment"])
        try remove()
    }

    @Test func `what a crash has left is replaced by a whole file`() throws {
        try write("WAL, complete", to: "segment")
        try write("WAL, c", to: "archive/segment.part")
        #expect(try call() == 0)
        #expect(try read("archive/segment") == "WAL, complete")
        #expect(try FileManager.default.contentsOfDirectory(atPath: archive) == ["segment"])
        try remove()
    }

    @Test func `half a file under the final name is refused`() throws {
        try write("WAL, complete", to: "segment")
        try write("WAL, c", to: "archive/segment")
        #expect(try call() != 0)
        try remove()
    }

    @Test func `a copy that fails leaves nothing under the final name`() throws {
        // The source does not exist.
        #expect(try call() != 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: archive).isEmpty)
        try remove()
    }
}
