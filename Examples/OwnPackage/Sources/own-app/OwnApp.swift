import Foundation
import LedgerClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Signs in at a ledger in development mode, whose address is the argument, and tries to unlink the only way to sign in.
@main @MainActor struct OwnApp {
    /// An ID token of the development identity provider, in place of one from the library of Apple.
    private struct Token: Decodable {
        let id_token: String
    }

    static func main() async throws {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap({ URL(string: $0) }) else {
            print("usage: own-app URL")
            exit(2)
        }
        let session = AuthSession(try LedgerAddress(url), store: InMemoryTokenStore())
        try await session.start()
        show(session.state)

        let token = url.appending(path: "dev/idp/apple/token")
            .appending(queryItems: [URLQueryItem(name: "name", value: "own-app")])
        let (body, _) = try await URLSession.shared.data(from: token)
        let answer = try JSONDecoder().decode(Token.self, from: body)
        try await session.signIn(at: "apple", with: .idToken(answer.id_token, nonce: nil))
        show(session.state)

        do {
            try await session.unlink("apple")
            print("The only way to sign in was unlinked.")
            exit(1)
        } catch {
            print("\(error.code.rawValue): \(error.sentence(in: .english))")
            guard error.code == .cannotUnlinkOnlyProvider else { exit(1) }
        }

        try await session.signOut()
        show(session.state)
    }

    private static func show(_ state: AuthState) {
        switch state {
        case .signedOut: print("Signed out.")
        case .signedIn(let profile): print("Signed in: \(profile.linkedProviders)")
        case .expired(let ended): print("Sign in again: \(ended.cause)")
        case .needsSecondFactor(let challenge): print("\(challenge.factors.map(\.kind.rawValue))")
        }
    }
}
