import Encodings
import Foundation
import HTTP
import LedgerSignIn

/// The inputs of browser flows: forms, and the addresses to return to.
enum FlowTargets {
    static let all = [form, returnAddress]

    private static let form = FuzzTarget(
        "form",
        corpus: [
            "state=x&code=y+z&iss=https%3A%2F%2Fa.example", "a=1&a=2&&b", "%C3%BC=%E2%82%AC&=x",
        ],
        words: ["&", "=", "+", "%", "%00", "%2B", "%26", "%3D", "%F0%9F%98%80", "%C3", "state="]
    ) { input in
        guard let fields = FormEncoding.fields(of: input) else { return false }
        try require(fields.count <= FormEncoding.fieldsMax, "there are too many fields")
        let text = fields.map {
            "\(Encodings.PercentEncoding.encode($0.name))=\(Encodings.PercentEncoding.encode($0.value))"
        }.joined(separator: "&")
        let again = FormEncoding.fields(of: Array(text.utf8)) ?? []
        try require(
            again.count == fields.count
                && zip(again, fields).allSatisfy {
                    $0.name.utf8.elementsEqual($1.name.utf8)
                        && $0.value.utf8.elementsEqual($1.value.utf8)
                },
            "the fields differ once they are written and read again")
        return true
    }

    /// An address of this machine that is permitted leads browsers to no other one.
    private static let returnAddress = FuzzTarget(
        "return-address",
        corpus: [
            "http://127.0.0.1:3000/callback", "http://localhost/callback",
            "http://[::1]:65535/callback",
        ],
        words: [
            "http://", "https://", "127.0.0.1", "localhost", "[::1]", ":80", ":0", ":65536", "@",
            "\\", "/", "//", "?", "#", "%2F", "%40", ".evil.example", "evil.example", "/callback",
            "\u{FF0F}", "\u{212A}", "\t", "\r\n",
        ]
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        guard ReturnAddresses(loopbackPath: "/callback").permit(text) else { return false }
        let url = URL(string: text)
        try require(
            url?.scheme == "http" && url?.user() == nil && url?.fragment() == nil
                && ["127.0.0.1", "localhost", "::1", "[::1]"].contains(url?.host() ?? ""),
            "an address of another machine is permitted")
        try require(url?.path() == "/callback" && url?.query() == nil, "another path is permitted")
        return true
    }
}
