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
    func proof(_ provider: String, _ name: String) async throws -> Proof {
        let url = base.appending(path: "dev/idp/\(provider)/token")
            .appending(queryItems: [URLQueryItem(name: "name", value: "\(name)-\(run)")])
        let (body, _) = try await URLSession.shared.data(from: url)
        return .idToken(try JSONDecoder().decode(Answer.self, from: body).id_token)
    }
}
