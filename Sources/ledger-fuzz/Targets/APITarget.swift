import Cryptography
import Foundation
import HTTP
import LedgerAPI

/// Requests to every route of the contract, without a socket: never a fault, always JSON, and no
/// refusal quotes the request.
enum APITarget {
    /// A refusal that repeats this many consecutive bytes of the request discloses its content.
    private static let repeatedBytesMax = 20

    /// - Throws: `Finding` for a route without a request.
    static func target(_ service: FuzzService) throws -> FuzzTarget {
        if let route = API.routes.first(where: { !RequestTemplates.reach($0) }) {
            throw Finding("there is no request for \(route)")
        }
        return FuzzTarget("api", corpus: RequestTemplates.all, words: RequestTemplates.words) {
            input in
            let api = try service.api()
            let tokens = try await LiveTokens(signingInAt: api, of: service)
            guard let request = Self.request(tokens.fill(input)) else { return false }
            let answer = await api.handle(request)
            try check(answer, to: request)
            return answer.status < 300
        }
    }

    private static func check(_ answer: HTTPResponse, to request: HTTPRequest) throws {
        try require((200..<500).contains(answer.status), "the answer is \(answer.status)")
        guard answer.status >= 400 else { return }
        // The pages of browser flows are for people.
        guard !answer.headers.contains(where: { $0.value == "text/html; charset=utf-8" }) else {
            return try require(
                request.path.contains("/v1/auth/flows/"), "a refusal is a page")
        }
        let body = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        let error = body?["error"] as? [String: Any]
        try require(
            error?["code"] is String && error?["message"] is String, "a refusal is not a JSON error"
        )
        let sent =
            [request.body, Array(request.target.utf8)]
            + fields.map { name in
                Array(request.headers.all(name).joined().utf8)
            }
        for text in sent {
            try require(!repeats(answer.body, text), "a refusal repeats the request")
        }
    }

    private static let fields = ["Authorization", "Idempotency-Key", "Content-Type"]

    private static func repeats(_ answer: [UInt8], _ text: [UInt8]) -> Bool {
        guard text.count >= repeatedBytesMax, answer.count >= repeatedBytesMax else { return false }
        var slices: Set<ArraySlice<UInt8>> = []
        for start in 0...(answer.count - repeatedBytesMax) {
            slices.insert(answer[start..<(start + repeatedBytesMax)])
        }
        return (0...(text.count - repeatedBytesMax)).contains { start in
            slices.contains(text[start..<(start + repeatedBytesMax)])
        }
    }

    /// Parses more leniently than any server, so that most inputs become requests.
    private static func request(_ input: [UInt8]) -> HTTPRequest? {
        var lines: [ArraySlice<UInt8>] = []
        var rest = input[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")), end > rest.startIndex {
            lines.append(rest[..<end])
            rest = rest[(end + 1)...]
        }
        let words = (lines.first ?? []).split(separator: UInt8(ascii: " "), maxSplits: 1)
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 2 else { return nil }
        let fields = lines.dropFirst().map { line in
            let parts = line.split(
                separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            return (
                name: String(decoding: parts[0], as: UTF8.self),
                value: String(decoding: parts.count > 1 ? parts[1] : [], as: UTF8.self)
            )
        }
        return HTTPRequest(
            method: words[0], target: words[1], headers: HTTPHeaders(fields),
            body: Array(rest.dropFirst()))
    }
}
