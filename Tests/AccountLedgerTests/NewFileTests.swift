import Foundation
import Testing

@testable import account_ledger

/// Files that get their names once they are complete.
@Suite struct NewFileTests {
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "account-ledger-file-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private func write(_ text: String, to file: NewFile) throws {
        try text.write(toFile: file.partialPath, atomically: false, encoding: .utf8)
    }

    @Test func `two writers of one name don't mix, and the first that completes keeps it`() throws {
        try withDirectory { directory in
            let path = directory + "/x"
            let first = try NewFile(path: path)
            try write("first", to: first)
            let second = try NewFile(path: path)
            try write("second", to: second)
            try first.keep()
            #expect(throws: (any Error).self) { try second.keep() }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "first")
        }
    }

    @Test func `other files beside the new one stay, and an incomplete one is deleted`() throws {
        try withDirectory { directory in
            let other = directory + "/x.partial"
            try "mine".write(toFile: other, atomically: false, encoding: .utf8)
            var file: NewFile? = try NewFile(path: directory + "/x")
            #expect(file?.partialPath != other)
            file = nil
            #expect(file == nil)
            #expect(try String(contentsOfFile: other, encoding: .utf8) == "mine")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["x.partial"])
        }
    }
}
