extension Sentences {
    /// The sentences in English.
    static let english = Self(
        failed: "Something went wrong.",
        passwordTooShort: "The password must have at least {count} characters.",
        byCode: [
            .invalidRequest: "Check what you entered.",
            .unsupportedProvider: "This way to sign in is no longer offered.",
            .cannotUnlinkOnlyProvider: """
            Cannot unlink your only authentication method. Link another one first.
            """,
            .invalidProviderToken: "This sign-in is no longer valid. Sign in again.",
            .invalidCode: "The code is wrong or has expired.",
            .invalidPassword: "The e-mail address or the password is wrong.",
            .reauthenticationRequired: "You signed in a while ago. Sign in again first.",
            .accountDisabled: "This account is disabled. Ask the support of the app.",
            .addressUnused: """
            This number has not been used for a long time. Sign in another way, \
            then confirm it again.
            """,
            .accountNotFound: "There is no account for this.",
            .providerConflict: "This account is already in use",
            .secondFactorEnrolled: """
            The other account has a second factor. Sign in there, and combine the \
            accounts from there. If both accounts have one, ask the support of the \
            app.
            """,
            .sameAccount: "Both are the same account already.",
            .mergeTooLarge: "These accounts have too many linked accounts to be combined.",
            .weakPassword: "Choose another password: this one is too common or cannot be used.",
            .invalidAccessToken: "Your session is over. Sign in again.",
            .invalidRefreshToken: "Your session is over. Sign in again.",
            .noSession: "Your session is over. Sign in again.",
            .mergePlanChanged: "Something changed since the preview. Nothing was combined.",
            .noAnswer: "The service cannot be reached. Check your connection.",
            .unexpectedAnswer: "The service cannot be reached. Check your connection.",
            .cancelledByPerson: "You cancelled. Nothing was changed.",
            .browserFailed: "This sign-in has ended. Begin again.",
            .authenticatorFailed: "This sign-in has ended. Begin again.",
            .factorRefused: "This account cannot have this second factor, or cannot do without it.",
            .factorNotFound: "This second factor is gone already.",
            .providerNotLinked: "This is no longer linked.",
            .rateLimited: "Too many tries. Try again later.",
            .unavailable: "The service is busy. Try again in a few seconds.",
            .secondFactorRequired: "Confirm the sign-in with your second factor.",
            .gateClosed: "Unlock the app first.",
            .rulesDiffer: "The service is busy. Try again in a few seconds.",
            .tenantMoved: "The service is busy. Try again in a few seconds.",
        ])
}
