import Foundation
import Ledger
import Passwords
import Testing

@testable import account_ledger

/// Peppers in a key directory.
@Suite struct PepperFileTests {
    private static let past = Timestamp(seconds: 1_790_000_000)
    private static let future = Timestamp(seconds: 9_000_000_000)

    private func with(_ body: (KeyDirectory) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "account-ledger-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = KeyDirectory(path: path)
        let keys = try directory.makeFirst()
        #expect(keys.peppers == PasswordPeppers.none && keys.announcedPepperID == nil)
        try body(directory)
    }

    /// Returns the keys of files that are private, as those of the executable are by its umask.
    private func keys(_ directory: KeyDirectory) throws -> Keys {
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: directory.path + "/" + name)
        }
        return try #require(try directory.load())
    }

    @Test func `the first pepper is known before it is used, and a rotation keeps it`() throws {
        try with { directory in
            let first = try directory.add(.pepper, from: Self.future, now: .now)
            let early = try keys(directory)
            #expect(early.peppers.ids == [first] && early.peppers.current == nil)
            #expect(early.announcedPepperID == first)
            #expect(try directory.choice(at: .now).lastID(of: .pepper) == first)
            let second = try directory.add(.pepper, from: Self.past, now: Self.future)
            let late = try keys(directory)
            #expect(late.peppers.ids == [first, second] && late.peppers.current == second)
            #expect(throws: (any Error).self) {
                try directory.remove(.pepper, second, now: .now)
            }
            try directory.remove(.pepper, first, now: .now)
            #expect(try keys(directory).peppers.ids == [second])
        }
    }

    @Test func `a pepper that current does not name is not used, and one that it names must exist`()
        throws
    {
        try with { directory in
            let id = try directory.add(.pepper, from: Self.past, now: .now)
            let current = try String(
                contentsOfFile: directory.path(of: .current), encoding: .utf8)
            let others = current.split(separator: "\n").filter { !$0.contains("pepper") }
            try Data((others.joined(separator: "\n") + "\n").utf8).write(
                to: URL(fileURLWithPath: directory.path(of: .current)))
            let unnamed = try keys(directory)
            #expect(unnamed.peppers.ids == [id] && unnamed.peppers.current == nil)
            #expect(unnamed.announcedPepperID == nil)
            try Data(current.utf8).write(to: URL(fileURLWithPath: directory.path(of: .current)))
            #expect(try keys(directory).peppers.current == id)
            try FileManager.default.removeItem(atPath: directory.path(of: .pepper(id: id)))
            #expect(throws: (any Error).self) { try directory.load() }
        }
    }
}
