/// A route of the HTTP API that this client calls.
package struct Route: Hashable, Sendable {
    /// The repetition of a request that got no answer, or one that asks to try again.
    package enum Repetition: Hashable, Sendable {
        /// It changes nothing, or the ledger recognises it.
        case always
        /// It carries an idempotency key.
        case withKey
        /// Only if it was not sent: it would act twice, or the second answer would differ.
        case never
    }

    package let method: String
    /// The path, with `{name}` for the segments that vary.
    package let template: String
    package let repetition: Repetition

    private init(_ method: String, _ template: String, _ repetition: Repetition) {
        self.method = method
        self.template = template
        self.repetition = repetition
    }

    package static let providers = Self("GET", "/v1/providers", .always)
    package static let signIn = Self("POST", "/v1/auth/sign-in/{provider}", .never)
    package static let secondFactor = Self("POST", "/v1/auth/second-factor", .never)
    package static let secondFactorCode = Self("POST", "/v1/auth/second-factor/code", .never)
    package static let secondFactorPasskey = Self(
        "POST", "/v1/auth/second-factor/passkey", .always)
    package static let createPasskey = Self(
        "POST", "/v1/auth/passkeys/{passkey_provider}/create", .always)
    package static let getPasskey = Self(
        "POST", "/v1/auth/passkeys/{passkey_provider}/get", .always)
    package static let sendCode = Self("POST", "/v1/auth/codes/{code_provider}", .never)
    package static let signUp = Self("POST", "/v1/auth/sign-up/{password_provider}", .never)
    package static let resetPassword = Self(
        "POST", "/v1/auth/password-resets/{password_provider}", .never)
    package static let completeReset = Self(
        "POST", "/v1/auth/password-resets/{password_provider}/complete", .never)
    package static let returnAddress = Self(
        "POST", "/v1/auth/address-returns/{code_provider}", .never)
    package static let completeReturn = Self(
        "POST", "/v1/auth/address-returns/{code_provider}/complete", .never)
    package static let beginFlow = Self("POST", "/v1/auth/flows", .always)
    package static let refresh = Self("POST", "/v1/auth/refresh", .always)
    package static let signOut = Self("POST", "/v1/auth/sign-out", .always)
    package static let account = Self("GET", "/v1/account", .always)
    package static let link = Self("POST", "/v1/auth/link/{provider}", .withKey)
    package static let unlink = Self("DELETE", "/v1/auth/link/{provider}", .withKey)
    package static let sendAccountCode = Self(
        "POST", "/v1/account/codes/{code_provider}", .never)
    package static let changePassword = Self("POST", "/v1/account/password", .never)
    package static let changeAddress = Self(
        "POST", "/v1/account/addresses/{code_provider}", .never)
    package static let createAccountPasskey = Self(
        "POST", "/v1/account/passkeys/{passkey_provider}/create", .always)
    package static let getAccountPasskey = Self(
        "POST", "/v1/account/passkeys/{passkey_provider}/get", .always)
    package static let nameIdentity = Self(
        "PUT", "/v1/account/identities/{identity_id}/name", .always)
    package static let keepIdentity = Self(
        "POST", "/v1/account/identities/{identity_id}/keep", .never)
    package static let factors = Self("GET", "/v1/account/factors", .always)
    package static let beginFactor = Self("POST", "/v1/account/factor-enrolments", .never)
    package static let createPasskeyFactor = Self(
        "POST", "/v1/account/factor-enrolments/passkey", .always)
    package static let enrolFactor = Self("POST", "/v1/account/factors", .never)
    package static let removeFactor = Self(
        "DELETE", "/v1/account/factors/{factor_id}", .never)
    package static let keepFactor = Self(
        "POST", "/v1/account/factors/{factor_id}/keep", .never)
    package static let renewRecoveryCodes = Self("POST", "/v1/account/recovery-codes", .never)
    package static let activity = Self("GET", "/v1/account/activity", .always)
    package static let previewMerge = Self("POST", "/v1/account/merge/preview", .always)
    package static let merge = Self("POST", "/v1/account/merge", .withKey)

    /// Every route of this client.
    package static let all: [Self] = [
        .providers, .signIn, .secondFactor, .secondFactorCode, .secondFactorPasskey,
        .createPasskey, .getPasskey, .sendCode, .signUp, .resetPassword, .completeReset,
        .returnAddress, .completeReturn, .beginFlow, .refresh, .signOut, .account, .link, .unlink,
        .sendAccountCode, .changePassword, .changeAddress, .createAccountPasskey,
        .getAccountPasskey, .nameIdentity, .keepIdentity, .factors, .beginFactor,
        .createPasskeyFactor, .enrolFactor, .removeFactor, .keepFactor, .renewRecoveryCodes,
        .activity, .previewMerge, .merge,
    ]
}
