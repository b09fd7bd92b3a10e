internal import JSON

/// The authenticator data of a registration and a statement about them: WebAuthn level 3, section 6.5.4.
struct AttestationObject {
    /// The format of the statement.
    let format: String
    /// A map.
    let statement: CBORValue
    /// The statement as it was sent.
    let statementBytes: [UInt8]
    let authenticatorData: [UInt8]

    /// Parses a map of exactly the three members.
    init(_ bytes: [UInt8]) throws(PasskeyFault) {
        guard let read = try? Self.read(bytes) else { throw .malformedAttestationObject }
        self = read
    }

    private init(
        format: String, statement: CBORValue, statementBytes: [UInt8], authenticatorData: [UInt8]
    ) {
        self.format = format
        self.statement = statement
        self.statementBytes = statementBytes
        self.authenticatorData = authenticatorData
    }

    private static func read(_ bytes: [UInt8]) throws(NotCBOR) -> AttestationObject {
        // The initial byte of a map of three pairs.
        guard bytes.first == 0xA3 else { throw NotCBOR() }
        var reader = CBORReader(bytes, from: 1)
        var format: String?
        var statement: (value: CBORValue, bytes: [UInt8])?
        var data: [UInt8]?
        for _ in 0..<3 {
            let name = try reader.value().text
            let start = reader.index
            let value = try reader.value()
            if name.isExactly("fmt") {
                format = value.text
            } else if name.isExactly("attStmt"), value.pairs != nil {
                statement = (value, Array(bytes[start..<reader.index]))
            } else if name.isExactly("authData") {
                data = value.bytes
            }
        }
        guard reader.isAtEnd, let format, let statement, let data else { throw NotCBOR() }
        return AttestationObject(
            format: format, statement: statement.value, statementBytes: statement.bytes,
            authenticatorData: data)
    }

    /// Returns the kind of attestation, whose signature is not yet verified.
    func attestation(
        of credential: AuthenticatorData.Credential
    ) throws(PasskeyFault) -> PasskeyAttestation {
        if format.isExactly("none") {
            guard statement.pairs?.isEmpty == true else { throw .invalidAttestation }
            return .none
        }
        if format.isExactly("packed") {
            guard statement["x5c"] == nil else { return .certificate }
            guard statement["alg"]?.integer == credential.algorithm.rawValue else {
                throw .invalidAttestation
            }
            return .selfSigned
        }
        guard format.isExactly("fido-u2f") else { throw .unsupportedAttestation }
        guard credential.algorithm == .es256, statement["x5c"] != nil else {
            throw .invalidAttestation
        }
        return .certificate
    }
}
