import JSON
import Ledger
import LedgerSignIn
import LedgerWire

extension FactorAnswer: JSONWritable {
    static let schema = Schema.object(
        "Factor",
        [
            .required("factor_id", .factor, "The opaque id"),
            .required("type", .choice(FactorKind.allCases.map(\.rawValue))),
            .optional("hint", .text("4711"), "The last digits of a phone number"),
            .optional("enrolled_at", .time),
            .optional("codes_left", .integer(10, 0...10), "The unused recovery codes"),
            .optional("removal_due", .time, "When it is removed, because support planned it"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("factor_id", factorID)
            writer.member("type", type)
            writer.member("hint", hint)
            writer.member("enrolled_at", enrolledAt)
            if let codesLeft {
                writer.name("codes_left")
                writer.number(Int64(codesLeft))
            }
            writer.member("removal_due", removalDue)
        }
    }
}

extension FactorsAnswer: JSONWritable {
    static let schema = Schema.object(
        "Factors",
        [.required("factors", .list(FactorAnswer.schema), "In the order of their enrolment")])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("factors")
            writer.array { writer in
                for factor in factors { factor.write(to: &writer) }
            }
        }
    }
}

extension EnrolmentAnswer: JSONWritable {
    static let schema = Schema.object(
        "Enrolment",
        [
            .optional(
                "enrolment_token", .text(ExampleValue.enrolmentToken),
                "Of an authenticator app: presented with its first code"),
            .optional("secret", .text("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"), "In base32, to type"),
            .optional(
                "uri",
                .text(
                    "otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Example"
                ), "For a QR code"),
            .optional(
                "challenge_id", .uuid(ExampleValue.challenge),
                "Of a phone: presented with the code that was sent"),
            .required("expires_in", .integer(SecondFactorTokens.enrolmentSeconds), "In seconds"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("enrolment_token", enrolmentToken)
            writer.member("secret", secret)
            writer.member("uri", uri)
            writer.member("challenge_id", challengeID)
            writer.name("expires_in")
            writer.number(expiresIn)
        }
    }
}

extension EnrolledAnswer: JSONWritable {
    static let schema = Schema.object(
        "EnrolledFactor",
        [
            .required("factor_id", .factor),
            .optional(
                "recovery_codes", .list(.text(ExampleValue.recoveryCode)),
                "With the first factor: each stands in for a lost one once; shown only here"),
            .optional(
                "session", SessionAnswer.schema,
                "With the first factor, which ends all sessions: the new one of the caller"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("factor_id", factorID)
            if let recoveryCodes {
                writer.name("recovery_codes")
                writer.texts(recoveryCodes)
            }
            if let session {
                writer.name("session")
                session.write(to: &writer)
            }
        }
    }
}

extension RecoveryCodesAnswer: JSONWritable {
    static let schema = Schema.object(
        "RecoveryCodes",
        [
            .required(
                "recovery_codes", .list(.text(ExampleValue.recoveryCode)),
                "Each stands in for a lost factor once; shown only here")
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("recovery_codes")
            writer.texts(recoveryCodes)
        }
    }
}

extension ErrorDetail {
    func write(to writer: inout JSONWriter) {
        switch self {
        case .text(let text): writer.text(text)
        case .number(let number): writer.number(number)
        case .texts(let texts): writer.texts(texts)
        case .unknown: writer.null()
        case .factors(let factors):
            writer.array { writer in
                for factor in factors { factor.write(to: &writer) }
            }
        }
    }
}
