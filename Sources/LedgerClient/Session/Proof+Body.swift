extension Proof {
    /// The members of a request's body.
    var body: [String: BodyValue] {
        switch self {
        case .idToken(let token, let nonce?): ["id_token": .text(token), "nonce": .text(nonce)]
        case .idToken(let token, nil): ["id_token": .text(token)]
        case .accessToken(let token): ["access_token": .text(token)]
        case .password(let email, let password):
            ["email": .text(email), "password": .text(password)]
        case .passwordWithCode(let email, let password, let sent, let code):
            [
                "email": .text(email), "password": .text(password),
                "challenge_id": .text(sent.challengeID), "code": .text(code),
            ]
        case .code(let sent, let code):
            ["challenge_id": .text(sent.challengeID), "code": .text(code)]
        case .newPassword(let sent, let code, let password):
            [
                "challenge_id": .text(sent.challengeID), "code": .text(code),
                "password": .text(password),
            ]
        case .anonymous(let secret?, _): ["anonymous_secret": .text(secret)]
        case .anonymous(nil, let attestation?): ["attestation": .text(attestation)]
        case .anonymous(nil, nil): [:]
        case .flow(let code, let verifier):
            ["flow_code": .text(code), "code_verifier": .text(verifier)]
        case .passkey(let credential): credential.body
        }
    }

    /// Whether a request with this proof also has the token of the device, which counts its tries apart.
    var usesDeviceToken: Bool {
        switch self {
        case .password, .passwordWithCode, .code: true
        case .idToken, .accessToken, .newPassword, .anonymous, .flow, .passkey: false
        }
    }
}
