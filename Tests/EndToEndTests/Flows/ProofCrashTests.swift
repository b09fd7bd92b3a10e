import Foundation
import JSON
import LedgerTestSupport
import SoftwareAuthenticators
import Testing

/// Codes to phones, passkeys and claimed addresses, each step of which is answered by another process than the one
/// before, because that was killed.
@Suite(.timeLimit(.minutes(5))) struct ProofCrashTests {
    private static let providers = """
        \(Deployment.addressProviders),{"name":"phone","type":"phone"},
        {"name":"passkey","type":"passkey","rp_id":"example.com",
         "origins":["\(SoftwareAuthenticator.origin)"]}
        """
    private static let members =
        #""confirm_later":true,"messages":{"product":"Example","sms_countries":["DE"]},"#

    @Test func `a proof counts once, wherever the server is killed`() async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.configure(providers: Self.providers, members: Self.members)
            let google = deployment.google
            let people = Person.Way.allCases.map { Person($0, google) }
            var claims = [Claim(email: "late@example.com", token: nil)]
            let last = try await deployment.interrupt(people) { third in
                var linking = Device(third.client)
                try await linking.signIn(google, as: "linking")
                claims.append(
                    Claim(email: "linking@example.com", token: linking.accessToken))
                // The claims are in the log, and no code is sent.
                try await deployment.kill(
                    third, holding: "LOCK TABLE challenges IN SHARE MODE",
                    when: """
                        SELECT max(type) FROM events WHERE type = 'AddressClaimed'
                        HAVING count(*) = 3
                        """,
                    asking: claims.map { claim in { _ = try await claim.send(to: $0) } })
            }
            for claim in claims { try await claim.check(at: last.client) }
            try await deployment.expectEnd(of: last, accounts: people.count + claims.count)
        }
    }
}

/// A claim of an address, by a process that may be killed before it sends the code.
private struct Claim: Sendable {
    static let password = "correct horse battery staple"

    let email: String
    /// The access token of the account that links a password; nil for a sign-up.
    let token: String?

    func send(to client: WireClient) async throws -> WireClient.Answer {
        try await client.call(
            "POST", token == nil ? "/v1/auth/sign-up/password" : "/v1/auth/link/password",
            ["email": email, "password": Self.password], token: token,
            key: token == nil ? nil : "the-same-key")
    }

    /// Claims the address, and returns the members that confirm it.
    func code(_ client: WireClient) async throws -> [String: String] {
        try await KeptMessages(servers: [client]).code(to: email) { try await send(to: client) }
    }

    /// Expects that the same request sends the code of the claim, which opens no account.
    func check(at client: WireClient) async throws {
        let confirmed = try await client.call(
            "POST", "/v1/auth/sign-in/password", try await code(client))
        #expect(confirmed.status == 200, "\(email): \(confirmed)")
        try await expectVerifiedEmail(confirmed, client)
    }
}

/// Expects that the password of a session's account has a confirmed address.
private func expectVerifiedEmail(
    _ session: WireClient.Answer, _ client: WireClient
) async throws {
    #expect(session.json["is_new_user"] as? Bool == false)
    let account = try await client.call(
        "GET", "/v1/account", token: session.text("access_token"))
    let identities = account.json["identities"] as? [[String: any Sendable]]
    let password = identities?.first { $0["provider"] as? String == "password" }
    #expect(password?["email_verified"] as? Bool == true, "\(account)")
}

/// A person in the middle of a proof.
private struct Person: InterruptedPerson {
    enum Way: CaseIterable {
        /// A code that opens an account, and one that links a number.
        case phone, phoneLink
        /// A passkey that opens an account, one that an account gets, and one that it has.
        case passkey, passkeyLink, knownPasskey
        /// A passkey as a second factor.
        case secondFactor
        /// The code of a sign-up whose address is confirmed later.
        case claim
    }

    let way: Way
    let google: TestIdentityProvider
    private var authenticator = SoftwareAuthenticator()
    private var token: String?
    private var userID = ""
    /// The challenge with the options for the authenticator.
    private var challenge: WireClient.Answer?
    /// The members of the body that proves.
    private var proof: [String: any Sendable] = [:]
    private var answered = Data()

    init(_ way: Way, _ google: TestIdentityProvider) {
        self.way = way
        self.google = google
        authenticator.credentialID = Array("passkey of \(way)".utf8)
        // It does not count, so that the challenge alone tells a repetition.
        authenticator.count = 0
    }

    private var email: String { "\(way)@example.com" }
    private var number: String { way == .phone ? "+4915123456781" : "+4915123456782" }
    private var isLinking: Bool { [.phoneLink, .passkeyLink].contains(way) }

    private var path: String {
        switch way {
        case .phone: "/v1/auth/sign-in/phone"
        case .phoneLink: "/v1/auth/link/phone"
        case .passkey, .knownPasskey: "/v1/auth/sign-in/passkey"
        case .passkeyLink: "/v1/auth/link/passkey"
        case .secondFactor: "/v1/auth/second-factor"
        case .claim: "/v1/auth/sign-in/password"
        }
    }

