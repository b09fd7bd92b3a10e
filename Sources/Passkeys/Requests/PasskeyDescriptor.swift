internal import Encodings
internal import JSON

/// A registered credential that the options of a ceremony name.
package struct PasskeyDescriptor: Hashable, Sendable {
    /// The id of the credential.
    package let credentialID: [UInt8]
    /// The ways to reach the authenticator, as its registration told them.
    package let transports: [String]

    /// Names a credential.
    package init(credentialID: [UInt8], transports: [String] = []) {
        self.credentialID = credentialID
        self.transports = transports
    }

    /// Writes a member with a list of credentials.
    static func write(_ name: String, _ list: [PasskeyDescriptor], to writer: inout JSONWriter) {
        writer.name(name)
        writer.array { writer in
            for descriptor in list {
                writer.object { writer in
                    writer.member("type", "public-key")
                    writer.member("id", Base64URL.encode(descriptor.credentialID))
                    guard !descriptor.transports.isEmpty else { return }
                    writer.name("transports")
                    writer.texts(descriptor.transports)
                }
            }
        }
    }
}
