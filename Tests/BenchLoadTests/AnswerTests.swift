import Testing

@testable import ledger_bench_load

/// The end of an answer, and the computation of the figures.
@Suite struct AnswerTests {
    private static let whole = Array(
        "HTTP/1.1 204 No Content\r\nDate: now\r\ncontent-LENGTH: 5\r\nX: y\r\n\r\nhello".utf8)

    @Test func `an answer is whole only with its last byte`() throws {
        for count in 0..<Self.whole.count {
            #expect(try Answer(Self.whole, count: count) == nil, "\(count)")
        }
        let answer = try #require(try Answer(Self.whole, count: Self.whole.count))
        #expect(answer.status == 204)
        #expect(Array(Self.whole[answer.body]) == Array("hello".utf8))
    }

    @Test func `bytes after an answer are not its body`() throws {
        let bytes = Self.whole + Array("HTTP/1.1".utf8)
        let answer = try #require(try Answer(bytes, count: bytes.count))
        #expect(answer.body.upperBound == Self.whole.count)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nX: y\r\n\r\n", "HTTP/1.1 abc OK\r\nContent-Length: 1\r\n\r\nx",
        String(repeating: "x", count: 9_000),
    ])
    func `a malformed answer is refused`(text: String) {
        let bytes = Array(text.utf8)
        #expect(throws: LoadFailure.self) { try Answer(bytes, count: bytes.count) }
    }

    @Test func `quantiles are of the answers themselves`() {
        let sorted = (1...200).map { UInt64($0) * 1000 }
        #expect(LoadFigures.quantile(0.5, of: sorted) == 100)
        #expect(LoadFigures.quantile(0.99, of: sorted) == 198)
        #expect(LoadFigures.quantile(1, of: sorted) == 200)
        #expect(LoadFigures.quantile(0.99, of: [7_000]) == 7)
        #expect(LoadFigures.quantile(0.99, of: []) == 0)
    }
}
