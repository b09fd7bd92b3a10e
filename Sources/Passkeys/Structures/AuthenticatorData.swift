/// An authenticator's answer, which it has signed: WebAuthn level 3, section 6.1.
struct AuthenticatorData {
    /// The flags of the answer; reserved ones are ignored.
    struct Flags: OptionSet {
        static let userPresent = Flags(rawValue: 1 << 0)
        static let userVerified = Flags(rawValue: 1 << 2)
        static let backupEligible = Flags(rawValue: 1 << 3)
        static let backedUp = Flags(rawValue: 1 << 4)
        static let credential = Flags(rawValue: 1 << 6)
        static let extensions = Flags(rawValue: 1 << 7)

        let rawValue: UInt8
    }

    /// A credential in the answer.
    struct Credential {
        let aaguid: [UInt8]
        let id: [UInt8]
        let algorithm: PasskeyAlgorithm
    }

    private static let hashByteCount = 32
    private static let headByteCount = 37
    private static let aaguidByteCount = 16

    /// All bytes of the answer.
    let bytes: [UInt8]
    /// The SHA-256 of the relying party's id.
    let relyingPartyHash: [UInt8]
    let flags: Flags
    let signatureCount: UInt32
    /// The credential of a registration.
    let credential: Credential?
    /// The map of the extensions; nil without extensions.
    let extensions: CBORValue?

    /// Parses the bytes, which must have the parts that the flags tell, and no others.
    init(_ bytes: [UInt8]) throws(PasskeyFault) {
        guard bytes.count >= Self.headByteCount else { throw .malformedAuthenticatorData }
        self.bytes = bytes
        relyingPartyHash = Array(bytes[..<Self.hashByteCount])
        flags = Flags(rawValue: bytes[Self.hashByteCount])
        signatureCount = bytes[(Self.hashByteCount + 1)..<Self.headByteCount]
            .reduce(0) { $0 << 8 | UInt32($1) }
        var index = Self.headByteCount
        credential =
            flags.contains(.credential) ? try Self.credential(in: bytes, at: &index) : nil
        extensions =
            flags.contains(.extensions) ? try Self.extensions(in: bytes, at: &index) : nil
        guard index == bytes.count else { throw .malformedAuthenticatorData }
    }

    private static func credential(
        in bytes: [UInt8], at index: inout Int
    ) throws(PasskeyFault) -> Credential {
        let idIndex = index + aaguidByteCount + 2
        guard bytes.count >= idIndex else { throw .malformedAuthenticatorData }
        let aaguid = Array(bytes[index..<(index + aaguidByteCount)])
        let idCount = Int(bytes[idIndex - 2]) << 8 | Int(bytes[idIndex - 1])
        guard (1...PasskeyLimits.credentialIDBytesMax).contains(idCount) else {
            throw .credentialIDLength
        }
        guard bytes.count - idIndex >= idCount else { throw .malformedAuthenticatorData }
        let id = Array(bytes[idIndex..<(idIndex + idCount)])
        var reader = CBORReader(bytes, from: idIndex + idCount)
        guard let key = try? reader.value(), let number = key[3]?.integer else {
            throw .malformedAuthenticatorData
        }
        guard let algorithm = PasskeyAlgorithm(rawValue: number) else {
            throw .unsupportedAlgorithm
        }
        index = reader.index
        return Credential(aaguid: aaguid, id: id, algorithm: algorithm)
    }

    private static func extensions(
        in bytes: [UInt8], at index: inout Int
    ) throws(PasskeyFault) -> CBORValue {
        var reader = CBORReader(bytes, from: index)
        guard let map = try? reader.value(), map.pairs != nil else {
            throw .malformedAuthenticatorData
        }
        index = reader.index
        return map
    }
}
