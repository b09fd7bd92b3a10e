internal import Encodings
package import JSON
package import Passkeys

extension SoftwareAuthenticator {
    /// The service that it registers with.
    package static let relyingParty = RelyingParty(
        id: "example.com", name: "Example", origins: [origin])

    /// Returns the response to creation options as a browser's `toJSON()` makes it.
    ///
    /// - Throws: a fault for options without a challenge.
    package func creation(_ options: JSONMembers) throws(PasskeyFault) -> String {
        let made = try answering(options).register()
        return json([
            ("clientDataJSON", made.clientDataJSON), ("attestationObject", made.attestationObject),
        ])
    }

    /// Uses the passkey.
    ///
    /// - Parameters:
    ///   - options: the options.
    ///   - userHandle: the handle of the creation options; nil for an authenticator that does not store it.
    /// - Returns: The response to request options as a browser's `toJSON()` makes it.
    /// - Throws: a fault for options without a challenge.
    package func request(
        _ options: JSONMembers, userHandle: String? = nil
    ) throws(PasskeyFault) -> String {
        let made = try answering(options).assert()
        var parts = [
            ("clientDataJSON", made.clientDataJSON), ("authenticatorData", made.authenticatorData),
            ("signature", made.signature),
        ]
        if let handle = userHandle.flatMap({ Base64URL.decode($0) }) {
            parts.append(("userHandle", handle))
        }
        return json(parts)
    }

    private func answering(_ options: JSONMembers) throws(PasskeyFault) -> SoftwareAuthenticator {
        guard let challenge = options["challenge"]?.string.flatMap({ Base64URL.decode($0) }) else {
            throw .malformedResponse
        }
        var authenticator = self
        authenticator.challenge = challenge
        return authenticator
    }

    private func json(_ parts: [(name: String, bytes: [UInt8])]) -> String {
        let id = Base64URL.encode(credentialID)
        let response = parts.map { "\"\($0.name)\":\"\(Base64URL.encode($0.bytes))\"" }
        return """
            {"id":"\(id)","rawId":"\(id)","type":"public-key","authenticatorAttachment":"platform",\
            "clientExtensionResults":{},"response":{\(response.joined(separator: ","))}}
            """
    }
}
