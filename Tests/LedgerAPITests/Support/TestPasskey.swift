import JSON
import Ledger
import LedgerSignIn
import SoftwareAuthenticators
import Testing

/// A passkey of an authenticator in software.
struct TestPasskey {
    var authenticator = SoftwareAuthenticator()
    /// The handle with which it was made.
    private(set) var handle: String?

    init(_ id: String = "credential") {
        authenticator.credentialID = Array(id.utf8)
    }

    /// Returns the members of a body that answers creation options.
    mutating func create(_ begun: Answer) throws -> String {
        let (challenge, options) = try Self.read(begun)
        handle = options["user"]?.members?["id"]?.string
        return Self.members(challenge, try authenticator.creation(options))
    }

    /// Returns the members of a body that answers request options.
    func get(_ begun: Answer) throws -> String {
        let (challenge, options) = try Self.read(begun)
        return Self.members(challenge, try authenticator.request(options, userHandle: handle))
    }

    private static func read(_ begun: Answer) throws -> (challenge: String, options: JSONMembers) {
        (
            try #require(begun.text("challenge_id"), "\(begun.body)"),
            try #require(begun.json["options"]?.members)
        )
    }

    private static func members(_ challenge: String, _ credential: String) -> String {
        "\"challenge_id\":\"\(challenge)\",\"credential\":\(credential)"
    }
}

extension TestService {
    /// Starts a service with passkeys.
    static func withPasskeys(
        requiresVerification: Bool = false, refusesCounterRollback: Bool = true,
        _ change: (inout Options) -> Void = { _ in }
    ) throws -> TestService {
        let party = try #require(SoftwareAuthenticator.relyingParty)
        return try TestService {
            $0.passkeys = PasskeySettings(
                relyingParty: party, requiresVerification: requiresVerification,
                refusesCounterRollback: refusesCounterRollback)
            change(&$0)
        }
    }

    /// Makes the options of `create` or `get`, for an account holder with a token.
    func beginPasskey(
        _ ceremony: String, _ body: String = "{}", token: String? = nil, tenant: String = ""
    ) async throws -> Answer {
        let owner = token == nil ? "auth" : "account"
        return try await send(
            "POST", "\(tenant)/v1/\(owner)/passkeys/passkey/\(ceremony)", body, token: token)
    }

    /// Signs in with the members of a body.
    func signInByPasskey(_ members: String, tenant: String = "") async throws -> Answer {
        try await send("POST", "\(tenant)/v1/auth/sign-in/passkey", "{\(members)}")
    }

    /// Signs in with a passkey; its counter goes up.
    func signIn(_ passkey: inout TestPasskey) async throws -> Answer {
        passkey.authenticator.count += 1
        return try await signInByPasskey(passkey.get(beginPasskey("get")))
    }

    /// Opens an account with a passkey.
    func signUp(_ passkey: inout TestPasskey) async throws -> Person {
        try Person(await signInByPasskey(passkey.create(beginPasskey("create"))))
    }

    /// Links a passkey.
    func link(_ passkey: inout TestPasskey, by person: Person) async throws -> Answer {
        let members = try passkey.create(
            await beginPasskey("create", token: person.accessToken))
        return try await send(
            "POST", "/v1/auth/link/passkey", "{\(members)}", token: person.accessToken)
    }
}
