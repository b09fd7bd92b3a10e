import Cryptography
import Encodings
import Foundation
import HTTP

/// Request targets and their paths, compared with a second parser of RFC 9112, section 3.2.
enum RequestTargetTarget {
    private static let router: Router<Int> = {
        var router = Router<Int>()
        for (index, path) in [
            "/v1/account", "/v1/auth/link/{provider}", "/t/{tenant}/v1/auth/link/{provider}",
            "/t/{tenant}/v1/account", "/healthz",
        ].enumerated() {
            router.add("GET", path, index)
        }
        return router
    }()

    static let target = FuzzTarget(
        "request-target",
        corpus: [
            "/v1/account", "/v1/auth/link/google?identity_id=0190a1b2-c3d4-7000-8000-000000000001",
            "/t/acme/v1/auth/link/%67oogle", "*", "http://ledger.example/v1/account?a=b&c=d%20e+f",
            "https://ledger.example?x", "/healthz?&&a&=b&a=%C3%A9", "/t/a%2Fb/v1/account",
        ],
        words: [
            "%00", "%", "%2", "%2f", "%C0%80", "%ff", "//", "/../", "/./", "?", "&", "=", "#", "+",
            "http://", "HTTPS://", "/t/", "/v1/", "%E2%84%AA", " ", "\\", "@", ":80", "%25",
        ]
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        let expected = naive(text)
        guard let request = HTTPRequest(method: "GET", target: text) else {
            try require(expected == nil, "a valid target is refused")
            return false
        }
        guard let expected else { throw Finding("an invalid target is accepted") }
        try require(request.path == expected.path, "the path differs")
        let pairs = request.query.map { [$0.name, $0.value].map { Array($0.utf8) } }
        try require(pairs == expected.query, "the query differs")
        try checkMatch(request.path)
        return true
    }

    private static func checkMatch(_ path: String) throws {
        guard case .found(_, let template, let captures) = router.match(method: "GET", path: path)
        else { return }
        let parts = path.components(separatedBy: "/")
        let names = template.components(separatedBy: "/")
        try require(parts.count == names.count, "\(template) has another number of segments")
        for (part, name) in zip(parts, names) {
            guard name.hasPrefix("{") else {
                try require(part == name, "a literal segment differs")
                continue
            }
            let value = captures[String(name.dropFirst().dropLast())]
            try require(
                value != nil && value == decoded(part) && value?.isEmpty == false,
                "a decoded segment differs")
            try require(
                value?.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") } == false,
                "a captured segment contains a slash or a NUL")
        }
    }

    private struct Parts {
        let path: String
        let query: [[[UInt8]]]
    }

    private static func naive(_ text: String) -> Parts? {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("#") else {
            return nil
        }
        var origin = text
        if text != "*", !text.hasPrefix("/") {
            let scheme = ["http://", "https://"].first { text.lowercased().hasPrefix($0) }
            guard let scheme else { return nil }
            let rest = String(text.dropFirst(scheme.count))
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            guard end > rest.startIndex else { return nil }
            origin = String(rest[end...])
            if !origin.hasPrefix("/") { origin = "/" + origin }
        }
        guard let mark = origin.firstIndex(of: "?") else { return Parts(path: origin, query: []) }
        var query: [[[UInt8]]] = []
        for part in origin[origin.index(after: mark)...].components(separatedBy: "&")
        where !part.isEmpty {
            let equals = part.firstIndex(of: "=")
            let name = String(part[..<(equals ?? part.endIndex)])
            let value = equals.map { String(part[part.index(after: $0)...]) } ?? ""
            guard query.count < 100, let name = decoded(name),
                let value = decoded(value),
                !name.utf8.contains(0), !value.utf8.contains(0)
            else { return nil }
            query.append([Array(name.utf8), Array(value.utf8)])
        }
        return Parts(path: String(origin[..<mark]), query: query)
    }

    /// Foundation decodes escapes that are not UTF-8; here they invalidate the text.
    private static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        for (index, part) in text.components(separatedBy: "%").enumerated() {
            guard index > 0 else {
                bytes += part.utf8
                continue
            }
            guard let escaped = Hex.decode(part.prefix(2)), escaped.count == 1 else { return nil }
            bytes += escaped + part.utf8.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
