import Foundation
import LedgerTestSupport
import Testing

/// Flows of several requests that go on with another process after each step, because the former one was killed.
@Suite(.timeLimit(.minutes(5))) struct FlowCrashTests {
    /// A step of a flow, by a person who knows what the former steps answered.
    private typealias Step = @Sendable (inout Person, WireClient) async throws -> Void

    /// A flow whose last step checks that what the former ones did holds.
    private struct Flow: Sendable {
        let name: String
        let begin: Step
        let finish: Step
        let check: Step
    }

    private static let flows = [
        Flow(
            name: "sign-up", begin: { try await $0.beginSignUp($1) },
            finish: { try await $0.finishSignUp($1) },
            check: { try await $0.expectPassword(Person.password, $1) }),
        Flow(
            name: "reset", begin: { try await $0.beginReset($1) },
            finish: { try await $0.finishReset($1) }, check: { try await $0.checkReset($1) }),
        Flow(
            name: "address-change", begin: { try await $0.beginChange($1) },
            finish: { try await $0.finishChange($1) }, check: { try await $0.checkChange($1) }),
        Flow(
            name: "enrolment", begin: { try await $0.beginEnrolment($1) },
            finish: { try await $0.finishEnrolment($1) },
            check: { try await $0.expectSecondStep($1) }),
        Flow(
            name: "second-step", begin: { try await $0.beginSecondStep($1) },
            finish: { try await $0.finishSecondStep($1) },
            check: { try await $0.checkSecondStep($1) }),
        Flow(
            name: "upgrade", begin: { try await $0.openAnonymously($1) },
            finish: { try await $0.upgrade($1) }, check: { try await $0.checkUpgrade($1) }),
    ]

    @Test func `each flow goes on where it was when the server is killed between its steps`()
        async throws
    {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.configure(
                providers: Deployment.addressProviders
                    + #",{"name":"anonymous","type":"anonymous"}"#)
            var people = Self.flows.map { Person(name: $0.name, google: deployment.google) }
            for step in [\Flow.begin, \Flow.finish] {
                let server = try await deployment.serve()
                for (index, flow) in Self.flows.enumerated() {
                    try await flow[keyPath: step](&people[index], server.client)
                }
                try await server.kill()
            }
            let last = try await deployment.serve()
            for (index, flow) in Self.flows.enumerated() {
                try await flow.check(&people[index], last.client)
            }
            try await expectVerified(deployment)
            #expect(try await last.stop() == 0)
        }
    }
}

/// A person in the middle of a flow.
private struct Person: Sendable {
    static let password = "correct horse battery staple"
    private static let other = "another horse battery staple"

    let name: String
    let google: TestIdentityProvider
    private var token = ""
    private var userID = ""
    /// The members of the body that takes the next step.
    private var proof: [String: String] = [:]
    private var app: AuthenticatorApp?

    init(name: String, google: TestIdentityProvider) {
        self.name = name
        self.google = google
    }

    private var email: String { "\(name)@example.com" }
    private var newEmail: String { "new-\(name)@example.com" }
    private var idToken: [String: String] { ["id_token": google.token(subject: name)] }
    private var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// Performs a step, which must succeed, and keeps the access token of the answer if it has one.
    @discardableResult
    private mutating func post(
        _ path: String, _ body: [String: any Sendable], _ client: WireClient
    ) async throws -> WireClient.Answer {
        let answer = try await client.call("POST", path, body, token: credential(for: path))
        #expect(answer.status == 200, "\(name), \(path): \(answer)")
        var device = Device(client)
        device.keep(answer)
        if !device.accessToken.isEmpty { token = device.accessToken }
        if !device.userID.isEmpty { userID = device.userID }
        return answer
    }

    /// The access token, for the routes that need one.
    private func credential(for path: String) -> String? {
        path.hasPrefix("/v1/account/") || path.hasPrefix("/v1/auth/link/") ? token : nil
    }

    /// Requests a code, which is read before the server is killed.
    private func code(
        _ path: String, _ body: [String: any Sendable], to address: String, _ client: WireClient
    ) async throws -> [String: String] {
        try await KeptMessages(servers: [client]).code(to: address) {
            try await client.call("POST", path, body, token: credential(for: path))
        }
    }

    /// Expects that the session of the last step and its account are there.
    private func expectSession(_ client: WireClient) async throws {
        let account = try await client.call("GET", "/v1/account", token: token)
        #expect(account.status == 200 && account.text("user_id") == userID, "\(name): \(account)")
    }

    // MARK: Sign-up by code

    mutating func beginSignUp(_ client: WireClient) async throws {
        proof = try await code(
            "/v1/auth/sign-up/password", ["email": email, "password": Self.password], to: email,
            client)
    }

    mutating func finishSignUp(_ client: WireClient) async throws {
        try await post("/v1/auth/sign-in/password", proof, client)
        try await expectUsed("/v1/auth/sign-in/password", client)
    }

    /// Expects that a password opens the account.
    func expectPassword(_ password: String, _ client: WireClient) async throws {
        try await expectSession(client)
        let answer = try await signIn(password, client)
        #expect(answer.status == 200 && answer.text("user_id") == userID, "\(name): \(answer)")
    }

