import Passkeys
import SoftwareAuthenticators
import Testing

/// Registrations and sign-ins of a Chromium that runs now, with a virtual authenticator.
@Suite(.serialized, .timeLimit(.minutes(3))) struct BrowserTests {
    private let handle = [UInt8](repeating: 0xA5, count: 32)
    private let timeout = Duration.seconds(20)

    private func ceremony(
        _ browser: Browser, _ verification: PasskeyCeremony.UserVerification
    ) throws -> PasskeyCeremony {
        let party = try #require(
            RelyingParty(id: "localhost", name: "Example", origins: [browser.origin]))
        return try #require(
            PasskeyCeremony(
                relyingParty: party, challenge: PasskeyCeremony.newChallenge(),
                userVerification: verification))
    }

    private func register(
        _ browser: Browser, _ ceremony: PasskeyCeremony,
        excluding excluded: [PasskeyDescriptor] = []
    ) async throws -> NewPasskey {
        let user = try #require(
            PasskeyCreationOptions.User(handle: handle, name: "ada@example.com", displayName: "Ada")
        )
        let json = try await browser.create(
            PasskeyCreationOptions(
                for: ceremony, user: user, excluding: excluded, timeout: timeout))
        return try ceremony.verify(RegistrationResponse(parsing: json))
    }

    private func signIn(
        _ browser: Browser, _ ceremony: PasskeyCeremony, allowing allowed: [PasskeyDescriptor] = []
    ) async throws -> AssertionResponse {
        let json = try await browser.get(
            PasskeyRequestOptions(for: ceremony, allowing: allowed, timeout: timeout))
        return try AssertionResponse(parsing: json)
    }

    @Test func `a stored passkey signs in without a name`() async throws {
        let browser = try await Browser()
        try await browser.plugIn(transport: "internal")
        let passkey = try await register(browser, ceremony(browser, .required))
        #expect(passkey.isUserVerified)
        #expect(passkey.attestation == .none)
        #expect(passkey.transports == ["internal"])

        let ceremony = try ceremony(browser, .required)
        let response = try await signIn(browser, ceremony)
        #expect(response.credentialID == passkey.credentialID)
        #expect(response.userHandle == handle)
        let stored = StoredPasskey(passkey, userHandle: handle)
        let use = try ceremony.verify(response, of: stored)
        #expect(use.isUserVerified && !use.hasCounterGoneBack)
        #expect(use.signatureCount > passkey.signatureCount)

        // The next ceremony has another challenge.
        let next = try self.ceremony(browser, .required)
        #expect(throws: PasskeyFault.wrongChallenge) { try next.verify(response, of: stored) }
    }

    @Test func `a user who is not verified is told from one who is`() async throws {
        let browser = try await Browser()
        try await browser.plugIn(transport: "usb")
        let passkey = try await register(browser, ceremony(browser, .discouraged))
        let stored = StoredPasskey(passkey, userHandle: handle)
        let allowed = [
            PasskeyDescriptor(
                credentialID: passkey.credentialID, transports: passkey.transports)
        ]
        let discouraged = try ceremony(browser, .discouraged)
        let touched = try await signIn(browser, discouraged, allowing: allowed)
        #expect(try !discouraged.verify(touched, of: stored).isUserVerified)
        let strict = try #require(
            PasskeyCeremony(
                relyingParty: discouraged.relyingParty, challenge: discouraged.challenge,
                userVerification: .required))
        #expect(throws: PasskeyFault.userNotVerified) { try strict.verify(touched, of: stored) }

        let required = try ceremony(browser, .required)
        let verified = try await signIn(browser, required, allowing: allowed)
        #expect(try required.verify(verified, of: stored).isUserVerified)

        // The authenticator does not recognise its user.
        try await browser.setUserVerified(false)
        await #expect(throws: Browser.Failure.self) {
            try await signIn(browser, required, allowing: allowed)
        }
    }

    @Test func `an excluded authenticator makes no second passkey`() async throws {
        let browser = try await Browser()
        try await browser.plugIn(transport: "internal")
        let passkey = try await register(browser, ceremony(browser, .preferred))
        let excluded = [PasskeyDescriptor(credentialID: passkey.credentialID)]
        await #expect(throws: Browser.Failure.self) {
            try await register(browser, ceremony(browser, .preferred), excluding: excluded)
        }
        try await browser.plugIn(transport: "internal")
        let other = try await register(browser, ceremony(browser, .preferred), excluding: excluded)
        #expect(other.credentialID != passkey.credentialID)
    }

    @Test func `an authenticator without storage is not accepted`() async throws {
        let browser = try await Browser()
        try await browser.plugIn(transport: "usb", storesCredentials: false)
        await #expect(throws: Browser.Failure.self) {
            try await register(browser, ceremony(browser, .preferred))
        }
    }
}
