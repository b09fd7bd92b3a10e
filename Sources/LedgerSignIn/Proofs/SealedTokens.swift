internal import Cryptography
internal import Encodings
internal import JSON
internal import Ledger

/// Encrypts server state into tokens that a client holds: the server stores nothing until one is presented.
///
/// A token is base64url of JSON, encrypted and authenticated by AES-256-GCM together with its purpose and its owner.
struct SealedTokens: Sendable {
    /// The maximum length of a token, in bytes.
    static let bytesMax = 4096
    /// The lifetime of the first step of a sign-in, in seconds.
    static let firstStepSeconds: Int64 = 300

    private let key: SymmetricKey
    private let digests: HMACKey
    private let label: [UInt8]
    private let restores: [TenantID: Timestamp]

    /// Derives a key for a use from the secret that all processes of the ledger share.
    ///
    /// - Parameters:
    ///   - secret: The secret.
    ///   - label: The use.
    ///   - restores: The times of the last accepted restores, before which tokens of the tenants were sealed that are
    ///     invalid: each time is authenticated with the tenant's tokens.
    init(key secret: SymmetricKey, label: String, restores: [TenantID: Timestamp] = [:]) {
        self.label = Array(label.utf8)
        self.restores = restores
        digests = HMACKey(secret)
        key = HKDFSHA256.key(from: secret, label: "account-ledger \(label)")
    }

    /// Returns the token of an object, until a time.
    func seal(
        _ context: String, in tenant: TenantID?, until: Timestamp,
        _ members: (inout JSONWriter) -> Void
    ) -> String {
        var writer = JSONWriter(reserving: 512)
        writer.object { writer in
            writer.name("until")
            writer.number(until.microseconds)
            members(&writer)
        }
        return Base64URL.encode(
            AESGCM.seal(writer.bytes, key: key, additional: additional(context, tenant)))
    }

    /// Reads a token; nil unless it was sealed for the context, since the tenant's last restore, and has not expired.
    func open(
        _ text: String, _ context: String, in tenant: TenantID?, at now: Timestamp,
        bytesMax: Int = Self.bytesMax
    ) -> (members: JSONMembers, token: SingleUseIDToken)? {
        guard text.utf8.count <= bytesMax, let box = Base64URL.decode(text),
            let plaintext = AESGCM.open(box, key: key, additional: additional(context, tenant)),
            let members = JSONValue(parsing: plaintext)?.members,
            let until = members["until"]?.microseconds, now < until,
            let digest = Digest(digests.mac(of: label + [0] + box))
        else { return nil }
        return (members, SingleUseIDToken(digest: digest, expiresAt: until))
    }

    private func additional(_ context: String, _ tenant: TenantID?) -> [UInt8] {
        let restored = tenant.flatMap { restores[$0] }
        return Array((restored.map { "\(context)\0\($0.microseconds)" } ?? context).utf8)
    }
}

extension JSONValue {
    /// A time that a token states.
    var microseconds: Timestamp? {
        integer.map { Timestamp(microseconds: $0) }
    }
}