    private func signIn(
        _ password: String, _ client: WireClient
    ) async throws -> WireClient.Answer {
        try await client.call(
            "POST", "/v1/auth/sign-in/password", ["email": email, "password": password])
    }

    /// Expects that the proof of the last step is used up.
    private func expectUsed(_ path: String, _ client: WireClient) async throws {
        let again = try await client.call("POST", path, proof)
        #expect(again.status == 401, "\(name), \(path): \(again)")
    }

    // MARK: Reset

    mutating func beginReset(_ client: WireClient) async throws {
        try await beginSignUp(client)
        try await finishSignUp(client)
        proof = try await code(
            "/v1/auth/password-resets/password", ["email": email], to: email, client)
        proof["password"] = Self.other
    }

    mutating func finishReset(_ client: WireClient) async throws {
        try await post("/v1/auth/password-resets/password/complete", proof, client)
    }

    func checkReset(_ client: WireClient) async throws {
        try await expectUsed("/v1/auth/password-resets/password/complete", client)
        #expect(try await client.call("GET", "/v1/account", token: token).status == 401)
        #expect(try await signIn(Self.password, client).status == 401)
        let opened = try await signIn(Self.other, client)
        #expect(opened.status == 200 && opened.text("user_id") == userID, "\(opened)")
    }

    // MARK: Change of an address

    mutating func beginChange(_ client: WireClient) async throws {
        let opening = try await code(
            "/v1/auth/codes/email", ["address": email], to: email, client)
        try await post("/v1/auth/sign-in/email", opening, client)
        proof = try await code(
            "/v1/account/codes/email", ["address": newEmail, "change": true], to: newEmail, client)
        proof["current_address"] = email
    }

    mutating func finishChange(_ client: WireClient) async throws {
        try await post("/v1/account/addresses/email", proof, client)
    }

    mutating func checkChange(_ client: WireClient) async throws {
        try await expectSession(client)
        // A message of the last process.
        proof = try await code("/v1/auth/codes/email", ["address": newEmail], to: newEmail, client)
        let opened = try await client.call("POST", "/v1/auth/sign-in/email", proof)
        #expect(opened.text("user_id") == userID, "\(opened)")
    }

    // MARK: Second factor

    mutating func beginEnrolment(_ client: WireClient) async throws {
        try await post("/v1/auth/sign-in/google", idToken, client)
        let begun = try await client.call(
            "POST", "/v1/account/factor-enrolments", ["type": "totp"], token: token)
        app = begun.text("secret").flatMap { AuthenticatorApp(base32: $0) }
        proof = ["enrolment_token": begun.text("enrolment_token") ?? ""]
    }

    mutating func finishEnrolment(_ client: WireClient) async throws {
        proof["code"] = try #require(app).code(at: now)
        let enrolled = try await post("/v1/account/factors", proof, client)
        proof = ["factor_id": enrolled.text("factor_id") ?? ""]
    }

    /// Expects that the first proof asks for the second one.
    ///
    /// - Returns: The token of the sign-in.
    @discardableResult
    func expectSecondStep(_ client: WireClient) async throws -> String {
        try await expectSession(client)
        let refused = try await client.call("POST", "/v1/auth/sign-in/google", idToken)
        #expect(refused.errorCode == "SECOND_FACTOR_REQUIRED", "\(name): \(refused)")
        let error = refused.json["error"] as? [String: any Sendable]
        let details = error?["details"] as? [String: any Sendable]
        return try #require(details?["sign_in_token"] as? String)
    }

    mutating func beginSecondStep(_ client: WireClient) async throws {
        try await beginEnrolment(client)
        try await finishEnrolment(client)
        proof["sign_in_token"] = try await expectSecondStep(client)
    }

    mutating func finishSecondStep(_ client: WireClient) async throws {
        // A code works once, so that of the next time step follows that of the enrolment.
        proof["code"] = try #require(app).code(at: now + 30)
        try await post("/v1/auth/second-factor", proof, client)
    }

    mutating func checkSecondStep(_ client: WireClient) async throws {
        try await expectUsed("/v1/auth/second-factor", client)
        // Nor does the code work with another token.
        proof["sign_in_token"] = try await expectSecondStep(client)
        try await expectUsed("/v1/auth/second-factor", client)
    }

    // MARK: Upgrade

    mutating func openAnonymously(_ client: WireClient) async throws {
        let opened = try await post("/v1/auth/sign-in/anonymous", [:], client)
        proof = ["anonymous_secret": try #require(opened.text("anonymous_secret"))]
    }

    mutating func upgrade(_ client: WireClient) async throws {
        let linked = try await post("/v1/auth/link/google", idToken, client)
        #expect(linked.texts("linked_providers") == ["google"], "\(linked)")
    }

    func checkUpgrade(_ client: WireClient) async throws {
        try await expectSession(client)
        let former = try await client.call("POST", "/v1/auth/sign-in/anonymous", proof)
        #expect(former.status == 404, "\(former)")
        let opened = try await client.call("POST", "/v1/auth/sign-in/google", idToken)
        #expect(opened.status == 200 && opened.text("user_id") == userID, "\(opened)")
    }
}
