internal import Encodings
package import JSON

/// The options of a sign-in, which are `PublicKeyCredentialRequestOptionsJSON`.
///
/// Pages pass them to `PublicKeyCredential.parseRequestOptionsFromJSON()`.
package struct PasskeyRequestOptions: Sendable, JSONWritable {
    private let ceremony: PasskeyCeremony
    private let allowed: [PasskeyDescriptor]
    private let timeout: Duration

    /// Creates options.
    ///
    /// - Parameters:
    ///   - ceremony: the conditions that the response will be verified with.
    ///   - allowed: the credentials of a known user; without any, the user chooses among those that the
    ///     authenticator has stored for the relying party.
    ///   - timeout: the time that the browser gives the user.
    package init(
        for ceremony: PasskeyCeremony, allowing allowed: [PasskeyDescriptor], timeout: Duration
    ) {
        self.ceremony = ceremony
        self.allowed = allowed
        self.timeout = timeout
    }

    /// Writes the options.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("challenge", Base64URL.encode(ceremony.challenge))
            writer.name("timeout")
            writer.number(timeout.milliseconds)
            writer.member("rpId", ceremony.relyingParty.id)
            PasskeyDescriptor.write("allowCredentials", allowed, to: &writer)
            writer.member("userVerification", ceremony.userVerification.rawValue)
        }
    }
}
