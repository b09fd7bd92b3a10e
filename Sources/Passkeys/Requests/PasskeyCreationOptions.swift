internal import Encodings
package import JSON

/// The options of a registration, which are `PublicKeyCredentialCreationOptionsJSON`.
///
/// Pages pass them to `PublicKeyCredential.parseCreationOptionsFromJSON()`. They ask for no attestation.
package struct PasskeyCreationOptions: Sendable, JSONWritable {
    /// The user whom a credential is made for.
    package struct User: Hashable, Sendable {
        /// The bytes that the authenticator stores and returns at a sign-in: random, without personal data.
        package let handle: [UInt8]
        /// The name that tells accounts apart, such as an e-mail address.
        package let name: String
        /// The name that people call the user by; may be empty.
        package let displayName: String

        /// Describes the user; nil when the handle is not of 1 to 64 bytes.
        package init?(handle: [UInt8], name: String, displayName: String) {
            guard (1...PasskeyLimits.userHandleBytesMax).contains(handle.count) else { return nil }
            self.handle = handle
            self.name = name
            self.displayName = displayName
        }
    }

    private let ceremony: PasskeyCeremony
    private let user: User
    private let excluded: [PasskeyDescriptor]
    private let isStored: Bool
    private let timeout: Duration

    /// Creates options.
    ///
    /// - Parameters:
    ///   - ceremony: the conditions that the response will be verified with.
    ///   - user: the user.
    ///   - excluded: the user's credentials: an authenticator with one of them makes no second one.
    ///   - isStored: whether the authenticator itself stores the credential, so that it can sign in without a name.
    ///   - timeout: the time that the browser gives the user.
    package init(
        for ceremony: PasskeyCeremony, user: User, excluding excluded: [PasskeyDescriptor],
        isStored: Bool = true, timeout: Duration
    ) {
        self.ceremony = ceremony
        self.user = user
        self.excluded = excluded
        self.isStored = isStored
        self.timeout = timeout
    }

    /// Writes the options.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("rp")
            writer.object { writer in
                writer.member("id", ceremony.relyingParty.id)
                writer.member("name", ceremony.relyingParty.name)
            }
            writer.name("user")
            writer.object { writer in
                writer.member("id", Base64URL.encode(user.handle))
                writer.member("name", user.name)
                writer.member("displayName", user.displayName)
            }
            writer.member("challenge", Base64URL.encode(ceremony.challenge))
            writer.name("pubKeyCredParams")
            writer.array { writer in
                for algorithm in PasskeyAlgorithm.allCases {
                    writer.object { writer in
                        writer.member("type", "public-key")
                        writer.name("alg")
                        writer.number(Int64(algorithm.rawValue))
                    }
                }
            }
            writer.name("timeout")
            writer.number(timeout.milliseconds)
            PasskeyDescriptor.write("excludeCredentials", excluded, to: &writer)
            writer.name("authenticatorSelection")
            writer.object { writer in
                writer.member("residentKey", isStored ? "required" : "discouraged")
                // For browsers of level 1.
                writer.name("requireResidentKey")
                writer.flag(isStored)
                writer.member("userVerification", ceremony.userVerification.rawValue)
            }
            writer.member("attestation", "none")
        }
    }
}

extension Duration {
    /// The whole milliseconds of a time of at most some days.
    var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
