import Archive
import Cryptography
import Encodings
import Foundation
import Ledger
import LedgerExport
import Testing

/// The extracted files of a bundle, which can be changed and packed again.
struct BundleContents {
    var members: [(name: String, bytes: [UInt8])] = []

    init(path: String) throws {
        let reader = try ArchiveReader(path: path)
        while let member = try reader.next() {
            var bytes: [UInt8] = []
            while true {
                let chunk = try reader.read()
                guard !chunk.isEmpty else { break }
                bytes += chunk
            }
            members.append((name: member.name, bytes: bytes))
        }
    }

    /// Writes a bundle of the files; a resealed one has a matching manifest.
    func write(to path: String, isResealed: Bool) throws {
        var members = members
        if isResealed {
            var manifest = members.removeLast()
            let files = members.map {
                "{\"name\":\"\($0.name)\",\"bytes\":\"\($0.bytes.count)\","
                    + "\"sha256\":\"\(Hex.encode(SHA256.hash($0.bytes)))\"}"
            }
            let lines = members.filter { $0.name.hasPrefix("entries/") }
                .flatMap(\.bytes).filter { $0 == 0x0A }.count
            let text = String(decoding: manifest.bytes, as: UTF8.self)
                .replacing(/"events":"\d+"/, with: "\"events\":\"\(lines)\"")
                .prefix { $0 != "[" }
            let list = files.joined(separator: ",")
            manifest.bytes = Array("\(text)[\(list)]}\n".utf8)
            members.append(manifest)
        }
        let writer = try ArchiveWriter(path: path)
        for member in members {
            try writer.add(member.name, member.bytes)
        }
        try writer.finish()
    }

    mutating func edit(_ name: String, _ change: (String) throws -> String) throws {
        let index = try #require(members.firstIndex { $0.name == name })
        let text = String(decoding: members[index].bytes, as: UTF8.self)
        members[index].bytes = Array(try change(text).utf8)
    }

    mutating func remove(_ name: String) throws {
        members.remove(at: try #require(members.firstIndex { $0.name == name }))
    }

    mutating func add(_ name: String, _ text: String) {
        members.append((name: name, bytes: Array(text.utf8)))
    }

    mutating func insert(_ name: String, _ text: String, before other: String) {
        let index = members.firstIndex { $0.name == other } ?? members.endIndex
        members.insert((name: name, bytes: Array(text.utf8)), at: index)
    }

    /// Changes the line of a position; parts have twenty entries.
    mutating func editLine(_ position: Int, _ change: (String) throws -> String) throws {
        try editLines(of: position / 20) { $0[position % 20] = try change($0[position % 20]) }
    }

    mutating func editLine(nth index: Int, _ change: (String) throws -> String) throws {
        try editLines(of: 0) { $0[index] = try change($0[index]) }
    }

    mutating func editEntry(_ position: Int, _ change: (String) -> String) throws {
        try editLine(position) { line in
            let text = try #require(line.firstMatch(of: /"entry":"([^"]*)"/)).output.1
            let entry = String(decoding: try #require(Base64.decode(text)), as: UTF8.self)
            #expect(change(entry) != entry)
            return line.replacing(text, with: Base64.encode(Array(change(entry).utf8)))
        }
    }

    mutating func removeLine(_ position: Int) throws {
        try editLines(of: position / 20) { $0.remove(at: position % 20) }
    }

    mutating func removeLine(nth index: Int) throws {
        try editLines(of: 0) { $0.remove(at: index) }
    }

    mutating func swapLines(_ one: Int, _ other: Int) throws {
        try editLines(of: one / 20) { $0.swapAt(one % 20, other % 20) }
    }

    mutating func swapLines(nth one: Int, _ other: Int) throws {
        try editLines(of: 0) { $0.swapAt(one, other) }
    }

    mutating func doubleLine(_ position: Int) throws {
        try editLines(of: position / 20) { $0.insert($0[position % 20], at: position % 20) }
    }

    mutating func doubleLine(nth index: Int) throws {
        try editLines(of: 0) { $0.insert($0[index], at: index) }
    }

    mutating func doubleLastLine() throws {
        try editLines(of: 0) { $0.append(try #require($0.last)) }
    }

    /// Adds the last event of a longer log.
    mutating func addEntry(_ log: ExampleLog) throws {
        let event = try #require(log.events.last)
        try editLines(of: event.recorded.position.value == 0 ? 0 : 2) { lines in
            lines.append(
                "{\"position\":\"\(event.recorded.position)\","
                    + "\"entry\":\"\(Base64.encode(event.entry))\"}")
        }
    }

    private mutating func editLines(
        of part: Int, _ change: (inout [String]) throws -> Void
    ) throws {
        try edit("entries/00000\(part).jsonl") { text in
            var lines = text.split(separator: "\n").map(String.init)
            try change(&lines)
            return lines.map { $0 + "\n" }.joined()
        }
    }
}
