import Foundation
import LedgerClient

/// The acceptance stories of account linking, told by a client.
@MainActor struct Stories {
    /// A story that went another way.
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    private let address: LedgerAddress
    private let tokens: DevelopmentTokens

    init(_ address: LedgerAddress, tokens: DevelopmentTokens) {
        self.address = address
        self.tokens = tokens
    }

    func tell() async throws {
        let phone = device()
        try await phone.signIn(at: "apple", with: tokens.proof("apple", "ada"))
        let linked = try await phone.link("google", with: tokens.proof("google", "ada"))
        try check("AC1", linked.linkedProviders == ["apple", "google"])
        print("AC1  signed in with apple, linked google: \(list(linked))")

        let bens = device()
        try await bens.signIn(at: "google", with: tokens.proof("google", "ben"))
        let bensLinks = try await bens.link("apple", with: tokens.proof("apple", "ben"))
        try check("AC2", bensLinks.linkedProviders == ["google", "apple"])
        print("AC2  signed in with google, linked apple: \(list(bensLinks))")

        let eves = device()
        try await eves.signIn(at: "apple", with: tokens.proof("apple", "eve"))
        let conflict = try await refusal {
            try await eves.link("google", with: tokens.proof("google", "ada"))
        }
        try check("AC3", conflict.code == .providerConflict)
        print("AC3  the identity of another account: \(conflict.sentence(in: .english))")

        let last = try await refusal { try await eves.unlink("apple") }
        try check("AC4", last.code == .cannotUnlinkOnlyProvider)
        print("AC4  the only way to sign in: \(last.sentence(in: .english))")

        let tablet = device()
        try await tablet.signIn(at: "google", with: tokens.proof("google", "ada"))
        let isSame = tablet.state.profile?.userID == phone.state.profile?.userID
        try check("AC5", isSame && tablet.state.profile?.linkedProviders == ["apple", "google"])
        print("AC5  google on another device opens the same account")
        for session in [phone, bens, eves, tablet] { try await session.signOut() }
    }

    private func device() -> AuthSession {
        AuthSession(address, store: InMemoryTokenStore())
    }

    private func list(_ profile: Profile) -> String {
        profile.linkedProviders.joined(separator: ", ")
    }

    private func refusal(_ work: () async throws -> Profile) async throws -> LedgerError {
        do {
            let profile = try await work()
            throw Broken(description: "accepted: \(list(profile))")
        } catch let error as LedgerError {
            return error
        }
    }

    private func check(_ story: String, _ isTrue: Bool) throws {
        guard isTrue else { throw Broken(description: "\(story) went another way") }
    }
}
