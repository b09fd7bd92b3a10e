#if canImport(AuthenticationServices) && !os(watchOS) && !os(tvOS)
    public import AuthenticationServices
    public import Foundation

    /// A browser flow in the sheet of the system, by `ASWebAuthenticationSession`.
    public struct AppleWebAuthenticator: WebAuthenticator {
        /// Finds the window, and keeps the session until it ends.
        @MainActor
        private final class Sheet: NSObject,
            ASWebAuthenticationPresentationContextProviding
        {
            let anchor: ASPresentationAnchor
            var session: ASWebAuthenticationSession?

            init(_ anchor: ASPresentationAnchor) {
                self.anchor = anchor
            }

            func presentationAnchor(
                for session: ASWebAuthenticationSession
            ) -> ASPresentationAnchor {
                anchor
            }
        }

        /// The address to which the browser comes back, with a scheme of the app such as
        /// `com.example.app:/callback`.
        public let returnAddress: URL
        private let isPrivate: Bool
        private let anchor: @MainActor @Sendable () -> ASPresentationAnchor

        /// Creates an authenticator.
        ///
        /// - Parameters:
        ///   - returnAddress: The address to which the browser comes back.
        ///   - isPrivate: Whether the sheet has no sessions of the person's browser, and leaves none there.
        ///   - anchor: Returns the window above which the sheet appears.
        public init(
            returnAddress: URL, isPrivate: Bool = false,
            anchor: @escaping @MainActor @Sendable () -> ASPresentationAnchor
        ) {
            self.returnAddress = returnAddress
            self.isPrivate = isPrivate
            self.anchor = anchor
        }

        /// Opens the sheet, and waits until it closes.
        ///
        /// - Parameter address: The address to open.
        /// - Returns: The address to which the browser came back.
        /// - Throws: ``WebAuthenticationError``.
        public func authenticate(at address: URL) async throws(WebAuthenticationError) -> URL {
            let result = await Self.open(
                address, scheme: returnAddress.scheme ?? "", isPrivate: isPrivate, anchor)
            return try result.get()
        }

        @MainActor private static func open(
            _ address: URL, scheme: String, isPrivate: Bool,
            _ anchor: @MainActor @Sendable () -> ASPresentationAnchor
        ) async -> Result<URL, WebAuthenticationError> {
            let sheet = Sheet(anchor())
            // A session that does not start may call its handler or not: the first result counts.
            let (results, continuation) = AsyncStream.makeStream(
                of: Result<URL, WebAuthenticationError>.self, bufferingPolicy: .bufferingOldest(1))
            let session = ASWebAuthenticationSession(
                url: address, callbackURLScheme: scheme
            ) { @Sendable url, error in
                let code = (error as? ASWebAuthenticationSessionError)?.code
                continuation.yield(
                    url.map(Result.success)
                        ?? .failure(code == .canceledLogin ? .cancelled : .failed))
            }
            session.presentationContextProvider = sheet
            session.prefersEphemeralWebBrowserSession = isPrivate
            sheet.session = session
            if !session.start() { continuation.yield(.failure(.failed)) }
            var iterator = results.makeAsyncIterator()
            let result = await iterator.next() ?? .failure(.failed)
            sheet.session = nil
            return result
        }
    }
#endif