    mutating func begin(at client: WireClient) async throws {
        switch way {
        case .phone: proof = try await code(to: number, "/v1/auth/codes/phone", client)
        case .phoneLink:
            keep(try await signInByGoogle(client))
            proof = try await code(to: number, "/v1/account/codes/phone", client)
        case .passkey: challenge = try await post("/v1/auth/passkeys/passkey/create", client)
        case .passkeyLink:
            keep(try await signInByGoogle(client))
            challenge = try await post("/v1/account/passkeys/passkey/create", client)
        case .knownPasskey:
            proof = try credential(
                for: try await post("/v1/auth/passkeys/passkey/create", client), isNew: true)
            keep(try await prove(at: client))
            challenge = try await post("/v1/auth/passkeys/passkey/get", client)
        case .secondFactor:
            keep(try await signInByGoogle(client))
            try await enrol(client)
            let refused = try await signInByGoogle(client)
            let error = refused.json["error"] as? [String: any Sendable]
            let details = error?["details"] as? [String: any Sendable]
            proof["sign_in_token"] = try #require(
                details?["sign_in_token"] as? String, "\(refused)")
            challenge = try await post("/v1/auth/second-factor/passkey", client, proof)
        case .claim: proof = try await Claim(email: email, token: nil).code(client)
        }
    }

    mutating func goOn(at client: WireClient) async throws {
        guard let challenge else { return }
        let isNew = way == .passkey || way == .passkeyLink
        proof.merge(try credential(for: challenge, isNew: isNew)) { $1 }
    }

    func prove(at client: WireClient) async throws -> WireClient.Answer {
        try await client.call(
            "POST", path, proof, token: isLinking ? token : nil,
            key: isLinking ? "the-same-key" : nil)
    }

    mutating func keep(_ answer: WireClient.Answer) {
        answered = answer.body
        // The answer to the first second factor also has a session.
        let session = answer.json["session"] as? [String: any Sendable] ?? answer.json
        if let account = session["user_id"] as? String {
            (userID, token) = (account, session["access_token"] as? String)
        }
    }

    func check(at client: WireClient) async throws {
        let repeated = try await prove(at: client)
        if isLinking {
            #expect(repeated.status == 200 && repeated.body == answered, "\(way): \(repeated)")
        } else {
            let isPasskey = way == .passkey || way == .knownPasskey
            #expect(repeated.status == 401, "\(way): \(repeated)")
            #expect(
                repeated.errorCode == (isPasskey ? "INVALID_PROVIDER_TOKEN" : "INVALID_CODE"),
                "\(way)")
        }
        let account = try await client.call("GET", "/v1/account", token: token)
        #expect(account.status == 200 && account.text("user_id") == userID, "\(way): \(account)")
        switch way {
        case .phone:
            let code = try await code(to: number, "/v1/auth/codes/phone", client)
            try await expectOwn(path, code, client)
        case .passkey, .knownPasskey:
            let used = try await post("/v1/auth/passkeys/passkey/get", client)
            try await expectOwn(path, credential(for: used, isNew: false), client)
        case .claim:
            let session = try await expectOwn(
                path, ["email": email, "password": Claim.password], client)
            try await expectVerifiedEmail(session, client)
        case .phoneLink: #expect(account.texts("linked_providers") == ["google", "phone"])
        case .passkeyLink: #expect(account.texts("linked_providers") == ["google", "passkey"])
        case .secondFactor:
            let refused = try await signInByGoogle(client)
            #expect(refused.errorCode == "SECOND_FACTOR_REQUIRED", "\(refused)")
        }
    }

    /// Expects that a sign-in finds the account that the proof has opened.
    @discardableResult
    private func expectOwn(
        _ path: String, _ body: [String: any Sendable], _ client: WireClient
    ) async throws -> WireClient.Answer {
        let opened = try await client.call("POST", path, body)
        #expect(opened.status == 200 && opened.text("user_id") == userID, "\(way): \(opened)")
        #expect(opened.json["is_new_user"] as? Bool == false, "\(way)")
        return opened
    }

    private func signInByGoogle(_ client: WireClient) async throws -> WireClient.Answer {
        try await client.call(
            "POST", "/v1/auth/sign-in/google", ["id_token": google.token(subject: "\(way)")])
    }

    private mutating func enrol(_ client: WireClient) async throws {
        let created = try credential(
            for: try await post("/v1/account/factor-enrolments/passkey", client), isNew: true)
        let enrolled = try await post("/v1/account/factors", client, created)
        keep(enrolled)
        proof["factor_id"] = enrolled.text("factor_id")
    }

    private func post(
        _ path: String, _ client: WireClient, _ body: [String: any Sendable] = [:]
    ) async throws -> WireClient.Answer {
        let answer = try await client.call(
            "POST", path, body, token: path.hasPrefix("/v1/account/") ? token : nil)
        #expect(answer.status == 200, "\(way), \(path): \(answer)")
        return answer
    }

    /// Requests a code, and returns the members that answer it.
    private func code(
        to address: String, _ path: String, _ client: WireClient
    ) async throws -> [String: String] {
        try await KeptMessages(servers: [client]).code(to: address) {
            try await post(path, client, ["address": address])
        }
    }

    /// Signs the options of a challenge, and returns the members that answer it.
    private func credential(
        for challenge: WireClient.Answer, isNew: Bool
    ) throws -> [String: any Sendable] {
        let options = try #require(
            JSONValue(parsing: [UInt8](challenge.body))?.members?["options"]?.members,
            "\(way): \(challenge)")
        let signed = try isNew ? authenticator.creation(options) : authenticator.request(options)
        let credential = try JSONSerialization.jsonObject(with: Data(signed.utf8))
        return [
            "challenge_id": try #require(challenge.text("challenge_id")),
            "credential": try #require(credential as? [String: any Sendable]),
        ]
    }
}
