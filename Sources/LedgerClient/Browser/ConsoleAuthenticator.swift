public import Foundation

/// A browser flow of a command-line program: prints the address, and the person pastes the one to which the browser
/// came back.
///
/// Nothing listens at ``returnAddress``, so the browser shows an error there, with the address in its bar. That also
/// works where the browser is on another machine. The code in it is good for a minute, and only for this program.
public struct ConsoleAuthenticator: WebAuthenticator {
    /// The address to which the browser comes back.
    public let returnAddress: URL
    private let write: @Sendable (String) -> Void
    private let read: @Sendable () -> String?

    /// Creates an authenticator.
    ///
    /// - Parameters:
    ///   - returnAddress: The address to which the browser comes back, such as `http://127.0.0.1/callback`.
    ///   - write: Shows a text to the person; standard output by default.
    ///   - read: Reads a line of the person; standard input by default. nil cancels.
    public init(
        returnAddress: URL, write: @escaping @Sendable (String) -> Void = { print($0) },
        read: @escaping @Sendable () -> String? = { readLine() }
    ) {
        self.returnAddress = returnAddress
        self.write = write
        self.read = read
    }

    /// Prints an address, and waits for the pasted one.
    ///
    /// - Parameter address: The address to open.
    /// - Returns: The pasted address.
    /// - Throws: ``WebAuthenticationError/cancelled`` without a line, ``WebAuthenticationError/failed`` for a line that
    ///   is no address.
    @concurrent public func authenticate(at address: URL) async throws(WebAuthenticationError)
        -> URL
    {
        write("Open this address in a browser and sign in:\n\n    \(address.absoluteString)\n")
        write("Then paste the address at which the browser ended, and press Return:")
        guard let line = read(), !line.allSatisfy(\.isWhitespace) else { throw .cancelled }
        guard let url = URL(string: line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw .failed
        }
        return url
    }
}
