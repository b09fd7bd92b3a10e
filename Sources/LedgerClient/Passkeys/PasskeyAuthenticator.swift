/// The reason why an authenticator did not respond.
public enum PasskeyError: Error, Sendable {
    /// The person closed the sheet.
    case cancelled
    /// The authenticator has a passkey of the account already.
    case alreadyRegistered
    /// There is no authenticator for the request, or it failed.
    case failed

    var ledgerError: LedgerError {
        switch self {
        case .cancelled:
            LedgerError(.cancelledByPerson, message: "The person cancelled the use of a passkey")
        case .alreadyRegistered:
            LedgerError(
                .authenticatorFailed,
                message: "The authenticator has a passkey of the account already")
        case .failed: LedgerError(.authenticatorFailed, message: "The authenticator failed")
        }
    }
}

/// Makes and uses passkeys.
public protocol PasskeyAuthenticator: Sendable {
    /// Makes a passkey.
    ///
    /// - Parameter options: The options.
    /// - Returns: The response.
    /// - Throws: ``PasskeyError``.
    func make(
        _ options: PasskeyCreationOptions
    ) async throws(PasskeyError) -> PasskeyRegistration

    /// Uses a passkey.
    ///
    /// - Parameter options: The options.
    /// - Returns: The response.
    /// - Throws: ``PasskeyError``.
    func use(_ options: PasskeyRequestOptions) async throws(PasskeyError) -> PasskeyAssertion
}
