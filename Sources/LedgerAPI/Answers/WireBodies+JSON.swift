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
            writer.name("user_id")
            writer.text(userID)
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
            writer.name("message")
            writer.text(message)
        }
    }
}

extension AccountAnswer: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("user_id")
            writer.text(userID)
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
            writer.name("identity_id")
            writer.text(identityID)
            writer.name("provider")
            writer.text(provider)
            if let email {
                writer.name("email")
                writer.text(email)
                writer.name("email_verified")
                writer.flag(emailVerified)
            }
            writer.name("linked_at")
            writer.text(linkedAt)
        }
    }
}

extension ErrorBody: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("error")
            writer.object { writer in
                writer.name("code")
                writer.text(error.code.rawValue)
                writer.name("message")
                writer.text(error.message)
                guard let details = error.details else { return }
                writer.name("details")
                writer.object { writer in
                    for (name, text) in details.sorted(by: { $0.key < $1.key }) {
                        writer.name(name)
                        writer.text(text)
                    }
                }
            }
        }
    }
}

extension StatusAnswer: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("status")
            writer.text(status)
        }
    }
}
