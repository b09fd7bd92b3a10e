import Foundation
import LedgerClient
import LedgerTestSupport
import Passkeys
import SoftwareAuthenticators

/// An authenticator with one key, as the app of a page has it.
actor TestAuthenticator: PasskeyAuthenticator {
    private var authenticator = SoftwareAuthenticator()
    private var handle: Data?

    /// Makes an authenticator for the pages of a ledger.
    init(_ name: String, at ledger: DevelopmentLedger, verifiesPerson: Bool = true) {
        authenticator.credentialID = Array("credential of \(name)".utf8)
        authenticator.origin = ledger.server.client.base.replacing("127.0.0.1", with: "localhost")
        // It does not count.
        authenticator.count = 0
        if !verifiesPerson { authenticator.flags = SoftwareAuthenticator.userPresent }
    }

    func make(
        _ options: LedgerClient.PasskeyCreationOptions
    ) async throws(PasskeyError) -> PasskeyRegistration {
        let id = Data(authenticator.credentialID)
        guard !options.excludedCredentials.contains(id) else { throw .alreadyRegistered }
        answer(options.challenge, of: options.relyingPartyID)
        handle = options.isStored ? options.userHandle : nil
        do {
            let made = try authenticator.register()
            return PasskeyRegistration(
                credentialID: id, clientDataJSON: Data(made.clientDataJSON),
                attestationObject: Data(made.attestationObject), transports: ["internal"])
        } catch {
            throw .failed
        }
    }

    func use(
        _ options: LedgerClient.PasskeyRequestOptions
    ) async throws(PasskeyError) -> PasskeyAssertion {
        answer(options.challenge, of: options.relyingPartyID)
        do {
            let used = try authenticator.assert()
            return PasskeyAssertion(
                credentialID: Data(authenticator.credentialID),
                clientDataJSON: Data(used.clientDataJSON),
                authenticatorData: Data(used.authenticatorData), signature: Data(used.signature),
                userHandle: handle)
        } catch {
            throw .failed
        }
    }

    private func answer(_ challenge: Data, of domain: String) {
        authenticator.challenge = Array(challenge)
        authenticator.rpID = domain
    }
}

/// An authenticator whose person closes the sheet.
struct ClosedAuthenticator: PasskeyAuthenticator {
    func make(
        _ options: LedgerClient.PasskeyCreationOptions
    ) async throws(PasskeyError) -> PasskeyRegistration { throw .cancelled }

    func use(
        _ options: LedgerClient.PasskeyRequestOptions
    ) async throws(PasskeyError) -> PasskeyAssertion { throw .cancelled }
}
