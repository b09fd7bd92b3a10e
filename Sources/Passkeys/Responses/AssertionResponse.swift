package import JSON

/// A browser's response to ``PasskeyRequestOptions``, not yet verified; its parts are within the limits.
package struct AssertionResponse: Hashable, Sendable {
    /// The id of the credential, by which the caller finds it.
    package let credentialID: [UInt8]
    /// The bytes that the browser has hashed.
    package let clientDataJSON: [UInt8]
    /// The authenticator's answer.
    package let authenticatorData: [UInt8]
    /// The signature of both.
    package let signature: [UInt8]
    /// The user handle that the authenticator stored with the credential; nil without it.
    package let userHandle: [UInt8]?

    /// Checks the lengths.
    ///
    /// - Parameters:
    ///   - credentialID: the id of the credential.
    ///   - clientDataJSON: the client data as the browser sent them.
    ///   - authenticatorData: the authenticator data.
    ///   - signature: the signature.
    ///   - userHandle: the user handle, if there is one.
    /// - Throws: `tooLong`, or `credentialIDLength`.
    package init(
        credentialID: [UInt8], clientDataJSON: [UInt8], authenticatorData: [UInt8],
        signature: [UInt8], userHandle: [UInt8]?
    ) throws(PasskeyFault) {
        guard (1...PasskeyLimits.credentialIDBytesMax).contains(credentialID.count) else {
            throw .credentialIDLength
        }
        guard
            clientDataJSON.count <= PasskeyLimits.clientDataBytesMax,
            authenticatorData.count <= PasskeyLimits.authenticatorDataBytesMax,
            signature.count <= PasskeyLimits.signatureBytesMax,
            (userHandle?.count ?? 0) <= PasskeyLimits.userHandleBytesMax
        else { throw .tooLong }
        self.credentialID = credentialID
        self.clientDataJSON = clientDataJSON
        self.authenticatorData = authenticatorData
        self.signature = signature
        self.userHandle = userHandle
    }

    /// Reads the JSON of `credential.toJSON()`.
    ///
    /// - Throws: `malformedResponse`, `tooLong`, `credentialIDLength`.
    package init(parsing bytes: [UInt8]) throws(PasskeyFault) {
        try self.init(ResponseMembers.parse(bytes))
    }

    /// Reads a parsed `AuthenticationResponseJSON`; unknown members are ignored.
    ///
    /// Some browsers have an empty user handle where an authenticator, such as a U2F security key, has stored none.
    ///
    /// - Throws: `malformedResponse`, `tooLong`, `credentialIDLength`.
    package init(_ json: JSONValue) throws(PasskeyFault) {
        let members = try ResponseMembers(json)
        let response = members.response
        var userHandle: [UInt8]?
        if let handle = response.present("userHandle") {
            let bytes = try ResponseMembers.bytes(handle, max: PasskeyLimits.userHandleBytesMax)
            userHandle = bytes.isEmpty ? nil : bytes
        }
        try self.init(
            credentialID: members.credentialID,
            clientDataJSON: ResponseMembers.bytes(
                response["clientDataJSON"], max: PasskeyLimits.clientDataBytesMax),
            authenticatorData: ResponseMembers.bytes(
                response["authenticatorData"], max: PasskeyLimits.authenticatorDataBytesMax),
            signature: ResponseMembers.bytes(
                response["signature"], max: PasskeyLimits.signatureBytesMax),
            userHandle: userHandle)
    }
}
