import Foundation
import Ledger
import LedgerTestSupport
import Testing
import TransparencyLog

@testable import LedgerEngine

@Suite struct SealerRecordTests {
    private func with(_ body: (SealerDirectory, String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "record-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let base = try #require(NoteKeyName("ledger.example/test"))
        try body(SealerDirectory(path: path, base: base), path)
    }

    private func entry(
        _ position: Int, type: String = "AccountErased", version: Int = 1
    ) -> [UInt8] {
        Array(
            """
            {"_sd":[],"_sd_alg":"sha-256","accounts":[{"id":"01a1fb40-7feb-7be1-b7d4-eaa749e1d4ef",\
            "prev":null,"seq":"4"}],"actor":{"type":"system"},\
            "command":"01a1fb40-808b-7259-b636-b2bf538f45ea","details":{"basis":"operator"},\
            "event":"01a1fb40-808b-7259-b636-b2bf538f45eb","outcome":"accepted",\
            "position":"\(position)","recorded_at":"2026-11-20T23:17:50.859712Z","request":null,\
            "tenant":"default","type":"\(type)","v":"\(version)"}
            """.utf8)
    }

    @Test func `an erasure is recognized by its entry, and nothing else is`() throws {
        let seen = try #require(SeenErasure(entry: entry(17)))
        // An overlooked erasure would be undone by a restore.
        for version in 1...AccountErased.newestVersion {
            #expect(SeenErasure(entry: entry(17, version: version)) == seen, "\(version)")
        }
        #expect(seen.position == 17)
        #expect(seen.account.description == "01a1fb40-7feb-7be1-b7d4-eaa749e1d4ef")
        #expect(seen.recordedAt.description == "2026-11-20T23:17:50.859712Z")
        #expect(SeenErasure(entry: entry(17, type: "ProviderLinked")) == nil)
        #expect(SeenErasure(entry: Array(entry(17).dropFirst())) == nil)
        #expect(SeenErasure(entry: []) == nil)
    }

    @Test func `erasures are listed once, also after an incomplete line`() throws {
        try with { record, path in
            _ = try record.logState(of: .default, mayBegin: true)
            let seen = try (0..<4).map { try #require(SeenErasure(entry: entry($0))) }
            try record.add([seen[0], seen[1]], of: .default)
            try record.add([seen[1], seen[2]], of: .default)
            #expect(try record.erasures(of: .default) == Array(seen[..<3]))
            let file = path + "/default/erasures"
            let whole = try Data(contentsOf: URL(fileURLWithPath: file))
            let handle = try #require(FileHandle(forUpdatingAtPath: file))
            try handle.truncate(atOffset: UInt64(whole.count - 5))
            try handle.close()
            #expect(try record.erasures(of: .default) == Array(seen[..<2]))
            try record.add([seen[2], seen[3]], of: .default)
            #expect(try record.erasures(of: .default) == seen)
        }
    }

    @Test
    func `a key is created once, signs under the log's name, and is readable by its owner only`()
        throws
    {
        try with { record, path in
            #expect(throws: SealerRecordFault.self) {
                try record.logState(of: .default, mayBegin: false)
            }
            let logState = try record.logState(of: .default, mayBegin: true)
            #expect(logState.origin.description == "ledger.example/test/default")
            #expect(logState.signers.map(\.verifier.name) == [logState.origin])
            #expect(logState.last == nil)
            let again = try record.logState(of: .default, mayBegin: true)
            #expect(again.signers.map(\.verifier.vkey) == logState.signers.map(\.verifier.vkey))
            let names = try FileManager.default.contentsOfDirectory(atPath: path + "/default")
            let key = try #require(names.first { $0.hasSuffix(".key") })
            let attributes = try FileManager.default.attributesOfItem(
                atPath: path + "/default/" + key)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    /// Signs a checkpoint of some size under the log's present name.
    private func sign(_ size: Int64, _ record: SealerDirectory) throws {
        let logState = try record.logState(of: .default, mayBegin: true)
        let checkpoint = Checkpoint(
            origin: logState.origin, size: size, root: TreeHash.leaf([UInt8(size)]))
        try record.write(
            LastSigned(
                checkpoint: checkpoint,
                note: checkpoint.signed(by: logState.signers).description),
            after: logState.last?.checkpoint, of: .default)
    }

    @Test func `a new name interrupted by a crash gets one key`() throws {
        try with { record, path in
            try sign(3, record)
            let files = FileManager.default
            let directory = path + "/default/"
            let origin = try Data(contentsOf: URL(fileURLWithPath: directory + "origin"))
            let before = Set(try files.contentsOfDirectory(atPath: directory))
            let next = try record.beginNewOrigin(of: .default)
            let key = try #require(
                Set(try files.contentsOfDirectory(atPath: directory)).subtracting(before)
                    .first { $0.hasSuffix(".key") })
            // Ended after the key, before the name.
            try origin.write(to: URL(fileURLWithPath: directory + "origin"))
            try files.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: directory + "origin")
            #expect(try record.beginNewOrigin(of: .default) == next)
            let logState = try record.logState(of: .default, mayBegin: false)
            #expect(logState.origin == next && logState.signers.count == 1)
            // Ended before the key.
            try origin.write(to: URL(fileURLWithPath: directory + "origin"))
            try files.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: directory + "origin")
            try files.removeItem(atPath: directory + key)
            #expect(try record.beginNewOrigin(of: .default) == next)
            #expect(try record.logState(of: .default, mayBegin: false).signers.count == 1)
            try sign(1, record)
            #expect(try record.beginNewOrigin(of: .default).description.hasSuffix("/3"))
        }
    }

