package import JSON

/// A browser's response to ``PasskeyCreationOptions``, not yet verified; its parts are within the limits.
package struct RegistrationResponse: Hashable, Sendable {
    /// The id of the credential.
    package let credentialID: [UInt8]
    /// The bytes that the browser has hashed.
    package let clientDataJSON: [UInt8]
    /// The authenticator's answer.
    package let attestationObject: [UInt8]
    /// The ways to reach the authenticator, such as `internal` and `usb`.
    package let transports: [String]

    /// Checks the lengths.
    ///
    /// - Parameters:
    ///   - credentialID: the id of the credential.
    ///   - clientDataJSON: the client data as the browser sent them.
    ///   - attestationObject: the attestation object in CBOR.
    ///   - transports: names of visible ASCII characters; unknown ones are accepted.
    /// - Throws: `tooLong`, `credentialIDLength`, or `malformedResponse` for the transports.
    package init(
        credentialID: [UInt8], clientDataJSON: [UInt8], attestationObject: [UInt8],
        transports: [String] = []
    ) throws(PasskeyFault) {
        guard (1...PasskeyLimits.credentialIDBytesMax).contains(credentialID.count) else {
            throw .credentialIDLength
        }
        guard
            clientDataJSON.count <= PasskeyLimits.clientDataBytesMax,
            attestationObject.count <= PasskeyLimits.attestationObjectBytesMax
        else { throw .tooLong }
        guard
            transports.count <= PasskeyLimits.transportCountMax,
            transports.allSatisfy({ name in
                (1...PasskeyLimits.transportBytesMax).contains(name.utf8.count)
                    && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            })
        else { throw .malformedResponse }
        self.credentialID = credentialID
        self.clientDataJSON = clientDataJSON
        self.attestationObject = attestationObject
        self.transports = transports
    }

    /// Reads the JSON of `credential.toJSON()`.
    ///
    /// - Throws: `malformedResponse`, `tooLong`, `credentialIDLength`.
    package init(parsing bytes: [UInt8]) throws(PasskeyFault) {
        try self.init(ResponseMembers.parse(bytes))
    }

    /// Reads a parsed `RegistrationResponseJSON`.
    ///
    /// Unknown members are ignored, and so are those that repeat parts of the attestation object.
    ///
    /// - Throws: `malformedResponse`, `tooLong`, `credentialIDLength`.
    package init(_ json: JSONValue) throws(PasskeyFault) {
        let members = try ResponseMembers(json)
        let response = members.response
        var transports: [String] = []
        if let listed = response.present("transports") {
            guard let elements = listed.array else { throw .malformedResponse }
            for element in elements {
                guard let name = element.string else { throw .malformedResponse }
                transports.append(name)
            }
        }
        try self.init(
            credentialID: members.credentialID,
            clientDataJSON: ResponseMembers.bytes(
                response["clientDataJSON"], max: PasskeyLimits.clientDataBytesMax),
            attestationObject: ResponseMembers.bytes(
                response["attestationObject"], max: PasskeyLimits.attestationObjectBytesMax),
            transports: transports)
    }
}
