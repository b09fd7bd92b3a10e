#if canImport(AuthenticationServices) && !os(watchOS) && !os(tvOS)
    public import AuthenticationServices
    import Foundation

    /// The passkeys of the system, by `ASAuthorizationController`, and security keys for second factors.
    ///
    /// The domain of the passkeys lists the app under `webcredentials` in its `apple-app-site-association`, and the app
    /// has the domain in its entitlement of associated domains. The origin of responses is `https://` and the domain.
    public struct ApplePasskeyAuthenticator: PasskeyAuthenticator {
        private typealias Registration = any ASAuthorizationPublicKeyCredentialRegistration
        private typealias Assertion = any ASAuthorizationPublicKeyCredentialAssertion

        /// Finds the window, and waits for the response.
        @MainActor
        private final class Sheet: NSObject, ASAuthorizationControllerDelegate,
            ASAuthorizationControllerPresentationContextProviding
        {
            private let anchor: ASPresentationAnchor
            private let results: AsyncStream<Result<ASAuthorization, PasskeyError>>.Continuation

            init(
                _ anchor: ASPresentationAnchor,
                _ results: AsyncStream<Result<ASAuthorization, PasskeyError>>.Continuation
            ) {
                self.anchor = anchor
                self.results = results
            }

            func presentationAnchor(
                for controller: ASAuthorizationController
            ) -> ASPresentationAnchor {
                anchor
            }

            func authorizationController(
                controller: ASAuthorizationController,
                didCompleteWithAuthorization authorization: ASAuthorization
            ) {
                results.yield(.success(authorization))
            }

            func authorizationController(
                controller: ASAuthorizationController, didCompleteWithError error: any Error
            ) {
                results.yield(.failure(Self.fault(error)))
            }

            private static func fault(_ error: any Error) -> PasskeyError {
                guard let error = error as? ASAuthorizationError else { return .failed }
                if #available(iOS 18, macOS 15, visionOS 2, *),
                    error.code == .matchedExcludedCredential
                {
                    return .alreadyRegistered
                }
                return error.code == .canceled ? .cancelled : .failed
            }
        }

        private let anchor: @MainActor @Sendable () -> ASPresentationAnchor

        /// Creates an authenticator.
        ///
        /// - Parameter anchor: Returns the window above which the sheet appears.
        public init(anchor: @escaping @MainActor @Sendable () -> ASPresentationAnchor) {
            self.anchor = anchor
        }

        /// Makes a passkey of the system; for a second factor one of a security key, if the person has one.
        ///
        /// - Parameter options: The options.
        /// - Returns: The response.
        /// - Throws: ``PasskeyError``.
        public func make(
            _ options: PasskeyCreationOptions
        ) async throws(PasskeyError) -> PasskeyRegistration {
            let authorization = try await Self.authorize(anchor) { Self.requests(options) }
            guard let made = authorization.credential as? Registration,
                let attestation = made.rawAttestationObject
            else { throw .failed }
            return PasskeyRegistration(
                credentialID: made.credentialID, clientDataJSON: made.rawClientDataJSON,
                attestationObject: attestation)
        }

        /// Uses a passkey of the system or of a security key.
        ///
        /// - Parameter options: The options.
        /// - Returns: The response.
        /// - Throws: ``PasskeyError``.
        public func use(
            _ options: PasskeyRequestOptions
        ) async throws(PasskeyError) -> PasskeyAssertion {
            let authorization = try await Self.authorize(anchor) { Self.requests(options) }
            guard let used = authorization.credential as? Assertion else { throw .failed }
            let handle: Data? = used.userID
            return PasskeyAssertion(
                credentialID: used.credentialID, clientDataJSON: used.rawClientDataJSON,
                authenticatorData: used.rawAuthenticatorData, signature: used.signature,
                userHandle: handle.flatMap { $0.isEmpty ? nil : $0 })
        }

        @MainActor private static func requests(
            _ options: PasskeyCreationOptions
        ) -> [ASAuthorizationRequest] {
            let verification = ASAuthorizationPublicKeyCredentialUserVerificationPreference(
                rawValue: options.userVerification.rawValue)
            let platform = ASAuthorizationPlatformPublicKeyCredentialProvider(
                relyingPartyIdentifier: options.relyingPartyID
            ).createCredentialRegistrationRequest(
                challenge: options.challenge, name: options.userName,
                userID: options.userHandle)
            platform.displayName = options.displayName
            platform.userVerificationPreference = verification
            if #available(iOS 17.4, macOS 14.4, visionOS 1.1, *) {
                platform.excludedCredentials = options.excludedCredentials.map {
                    ASAuthorizationPlatformPublicKeyCredentialDescriptor(credentialID: $0)
                }
            }
            guard !options.isStored else { return [platform] }
            let key = ASAuthorizationSecurityKeyPublicKeyCredentialProvider(
                relyingPartyIdentifier: options.relyingPartyID
            ).createCredentialRegistrationRequest(
                challenge: options.challenge, displayName: options.displayName,
                name: options.userName, userID: options.userHandle)
            key.credentialParameters = options.algorithms.map {
                ASAuthorizationPublicKeyCredentialParameters(
                    algorithm: ASCOSEAlgorithmIdentifier(rawValue: $0))
            }
            key.userVerificationPreference = verification
            key.residentKeyPreference = .discouraged
            key.excludedCredentials = keys(options.excludedCredentials)
            return [platform, key]
        }

        @MainActor private static func requests(
            _ options: PasskeyRequestOptions
        ) -> [ASAuthorizationRequest] {
            let verification = ASAuthorizationPublicKeyCredentialUserVerificationPreference(
                rawValue: options.userVerification.rawValue)
            let platform = ASAuthorizationPlatformPublicKeyCredentialProvider(
                relyingPartyIdentifier: options.relyingPartyID
            ).createCredentialAssertionRequest(challenge: options.challenge)
            platform.userVerificationPreference = verification
            platform.allowedCredentials = options.allowedCredentials.map {
                ASAuthorizationPlatformPublicKeyCredentialDescriptor(credentialID: $0)
            }
            let key = ASAuthorizationSecurityKeyPublicKeyCredentialProvider(
                relyingPartyIdentifier: options.relyingPartyID
            ).createCredentialAssertionRequest(challenge: options.challenge)
            key.userVerificationPreference = verification
            key.allowedCredentials = keys(options.allowedCredentials)
            return [platform, key]
        }

        private static func keys(
            _ credentials: [Data]
        ) -> [ASAuthorizationSecurityKeyPublicKeyCredentialDescriptor] {
            credentials.map {
                ASAuthorizationSecurityKeyPublicKeyCredentialDescriptor(
                    credentialID: $0, transports: .allSupported)
            }
        }

        /// Shows the sheet, and waits for its end.
        @MainActor private static func authorize(
            _ anchor: @MainActor @Sendable () -> ASPresentationAnchor,
            _ requests: @MainActor () -> [ASAuthorizationRequest]
        ) async throws(PasskeyError) -> ASAuthorization {
            let (results, continuation) = AsyncStream.makeStream(
                of: Result<ASAuthorization, PasskeyError>.self,
                bufferingPolicy: .bufferingOldest(1))
            let sheet = Sheet(anchor(), continuation)
            let controller = ASAuthorizationController(authorizationRequests: requests())
            controller.delegate = sheet
            controller.presentationContextProvider = sheet
            controller.performRequests()
            var iterator = results.makeAsyncIterator()
            let result = await iterator.next() ?? .failure(.failed)
            // The controller has no strong reference to the sheet.
            withExtendedLifetime(sheet) {}
            return try result.get()
        }
    }
#endif
