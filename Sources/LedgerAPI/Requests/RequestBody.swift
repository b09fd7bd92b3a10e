internal import JSON

/// The members of a request's body; unknown ones are ignored.
struct RequestBody {
    /// The maximum length of a token in a body, in bytes; the limit of `CompactJWS`.
    static let tokenBytesMax = 16_384
    /// The maximum length of another provider's access token in a body, in bytes.
    static let accessTokenBytesMax = 4096
    /// The maximum length of a nonce in a body, in bytes.
    static let nonceBytesMax = 1024

    private let members: JSONMembers

    init(_ members: JSONMembers) {
        self.members = members
    }

    /// Returns a required string that is not empty.
    func text(_ member: RequiredText) throws(APIError) -> String {
        let text = try text(member.name, bytesMax: member.bytesMax)
        guard let text, !text.isEmpty else {
            throw .isRequired(member.name)
        }
        return text
    }

    /// Returns an optional string; null means absent.
    func text(_ member: OptionalText) throws(APIError) -> String? {
        try text(member.name, bytesMax: member.bytesMax)
    }

    /// Returns an optional object of strings; null means absent.
    func choices(_ member: OptionalChoices) throws(APIError) -> [(name: String, text: String)] {
        let name = member.name
        guard let value = members.present(name) else { return [] }
        guard let members = value.members else {
            throw .invalidRequest(RequestFlaw("\(name) must be an object", at: .field(name)))
        }
        var texts: [(name: String, text: String)] = []
        for key in members.keys {
            guard let text = members[key]?.string else {
                throw .invalidRequest(
                    RequestFlaw("\(name) must contain only strings", at: .field(name)))
            }
            texts.append((name: key, text: text))
        }
        return texts
    }

    /// Returns an optional Boolean; null means absent.
    func flag(_ member: OptionalFlag) throws(APIError) -> Bool? {
        let name = member.name
        guard let value = members.present(name) else { return nil }
        guard case .bool(let flag) = value else {
            throw .invalidRequest(RequestFlaw("\(name) must be true or false", at: .field(name)))
        }
        return flag
    }

    private func text(_ name: String, bytesMax: Int) throws(APIError) -> String? {
        guard let value = members.present(name) else { return nil }
        guard let text = value.string else {
            throw .invalidRequest(RequestFlaw("\(name) must be a string", at: .field(name)))
        }
        guard text.utf8.count <= bytesMax else {
            throw .invalidRequest(
                RequestFlaw("\(name) must have at most \(bytesMax) bytes", at: .field(name)))
        }
        return text
    }
}

extension APIError {
    /// The refusal of a body without a member that it needs.
    static func isRequired(_ member: String) -> APIError {
        .invalidRequest(RequestFlaw("\(member) is required", at: .field(member)))
    }
}
