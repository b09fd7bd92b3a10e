import JSON
internal import LedgerWire

// Hand-written equivalents of the bodies' `encode(to:)`; a test compares the two.

extension SessionAnswer: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("access_token")
            writer.plainText(accessToken)
            writer.name("refresh_token")
            writer.plainText(refreshToken)
            writer.name("token_type")
            writer.plainText(tokenType)
            writer.name("expires_in")
            writer.number(expiresIn)
            writer.member("user_id", userID)
            writer.name("is_new_user")
            writer.flag(isNewUser)
            writer.name("linked_providers")
            writer.texts(linkedProviders)
        }
    }
}

extension LinkedProvidersAnswer: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("linked_providers")
            writer.texts(linkedProviders)
            writer.member("message", message)
        }
    }
}

extension AccountAnswer: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("user_id", userID)
            writer.name("linked_providers")
            writer.texts(linkedProviders)
            writer.name("identities")
            writer.array { writer in
                for identity in identities {
                    identity.write(to: &writer)
                }
            }
        }
    }
}

extension AccountAnswer.Identity: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("identity_id", identityID)
            writer.member("provider", provider)
            if let email {
                writer.member("email", email)
                writer.name("email_verified")
                writer.flag(emailVerified)
            }
            writer.member("linked_at", linkedAt)
        }
    }
}

extension ErrorBody: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("error")
            writer.object { writer in
                writer.member("code", error.code.rawValue)
                writer.member("message", error.message)
                guard let details = error.details else { return }
                writer.name("details")
                writer.object(details)
            }
        }
    }
}

extension StatusAnswer: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("status", status)
        }
    }
}
