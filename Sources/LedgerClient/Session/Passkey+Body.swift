import Foundation

extension PasskeyCredential {
    /// The members of a request's body, with the response in WebAuthn's JSON form.
    var body: [String: BodyValue] {
        let id: Data
        var members: [String: BodyValue]
        switch response {
        case .registration(let made):
            id = made.credentialID
            members = [
                "clientDataJSON": .bytes(made.clientDataJSON),
                "attestationObject": .bytes(made.attestationObject),
            ]
            if !made.transports.isEmpty { members["transports"] = .list(made.transports) }
        case .assertion(let used):
            id = used.credentialID
            members = [
                "clientDataJSON": .bytes(used.clientDataJSON),
                "authenticatorData": .bytes(used.authenticatorData),
                "signature": .bytes(used.signature),
            ]
            if let handle = used.userHandle { members["userHandle"] = .bytes(handle) }
        }
        return [
            "challenge_id": .text(challengeID),
            "credential": .object([
                "id": .bytes(id), "rawId": .bytes(id), "type": .text("public-key"),
                "clientExtensionResults": .object([:]), "response": .object(members),
            ]),
        ]
    }
}

extension BodyValue {
    fileprivate static func bytes(_ data: Data) -> Self { .text(Base64URL.encode(data)) }
}

extension FactorConfirmation {
    /// The members of a request's body.
    var body: [String: BodyValue] {
        switch self {
        case .authenticatorApp(let secret, let code):
            ["enrolment_token": .text(secret.token), "code": .text(code)]
        case .phone(let sent, let code): Proof.code(sent, code).body
        case .passkey(let credential): credential.body
        }
    }
}
