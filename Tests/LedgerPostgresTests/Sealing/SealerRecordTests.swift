import Foundation
import Ledger
import LedgerTestSupport
import Testing
import TransparencyLog

@testable import LedgerPostgres

@Suite struct SealerRecordTests {
    private func with(_ body: (SealerDirectory, String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "record-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let base = try #require(NoteKeyName("ledger.example/test"))
        try body(SealerDirectory(path: path, base: base), path)
    }

    private func entry(_ position: Int, type: String = "AccountErased") -> [UInt8] {
        Array(
            """
            {"_sd":[],"_sd_alg":"sha-256","accounts":[{"id":"01a1fb40-7feb-7be1-b7d4-eaa749e1d4ef",\
            "prev":null,"seq":"4"}],"actor":{"type":"system"},\
            "command":"01a1fb40-808b-7259-b636-b2bf538f45ea","details":{"basis":"operator"},\
            "event":"01a1fb40-808b-7259-b636-b2bf538f45eb","outcome":"accepted",\
            "position":"\(position)","recorded_at":"2026-11-20T23:17:50.859712Z","request":null,\
            "tenant":"default","type":"\(type)","v":"1"}
            """.utf8)
    }

    @Test func `an erasure is told by its entry, and nothing else is taken for one`() throws {
        let seen = try #require(SeenErasure(entry: entry(17)))
        #expect(seen.position == 17)
        #expect(seen.account.description == "01a1fb40-7feb-7be1-b7d4-eaa749e1d4ef")
        #expect(seen.recordedAt.description == "2026-11-20T23:17:50.859712Z")
        #expect(SeenErasure(entry: entry(17, type: "ProviderLinked")) == nil)
        #expect(SeenErasure(entry: Array(entry(17).dropFirst())) == nil)
        #expect(SeenErasure(entry: []) == nil)
    }

    @Test func `erasures are listed once, also behind a line that was cut short`() throws {
        try with { record, path in
            _ = try record.standing(of: .default, mayBegin: true)
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

    @Test func `a key is made once, signs as the log's name, and is its owner's alone`() throws {
        try with { record, path in
            #expect(throws: SealerRecordFault.self) {
                try record.standing(of: .default, mayBegin: false)
            }
            let standing = try record.standing(of: .default, mayBegin: true)
            #expect(standing.origin.description == SealingFixture.origin)
            #expect(standing.signers.map(\.verifier.name) == [standing.origin])
            #expect(standing.last == nil)
            let again = try record.standing(of: .default, mayBegin: true)
            #expect(again.signers.map(\.verifier.vkey) == standing.signers.map(\.verifier.vkey))
            let names = try FileManager.default.contentsOfDirectory(atPath: path + "/default")
            let key = try #require(names.first { $0.hasSuffix(".key") })
            let attributes = try FileManager.default.attributesOfItem(
                atPath: path + "/default/" + key)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test func `another LEDGER_ORIGIN than the log was sealed under is refused`() throws {
        try with { record, path in
            _ = try record.standing(of: .default, mayBegin: true)
            let other = SealerDirectory(
                path: path, base: try #require(NoteKeyName("other.example/test")))
            #expect(throws: SealerRecordFault.self) {
                try other.standing(of: .default, mayBegin: true)
            }
        }
    }

    @Test func `damaged files are named and stop the sealer`() throws {
        try with { record, path in
            _ = try record.standing(of: .default, mayBegin: true)
            let names = try FileManager.default.contentsOfDirectory(atPath: path + "/default")
            for name in names where name != ".lock" {
                let file = path + "/default/" + name
                let whole = try Data(contentsOf: URL(fileURLWithPath: file))
                let handle = try #require(FileHandle(forUpdatingAtPath: file))
                try handle.truncate(atOffset: 0)
                try handle.write(contentsOf: Data("nonsense\n".utf8))
                try handle.close()
                let fault = #expect(throws: SealerRecordFault.self) {
                    try record.standing(of: .default, mayBegin: true)
                }
                #expect(fault?.description.contains(name) == true, "\(name)")
                let mended = try #require(FileHandle(forUpdatingAtPath: file))
                try mended.truncate(atOffset: 0)
                try mended.write(contentsOf: whole)
                try mended.close()
                _ = try record.standing(of: .default, mayBegin: true)
            }
        }
    }
}
