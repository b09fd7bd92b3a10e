internal import Ledger

/// The ids and secrets in the examples of the document; tests replace them by live ones.
enum ExampleValue {
    static let account = "0190a1b2-c3d4-7000-8000-0000000000a1"
    static let otherAccount = "0190a1b2-c3d4-7000-8000-0000000000a2"
    static let identity = "0190a1b2-c3d4-7000-8000-0000000000b1"
    static let session = "0190a1b2-c3d4-7000-8000-0000000000c1"
    static let event = "0190a1b2-c3d4-7000-8000-0000000000d1"
    static let merge = "0190a1b2-c3d4-7000-8000-0000000000d2"
    static let challenge = "0b7e1f52-93aa-4c1d-8f5e-6a1c2d3e4f50"
    static let hold = "0190a1b2-c3d4-7000-8000-0000000000e1"
    static let erasureRequest = "0190a1b2-c3d4-7000-8000-0000000000e3"
    static let newHold = "0190a1b2-c3d4-7000-8000-0000000000e2"
    static let providerAccessToken = "EAACEdEose0cBAExample"
    static let idToken = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
    static let anonymousSecret = "YW4gYW5vbnltb3VzIHNlY3JldCBvZiAzMiBieXRlcyE"
    static let password = "correct horse battery staple"
    static let deviceToken = "ZGV2aWNlIHRva2VuIG9mIGZvcnR5IGJ5dGVzIGluIGFsbCwgeWVzLg"
    static let accessToken = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIxIn0.c2ln"
    static let refreshToken = "cmVmcmVzaCB0b2tlbg"
    static let planDigest = "cGxhbiBkaWdlc3Q"
    static let undoRequest = "staff:0190a1b2-c3d4-7000-8000-0000000000a3.dW5kbw"
    static let factor = "0190a1b2-c3d4-7000-8000-0000000000f1"
    static let factorCode = "492039"
    static let signInToken = "c2lnbi1pbiB0b2tlbg"
    static let enrolmentToken = "ZW5yb2xtZW50IHRva2Vu"
    static let recoveryCode = "GEZD-GNBV-GY3T-QOJQ"
    static let flowCode = "YnJvd3NlciBmbG93IGNvZGU"
    static let proofToken = "cHJvb2YgdG9rZW4"
    static let provider = "google"
    static let externalID = "5f7c8ec7c33c6c004bbafe82"
    static let time = "2026-11-20T23:17:50.859712Z"
    static let hash = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
}

extension Schema {
    /// Returns the schema of a UUID.
    static func uuid(_ example: String) -> Schema {
        .text(example, TextRules(format: "uuid"))
    }

    static let account = uuid(ExampleValue.account)
    static let identity = uuid(ExampleValue.identity)
    static let event = uuid(ExampleValue.event)
    static let factor = uuid(ExampleValue.factor)
    static let time = text(ExampleValue.time, TextRules(format: "date-time"))
    /// A 64-bit number as text: a position, a size, a count.
    static let number = text("41", TextRules(pattern: "^(0|[1-9][0-9]*)$"))
    static let hash = text(ExampleValue.hash)
    /// The grammar of `ProviderName`.
    static let provider = text(ExampleValue.provider, providerRules)
    static let codeProvider = text("email", providerRules)
    static let passwordProvider = text("password", providerRules)
    static let passkeyProvider = text("passkey", providerRules)
    private static let providerRules = TextRules(pattern: "^[a-z0-9][a-z0-9._-]{0,62}$")
    static let nameSource = text("auth0", providerRules)
    static let externalID = text(
        ExampleValue.externalID, TextRules(lengths: 1...ExternalName.idBytesMax))
    static let providers = list(provider)
    /// A position or a time.
    static let moment = text("2025-01-01T00:00:00Z")
    static let planDigest = text(ExampleValue.planDigest)
    static let role = choice(Role.allCases.map(\.rawValue))

    static let logMark = object(
        "LogMark",
        [
            .required("position", .number), .required("recorded_at", .time),
        ])
    static let logExtent = object(
        "LogExtent",
        [
            .required("size", .number, "The number of events in the log"),
            .required("signed_size", .number.orNull, "The size of the last signed checkpoint"),
        ])
    static let link = object(
        "Link",
        [
            .required("identity_id", .identity), .required("provider", .provider),
            .required("linked_at", .time), .required("position", .number),
            .optional(
                "unlink_due", .time,
                "When it is unlinked, because support planned it; in the state of an account"),
            .optional(
                "name", .text("Work phone"),
                "The name that the person gave to the passkey, with `disclose=true`"),
            .optional(
                "email", .text("grace@example.com"), "Its e-mail now, with `disclose=true`"),
            .optional("email_verified", .flag(true).orNull),
        ])
    static let basis = choice([
        HistoryBasis.log.rawValue, HistoryBasis.decisionState.rawValue,
    ])
}

extension [Property] {
    /// The members of a page's end, as `JSONWriter.cursor(of:)` writes them.
    static let cursor: [Property] = [
        .optional("next", .number, "The last position examined, for `after`"),
        .required("more", .flag(false), "Whether further elements followed"),
    ]
}
