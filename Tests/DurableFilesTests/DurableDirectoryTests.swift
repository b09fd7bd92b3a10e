import DurableFiles
import Foundation
import Testing

@Suite struct DurableDirectoryTests {
    private func with(_ body: (DurableDirectory) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "durable-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = DurableDirectory(path: path + "/deep/er")
        try directory.make()
        try body(directory)
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }

    @Test func `a directory and its files are their owner's alone`() throws {
        try with { directory throws in
            try directory.replace("a", with: [1])
            try directory.append([2], to: "b")
            #expect(try mode(directory.path) == 0o700)
            #expect(try mode(directory.path(of: "a")) == 0o600)
            #expect(try mode(directory.path(of: "b")) == 0o600)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o640], ofItemAtPath: directory.path(of: "a"))
            #expect(throws: FileFault.self) { try directory.read("a", bytesMax: 10) }
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o750], ofItemAtPath: directory.path)
            #expect(throws: FileFault.self) { try directory.names() }
            #expect(throws: FileFault.self) { try directory.make() }
        }
    }

    @Test func `a file is replaced whole, and nothing else is left behind`() throws {
        try with { directory throws in
            #expect(try directory.read("a", bytesMax: 10) == nil)
            try directory.replace("a", with: Array("one".utf8))
            try directory.replace("a", with: Array("two".utf8))
            #expect(try directory.read("a", bytesMax: 10) == Array("two".utf8))
            #expect(try directory.names() == ["a"])
            #expect(throws: FileFault.self) { try directory.read("a", bytesMax: 2) }
        }
    }

    @Test func `a file is made once and never over another`() throws {
        try with { directory throws in
            #expect(try directory.create("a", with: [1]))
            #expect(try !directory.create("a", with: [2]))
            #expect(try directory.read("a", bytesMax: 10) == [1])
            #expect(try directory.names() == ["a"])
        }
    }

    @Test func `bytes are added behind those which are there`() throws {
        try with { directory throws in
            try directory.append([1], to: "a")
            try directory.append(Array(repeating: 2, count: 100_000), to: "a")
            #expect(try directory.read("a", bytesMax: 100_001)?.count == 100_001)
        }
    }

    @Test func `one at a time is in a lock`() async throws {
        let path = NSTemporaryDirectory() + "durable-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = DurableDirectory(path: path)
        try directory.make()
        try directory.replace("count", with: Array("0".utf8))
        // Reading, adding and replacing loses counts without mutual exclusion.
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<25 {
                        try? directory.whileLocked {
                            let bytes = try directory.read("count", bytesMax: 10) ?? []
                            let count = Int(String(decoding: bytes, as: UTF8.self)) ?? 0
                            try directory.replace("count", with: Array("\(count + 1)".utf8))
                        }
                    }
                }
            }
        }
        #expect(try directory.read("count", bytesMax: 10) == Array("100".utf8))
    }

    @Test func `a missing or unwritable file is reported with its path`() throws {
        try with { directory throws in
            let missing = directory.directory("missing")
            #expect(try missing.names() == nil)
            let fault = #expect(throws: FileFault.self) { try missing.replace("a", with: []) }
            #expect(fault?.description.contains("missing/.a.") == true)
        }
    }
}
