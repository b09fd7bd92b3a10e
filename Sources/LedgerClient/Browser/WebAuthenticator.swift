public import Foundation

/// The reason why a browser did not come back.
public enum WebAuthenticationError: Error, Sendable {
    /// The person closed the browser.
    case cancelled
    /// The browser could not be opened, or came back to another address.
    case failed
}

/// Opens a browser for a sign-in, and waits until it comes back.
public protocol WebAuthenticator: Sendable {
    /// The address to which the browser comes back. The tenant has to list it in `return_to`.
    var returnAddress: URL { get }

    /// Opens an address, and waits until the browser opens ``returnAddress``.
    ///
    /// - Parameter address: The address to open.
    /// - Returns: The address to which the browser came back, with its query.
    /// - Throws: ``WebAuthenticationError``.
    func authenticate(at address: URL) async throws(WebAuthenticationError) -> URL
}

/// The result of a browser flow.
enum FlowReturn {
    /// Reads the address to which a browser came back.
    ///
    /// - Throws: ``LedgerError/Code/cancelledByPerson`` or ``LedgerError/Code/browserFailed``.
    static func code(of returned: URL, to expected: URL) throws(LedgerError) -> String {
        let parts = URLComponents(url: returned, resolvingAgainstBaseURL: false)
        guard parts?.scheme == expected.scheme, returned.host() == expected.host(),
            returned.path() == expected.path(), returned.port == expected.port
        else { throw failed("The browser came back to another address") }
        let items = parts?.queryItems ?? []
        if let code = items.first(where: { $0.name == "flow_code" })?.value { return code }
        guard let error = items.first(where: { $0.name == "error" })?.value else {
            throw failed("The browser came back without a result")
        }
        guard error != "access_denied" else { throw cancelled }
        // Any page can open the address with another text.
        let isCode =
            (1...64).contains(error.utf8.count)
            && error.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
        throw failed(isCode ? "The sign-in failed: \(error)" : "The sign-in failed")
    }

    static func error(_ error: WebAuthenticationError) -> LedgerError {
        switch error {
        case .cancelled: cancelled
        case .failed: failed("The browser could not be opened")
        }
    }

    private static let cancelled = LedgerError(
        .cancelledByPerson, message: "The person cancelled the sign-in")

    private static func failed(_ message: String) -> LedgerError {
        LedgerError(.browserFailed, message: message)
    }
}
