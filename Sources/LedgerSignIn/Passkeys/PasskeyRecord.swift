internal import Encodings
internal import JSON
internal import Ledger
internal import Passkeys

/// The text of a passkey as it is stored, encrypted: its public key, its counter, and the values that a use is
/// checked against.
struct PasskeyRecord {
    let passkey: StoredPasskey
    let transports: [String]
    /// Whether the passkey had been copied to other devices at the last use; of a second factor, at its enrolment.
    let isBackedUp: Bool
    /// The domain of a second factor; nil for an identity, whose provider is known.
    let domain: String?

    /// Describes a passkey.
    init(
        _ passkey: StoredPasskey, transports: [String], isBackedUp: Bool, domain: String? = nil
    ) {
        self.passkey = passkey
        self.transports = transports
        self.isBackedUp = isBackedUp
        self.domain = domain
    }

    /// Reads a stored text; nil for one of another form.
    init?(_ text: String) {
        guard let (count, json) = NewPassword.passkey(text),
            let members = JSONValue(parsing: Array(json.utf8))?.members,
            let id = members["id"]?.string.flatMap({ Base64URL.decode($0) }),
            let algorithm = members["alg"]?.integer.flatMap({ PasskeyAlgorithm(rawValue: Int($0)) }
            ),
            let key = members["key"]?.string.flatMap({ Base64URL.decode($0) }),
            let handle = members["user"]?.string.flatMap({ Base64URL.decode($0) })
        else { return nil }
        passkey = StoredPasskey(
            credentialID: id, publicKey: PasskeyPublicKey(stored: algorithm, bytes: key),
            signatureCount: count,
            isBackupEligible: members["backup"] == .bool(true), userHandle: handle)
        isBackedUp = members["backed_up"] == .bool(true)
        transports = members["transports"]?.array?.compactMap(\.string) ?? []
        domain = members["domain"]?.string
    }

    /// The text that is stored.
    var stored: NewPassword {
        var writer = JSONWriter(reserving: 512)
        writer.object { writer in
            writer.member("id", Base64URL.encode(passkey.credentialID))
            writer.name("alg")
            writer.number(Int64(passkey.publicKey.algorithm.rawValue))
            writer.member("key", Base64URL.encode(passkey.publicKey.bytes))
            writer.member("user", Base64URL.encode(passkey.userHandle))
            writer.name("backup")
            writer.flag(passkey.isBackupEligible)
            writer.name("backed_up")
            writer.flag(isBackedUp)
            writer.name("transports")
            writer.texts(transports)
            writer.member("domain", domain)
        }
        return NewPassword(
            passkey: String(decoding: writer.bytes, as: UTF8.self), count: passkey.signatureCount)
    }

    /// Returns the record after a use; nil if it is the same.
    func renewed(by use: PasskeyUse) -> PasskeyRecord? {
        guard use.signatureCount != passkey.signatureCount || use.isBackedUp != isBackedUp else {
            return nil
        }
        return PasskeyRecord(
            StoredPasskey(
                credentialID: passkey.credentialID, publicKey: passkey.publicKey,
                signatureCount: use.signatureCount, isBackupEligible: passkey.isBackupEligible,
                userHandle: passkey.userHandle), transports: transports,
            isBackedUp: use.isBackedUp, domain: domain)
    }
}
