import Foundation
import LedgerClient

/// The commands about the account of a stored session.
@MainActor struct AccountCommands {
    private let session: AuthSession

    init(_ session: AuthSession) {
        self.session = session
    }

    func signIn(_ provider: String) async throws {
        let browser = try Self.browser()
        switch try await session.signInInBrowser(at: provider, with: browser) {
        case .signedIn(let signIn):
            print(signIn.isNewUser ? "Welcome. Your account was created." : "You are signed in.")
        case .needsSecondFactor(let challenge):
            try await completeSecondFactor(challenge)
        }
    }

    private func completeSecondFactor(_ challenge: SecondFactorChallenge) async throws {
        guard let factor = challenge.factors.first(where: { $0.kind != .passkey }) else {
            print("This program cannot use a security key.")
            return
        }
        var sent: SentCode?
        if factor.kind == .phone { sent = try await session.sendSecondFactorCode(to: factor) }
        print("Code (\(factor.kind.rawValue)):")
        try await session.completeSecondFactor(factor, code: readLine() ?? "", sent: sent)
    }

    func link(_ provider: String) async throws {
        let browser = try Self.browser()
        let proof = try await session.prove(.link, at: provider, with: browser)
        do {
            try await session.link(provider, with: proof)
        } catch {
            guard error.code == .providerConflict else { throw error }
            print("Another account has this identity. Combine the two? yes/no")
            guard readLine() == "yes" else { return }
            let plan = try await session.previewMerge(of: provider, with: error.proof ?? proof)
            print("Afterwards: \(plan.linkedProviders.joined(separator: ", "))")
            print("Sign in there once more to agree.")
            let agreement = try await session.prove(.merge(plan), at: provider, with: browser)
            try await session.merge(plan, provider, with: agreement)
        }
        try await show()
    }

    func unlink(_ provider: String) async throws {
        try await session.unlink(provider)
        try await show()
    }

    func show() async throws {
        let profile = try await session.reload()
        print("Account \(profile.userID)")
        for identity in profile.identities {
            print("  \(identity.provider)  \(identity.email ?? "no e-mail address")")
        }
    }

    private static func browser() throws -> ConsoleAuthenticator {
        guard let address = URL(string: "http://127.0.0.1/callback") else {
            throw CocoaError(.coderInvalidValue)
        }
        return ConsoleAuthenticator(returnAddress: address)
    }
}
