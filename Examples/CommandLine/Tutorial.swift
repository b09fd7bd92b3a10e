import Foundation
import LedgerClient

/// The code of the tutorial "An account with two ways to sign in", as it stands there.
@MainActor enum Tutorial {
    static func run(_ url: URL, file: URL, tokens: DevelopmentTokens) async throws {
        let address = try LedgerAddress(url)
        let session = AuthSession(address, store: FileTokenStore(file))
        try await session.start()
        show(session.state)

        let apple = try await tokens.proof("apple", "ada")
        switch try await session.signIn(at: "apple", with: apple) {
        case .signedIn(let signIn): print(signIn.isNewUser ? "Welcome." : "You are signed in.")
        case .needsSecondFactor(let challenge): print(challenge)
        }
        show(session.state)

        let google = try await tokens.proof("google", "ada")
        try await link(google, tokens, session)
        show(session.state)

        do {
            try await session.unlink("google")
            try await session.unlink("apple")
        } catch {
            print(error.sentence(in: .english))
        }

        try await session.signOut()
        show(session.state)
    }

    private static func show(_ state: AuthState) {
        switch state {
        case .signedOut: print("Signed out.")
        case .signedIn(let profile): print("\(profile.linkedProviders)")
        case .expired(let ended): print("Sign in again: \(ended.cause)")
        case .needsSecondFactor(let challenge): print("\(challenge.factors.map(\.kind.rawValue))")
        }
    }

    private static func link(
        _ proof: Proof, _ tokens: DevelopmentTokens, _ session: AuthSession
    ) async throws {
        do {
            try await session.link("google", with: proof)
        } catch {
            guard error.code == .providerConflict else { throw error }
            let plan = try await session.previewMerge(of: "google", with: proof)
            // Show the plan, and go on if the person agrees.
            let newer = try await tokens.proof("google", "ada", nonce: plan.digest)
            try await session.merge(plan, "google", with: newer)
        }
    }
}
