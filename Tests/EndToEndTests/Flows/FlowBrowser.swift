import Foundation
import LedgerTestSupport

/// A person's browser: it keeps cookies, follows redirections on the server's own host, and sends the forms of its
/// pages.
struct FlowBrowser {
    /// A page without the form, or a redirection without the cookie, that a test expects.
    struct Lost: Error {
        let answer: WireClient.Answer
        var page: String { String(decoding: answer.body, as: UTF8.self) }
    }

    /// The server, which gets the requests to every host: another process has another port.
    var client: WireClient
    var cookies: [String: String] = [:]
    /// Sent with every request.
    var headers: [String: String] = [:]

    /// Opens an address of the server, and follows redirections until a page or another host.
    mutating func open(_ address: String) async throws -> WireClient.Answer {
        try await follow(send("GET", address))
    }

    /// Sends the form of a page with further fields.
    mutating func submit(
        _ page: WireClient.Answer, to address: String, _ more: [String: String] = [:]
    ) async throws -> WireClient.Answer {
        let fields = Self.fields(of: page).merging(more) { $1 }
        return try await follow(send("POST", address, fields))
    }

    /// Opens a flow, signs in at the provider, and returns the address to which the browser comes back.
    mutating func pass(_ flow: String, at provider: String, as name: String) async throws -> String
    {
        try await end(open(flow), at: provider, ["name": name])
    }

    /// Sends the form of a provider's page, and returns the address to which the browser comes back.
    mutating func end(
        _ page: WireClient.Answer, at provider: String, _ fields: [String: String]
    ) async throws -> String {
        var answer = try await submit(
            page, to: "\(client.base)/dev/idp/\(provider)/authorize", fields)
        if answer.status == 200 {
            // The form of Apple's page.
            answer = try await submit(answer, to: Self.action(of: answer))
        }
        guard answer.status == 303, let address = answer.header("Location") else {
            throw Lost(answer: answer)
        }
        return address
    }

    /// Sends one request, and keeps the cookies of its answer.
    mutating func send(
        _ method: String, _ address: String, _ fields: [String: String]? = nil
    ) async throws -> WireClient.Answer {
        var headers = headers
        if !cookies.isEmpty {
            headers["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
        var body: Data?
        if let fields {
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            let text = fields.map { name, value in
                let safe = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                return "\(name)=\(safe)"
            }.joined(separator: "&")
            body = Data(text.utf8)
        }
        let path = address.replacing(/^https?:\/\/[^\/]*/, with: "")
        let answer = try await client.send(method, path, headers: headers, body: body)
        if let cookie = answer.header("Set-Cookie")?.split(separator: ";").first {
            let parts = cookie.split(separator: "=", maxSplits: 1)
            cookies[String(parts[0])] = parts.count > 1 ? String(parts[1]) : nil
        }
        return answer
    }

    private mutating func follow(_ first: WireClient.Answer) async throws -> WireClient.Answer {
        var answer = first
        while answer.status == 303, let next = answer.header("Location"),
            next.hasPrefix(client.base)
        {
            answer = try await send("GET", next)
        }
        return answer
    }

    /// Returns the hidden fields of a page.
    static func fields(of page: WireClient.Answer) -> [String: String] {
        let text = String(decoding: page.body, as: UTF8.self)
        let found = text.matches(of: /type="hidden" name="([^"]*)" value="([^"]*)"/)
        return Dictionary(found.map { (String($0.1), unescaped($0.2)) }) { first, _ in first }
    }

    /// Returns the address to which a page's form leads.
    static func action(of page: WireClient.Answer) throws -> String {
        let text = String(decoding: page.body, as: UTF8.self)
        guard let found = text.firstMatch(of: /action="([^"]*)"/) else { throw Lost(answer: page) }
        return unescaped(found.1)
    }

    private static func unescaped(_ text: Substring) -> String {
        let pairs = [
            ("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"),
        ]
        return pairs.reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
    }
}