    @Test func `a signature follows the last one and no other`() throws {
        try with { record, _ in
            try sign(3, record)
            let first = try #require(try record.lastSigned(of: .default))
            try sign(5, record)
            let second = try #require(try record.lastSigned(of: .default))
            let logState = try record.logState(of: .default, mayBegin: false)
            let later = Checkpoint(origin: logState.origin, size: 9, root: TreeHash.leaf([9]))
            let note = later.signed(by: logState.signers).description
            for previous in [nil, first.checkpoint, later] {
                #expect(throws: SealerRecordFault.outdated) {
                    try record.write(
                        LastSigned(checkpoint: later, note: note), after: previous, of: .default)
                }
            }
            #expect(try record.lastSigned(of: .default) == second)
        }
    }

    @Test func `the draft of a killed process is deleted`() throws {
        try with { record, path in
            try sign(3, record)
            let draft = path + "/default/.checkpoint-0a1b2c3d.key.1234567890"
            try Data("secret".utf8).write(to: URL(fileURLWithPath: draft))
            try sign(4, record)
            #expect(!FileManager.default.fileExists(atPath: draft))
            #expect(FileManager.default.fileExists(atPath: path + "/default/.lock"))
        }
    }

    @Test func `an erasure is added to a list of any length`() throws {
        try with { record, path in
            _ = try record.logState(of: .default, mayBegin: true)
            let seen = try #require(SeenErasure(entry: entry(17)))
            try record.add([seen], of: .default)
            let file = try #require(FileHandle(forUpdatingAtPath: path + "/default/erasures"))
            // A sparse file, which occupies no space.
            try file.truncate(atOffset: 300 * 1024 * 1024)
            try file.close()
            try record.add([seen], of: .default)
            let end = try #require(FileHandle(forReadingAtPath: path + "/default/erasures"))
            try end.seek(toOffset: 300 * 1024 * 1024)
            let line = try #require(try end.readToEnd())
            #expect(ErasureList.erasures(Array(line)) == [seen])
            try end.close()
        }
    }

    @Test func `another LEDGER_ORIGIN than the log was sealed under is refused`() throws {
        try with { record, path in
            _ = try record.logState(of: .default, mayBegin: true)
            let other = SealerDirectory(
                path: path, base: try #require(NoteKeyName("other.example/test")))
            #expect(throws: SealerRecordFault.self) {
                try other.logState(of: .default, mayBegin: true)
            }
        }
    }

    @Test func `damaged files are named and stop the sealer`() throws {
        try with { record, path in
            _ = try record.logState(of: .default, mayBegin: true)
            let names = try FileManager.default.contentsOfDirectory(atPath: path + "/default")
            for name in names where name != ".lock" {
                let file = path + "/default/" + name
                let whole = try Data(contentsOf: URL(fileURLWithPath: file))
                let handle = try #require(FileHandle(forUpdatingAtPath: file))
                try handle.truncate(atOffset: 0)
                try handle.write(contentsOf: Data("nonsense\n".utf8))
                try handle.close()
                let fault = #expect(throws: SealerRecordFault.self) {
                    try record.logState(of: .default, mayBegin: true)
                }
                #expect(fault?.description.contains(name) == true, "\(name)")
                let mended = try #require(FileHandle(forUpdatingAtPath: file))
                try mended.truncate(atOffset: 0)
                try mended.write(contentsOf: whole)
                try mended.close()
                _ = try record.logState(of: .default, mayBegin: true)
            }
        }
    }
}
