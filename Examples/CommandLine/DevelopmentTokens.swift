import Foundation
import LedgerClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// ID tokens of the development identity provider, in place of the libraries of Google and Apple.
struct DevelopmentTokens: Sendable {
    private struct Answer: Decodable {
        let id_token: String
    }

    private let base: URL
    /// A part of all names, so that the stories can be told again.
    private let run = UUID().uuidString.prefix(8).lowercased()

    init(_ base: URL) {
        self.base = base
    }

    /// Signs in at a provider, as its library in an app would.
    func proof(
        _ provider: String, _ name: String, nonce: String? = nil
    ) async throws -> Proof {
        var query = [URLQueryItem(name: "name", value: "\(name)-\(run)")]
        if let nonce { query.append(URLQueryItem(name: "nonce", value: nonce)) }
        let url = base.appending(path: "dev/idp/\(provider)/token").appending(queryItems: query)
        let (body, _) = try await URLSession.shared.data(from: url)
        let answer = try JSONDecoder().decode(Answer.self, from: body)
        return .idToken(answer.id_token, nonce: nonce)
    }
}
