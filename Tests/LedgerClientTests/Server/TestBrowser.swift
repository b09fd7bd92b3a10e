import Foundation
import LedgerClient
import LedgerTestSupport

/// A browser whose person signs in at an imitated provider, or cancels there.
struct TestBrowser: WebAuthenticator {
    let returnAddress: URL
    let client: WireClient
    let provider: String
    /// The person's name at the provider; nil to cancel.
    let name: String?

    func authenticate(at address: URL) async throws(WebAuthenticationError) -> URL {
        do {
            var cookies: [String: String] = [:]
            let page = try await open(address.absoluteString, &cookies)
            var fields = Self.fields(of: page)
            if let name { fields["name"] = name } else { fields["deny"] = "1" }
            let url = "\(client.base)/dev/idp/\(provider)/authorize"
            let end = try await send("POST", url, &cookies, fields)
            let last = try await follow(end, &cookies)
            guard let location = last.header("Location"), let returned = URL(string: location)
            else { throw WebAuthenticationError.failed }
            return returned
        } catch {
            throw .failed
        }
    }

    private func open(
        _ address: String, _ cookies: inout [String: String]
    ) async throws -> WireClient.Answer {
        try await follow(send("GET", address, &cookies), &cookies)
    }

    /// Follows redirections on the server's own host.
    private func follow(
        _ first: WireClient.Answer, _ cookies: inout [String: String]
    ) async throws -> WireClient.Answer {
        var answer = first
        while let next = answer.header("Location"), next.hasPrefix(client.base) {
            answer = try await send("GET", next, &cookies)
        }
        return answer
    }

    private func send(
        _ method: String, _ address: String, _ cookies: inout [String: String],
        _ fields: [String: String]? = nil
    ) async throws -> WireClient.Answer {
        var headers: [String: String] = [:]
        if !cookies.isEmpty {
            headers["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
        if fields != nil { headers["Content-Type"] = "application/x-www-form-urlencoded" }
        let body = fields?.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }.joined(separator: "&")
        let answer = try await client.send(
            method, address.replacing(client.base, with: ""), headers: headers,
            body: body.map { Data($0.utf8) })
        if let cookie = answer.header("Set-Cookie")?.split(separator: ";").first {
            let parts = cookie.split(separator: "=", maxSplits: 1)
            cookies[String(parts[0])] = parts.count > 1 ? String(parts[1]) : nil
        }
        return answer
    }

    private static func fields(of page: WireClient.Answer) -> [String: String] {
        let text = String(decoding: page.body, as: UTF8.self)
        let found = text.matches(of: /type="hidden" name="([^"]*)" value="([^"]*)"/)
        return found.reduce(into: [:]) { fields, match in
            let value = match.output.2.replacing("&amp;", with: "&")
            fields[String(match.output.1)] = String(value)
        }
    }
}
