internal import Encodings
internal import JSON

/// The members that both kinds of responses have.
struct ResponseMembers {
    let credentialID: [UInt8]
    let response: JSONMembers

    /// Checks the members outside the `response`.
    init(_ json: JSONValue) throws(PasskeyFault) {
        guard
            let members = json.members, let id = members["id"]?.string,
            let rawID = members["rawId"]?.string, id.isExactly(rawID),
            members["type"] == .string("public-key"),
            let response = members["response"]?.members
        else { throw .malformedResponse }
        if let extensions = members.present("clientExtensionResults") {
            guard extensions.members != nil else { throw .malformedResponse }
        }
        if let attachment = members.present("authenticatorAttachment") {
            guard attachment.string != nil else { throw .malformedResponse }
        }
        credentialID = try Self.bytes(.string(id), max: PasskeyLimits.credentialIDBytesMax)
        self.response = response
    }

    /// Parses a response within its limit.
    static func parse(_ bytes: [UInt8]) throws(PasskeyFault) -> JSONValue {
        guard bytes.count <= PasskeyLimits.responseBytesMax else { throw .tooLong }
        guard let json = JSONValue(parsing: bytes) else { throw .malformedResponse }
        return json
    }

    /// Decodes base64url of at most so many bytes.
    static func bytes(_ value: JSONValue?, max: Int) throws(PasskeyFault) -> [UInt8] {
        guard let text = value?.string else { throw .malformedResponse }
        guard text.utf8.count <= Base64URL.textCount(max) else { throw .tooLong }
        guard let bytes = Base64URL.decode(text) else { throw .malformedResponse }
        return bytes
    }
}
