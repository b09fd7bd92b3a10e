import JSON
internal import LedgerWire

// Hand-written equivalents of the bodies' `encode(to:)`; a test compares the two.

extension SessionAnswer: JSONWritable {
    static let schema = Schema.object(
        "Session",
        [
            .required("access_token", .text(ExampleValue.accessToken), "For `Authorization`"),
            .required(
                "refresh_token", .text(ExampleValue.refreshToken),
                "Exchanged once for the next pair of tokens"),
            .required("token_type", .choice(["Bearer"])),
            .required("expires_in", .integer(600), "Lifetime of the access token in seconds"),
            .required("user_id", .account, "The stable id of the account"),
            .required("is_new_user", .flag(true), "Whether this request opened the account"),
            .required("linked_providers", .providers, "In linking order"),
            .optional(
                "anonymous_secret", .text(ExampleValue.anonymousSecret),
                "Signs in to the anonymous account that this request opened; returned only once"),
            .deviceToken,
            .optional(
                "challenge_id", .uuid(ExampleValue.challenge),
                "Sent with the code that confirms the address of a sign-up"),
        ])

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
            writer.member("anonymous_secret", anonymousSecret)
            writer.member("device_token", deviceToken)
            writer.member("challenge_id", challengeID)
        }
    }
}

extension CodeAnswer: JSONWritable {
    static let schema = Schema.object(
        "Code",
        [
            .required("challenge_id", .uuid(ExampleValue.challenge), "Sent with the code"),
            .required("expires_in", .integer(600), "Lifetime of the code in seconds"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("challenge_id", challengeID)
            writer.name("expires_in")
            writer.number(expiresIn)
        }
    }
}

extension RecoveryAnswer: JSONWritable {
    static let schema = Schema.object(
        "Recovery",
        [
            .required(
                "linked_providers", .providers, "In linking order; all still open the account"),
            .deviceToken,
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("linked_providers")
            writer.texts(linkedProviders)
            writer.member("device_token", deviceToken)
        }
    }
}

extension LinkedProvidersAnswer: JSONWritable {
    static let schema = Schema.object(
        "LinkedProviders",
        [
            .required("linked_providers", .providers, "In linking order"),
            .required("message", .text("Google account linked successfully"), "For people"),
            .optional(
                "challenge_id", .uuid(ExampleValue.challenge),
                "Sent with the code that confirms a linked address"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("linked_providers")
            writer.texts(linkedProviders)
            writer.member("message", message)
            writer.member("challenge_id", challengeID)
        }
    }
}

extension AccountAnswer: JSONWritable {
    static let schema = Schema.object(
        "Account",
        [
            .required("user_id", .account, "The stable id of the account"),
            .required("linked_providers", .providers, "In linking order, each named once"),
            .required("identities", .list(Identity.schema), "In linking order"),
            .optional(
                "factor_removals", .list(FactorAnswer.schema),
                "The second factors whose removal support planned"),
        ])

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
            guard let factorRemovals else { return }
            writer.name("factor_removals")
            writer.array { writer in
                for factor in factorRemovals { factor.write(to: &writer) }
            }
        }
    }
}

extension AccountAnswer.Identity: JSONWritable {
    static let schema = Schema.object(
        "Identity",
        [
            .required("identity_id", .identity, "Stays the same over unlink and relink"),
            .required("provider", .provider),
            .optional(
                "name", .text("Work phone"), "The name that the person gave to a passkey"),
            .optional(
                "email", .text("grace@example.com"), "The e-mail that the provider last reported"),
            .optional(
                "email_verified", .flag(true).orNull,
                "Whether the provider called it verified; null when unknown"),
            .required("linked_at", .time),
            .optional("unlink_due", .time, "When it is unlinked, because support planned it"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("identity_id", identityID)
            writer.member("provider", provider)
            writer.member("name", name)
            if let email {
                writer.member("email", email)
                writer.name("email_verified")
                writer.flag(emailVerified)
            }
            writer.member("linked_at", linkedAt)
            writer.member("unlink_due", unlinkDue)
        }
    }
}

extension ErrorBody: JSONWritable {
    static let schema = Schema.object(
        "Error",
        [
            .required(
                "error",
                .object(
                    "ErrorContent",
                    [
                        .required(
                            "code", .choice(ErrorCode.allCases.map(\.rawValue)),
                            "Programs act on it"),
                        .required("message", .text("Not found"), "For people; it may change"),
                        .optional(
                            "details", .anyObject,
                            "The part of the request that is wrong, or the next step"),
                    ]))
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("error")
            writer.object { writer in
                writer.member("code", error.code.rawValue)
                writer.member("message", error.message)
                guard let details = error.details else { return }
                writer.name("details")
                writer.object { writer in
                    for (name, detail) in details.sorted(by: { $0.key < $1.key }) {
                        writer.name(name)
                        detail.write(to: &writer)
                    }
                }
            }
        }
    }
}

extension StatusAnswer: JSONWritable {
    static let schema = Schema.object("Status", [.required("status", .choice(["ok", "ready"]))])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("status", status)
        }
    }
}

extension Property {
    fileprivate static let deviceToken = Property.optional(
        "device_token", .text(ExampleValue.deviceToken),
        "Sent with later codes for the same address, so that strangers can't use up the device's tries"
    )
}
