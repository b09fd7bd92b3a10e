import JSON
import Ledger
import Testing

@testable import account_ledger

/// Lines of the server's log.
@Suite struct LogLineTests {
    private func members(_ line: consuming LogLine) throws -> JSONMembers {
        let bytes = line.ended()
        #expect(bytes.last == UInt8(ascii: "\n") && bytes.count <= LogLine.bytesMax)
        return try #require(JSONValue(parsing: Array(bytes.dropLast()))?.members)
    }

    @Test func `a line is one JSON object`() throws {
        var line = LogLine(.info, "a \"quoted\"\nmessage", at: Timestamp(microseconds: 0))
        line.add("count", .number(-1))
        line.add("is_new", .flag(true))
        let members = try members(line)
        #expect(members.keys == ["ts", "level", "msg", "count", "is_new"])
        #expect(members["msg"] == .string("a \"quoted\"\nmessage"))
        #expect(members["count"] == .number(-1))
        #expect(members["is_new"] == .bool(true))
    }

    @Test(arguments: ["x", "é", "😀"])
    func `a long text is cut between characters`(character: String) throws {
        let text = String(repeating: character, count: 2_000)
        let line = LogLine(.info, text, at: Timestamp(microseconds: 0))
        let written = try #require(try members(line)["msg"]?.string)
        #expect(text.hasPrefix(written) && (1_000...1_024).contains(written.utf8.count))
    }

    @Test func `a member that makes the line too long is omitted`() throws {
        var line = LogLine(.info, "m", at: Timestamp(microseconds: 0))
        for number in 0..<8 {
            line.add("m\(number)", .text(String(repeating: "x", count: 900)))
        }
        line.add("last", .number(1))
        let keys = try members(line).keys
        #expect(keys.contains("last") && !keys.contains("m7"))
    }
}
