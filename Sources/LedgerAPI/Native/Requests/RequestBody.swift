internal import JSON
internal import Ledger
internal import LedgerSignIn

/// The members of a request's body; unknown ones are ignored.
struct RequestBody {
    /// The maximum length of a token in a body, in bytes; the limit of `CompactJWS`.
    static let tokenBytesMax = 16_384
    /// The maximum length of another provider's access token in a body, in bytes.
    static let accessTokenBytesMax = 4096
    /// The maximum length of an anonymous account's secret in a body, in bytes.
    static let anonymousSecretBytesMax = 64
    /// The maximum length of an attestation in a body, in bytes: those of App Attest have about 8,000.
    static let attestationBytesMax = 16_384
    /// The maximum length of a challenge's id and of a code in a body, in bytes.
    static let challengeBytesMax = 64
    /// The maximum length of a nonce in a body, in bytes.
    static let nonceBytesMax = 1024

    private let members: JSONMembers
    private let form: any BodyForm.Type
    /// The result of the page's own flow, which is in a cookie; nil for another client.
    let pageFlow: FlowBody?
    /// The token of the page's device, which is in a cookie; nil for another client.
    private let pageDevice: String?

    init(
        _ members: JSONMembers, _ form: any BodyForm.Type, pageFlow: FlowBody?,
        pageDevice: String?
    ) {
        self.members = members
        self.form = form
        self.pageFlow = pageFlow
        self.pageDevice = pageDevice
    }

    /// Returns the token of the client's device; nil without one.
    ///
    /// - Throws: 400 for another value than a text, and for one that is too long.
    func deviceToken() throws(APIError) -> String? {
        try text(OptionalText.deviceToken) ?? pageDevice
    }

    /// Returns a required string that is not empty.
    func text(_ member: RequiredText) throws(APIError) -> String {
        let text = try text(member, bytesMax: member.bytesMax)
        guard let text, !text.isEmpty else {
            throw .isRequired(member.name)
        }
        return text
    }

    /// Returns an optional string; null means absent.
    func text(_ member: OptionalText) throws(APIError) -> String? {
        try text(member, bytesMax: member.bytesMax)
    }

    /// Returns an optional object of strings; null means absent.
    func choices(_ member: OptionalChoices) throws(APIError) -> [(name: String, text: String)] {
        let name = member.name
        guard let value = try value(of: member) else { return [] }
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

    /// Returns an optional object of any form; null means absent.
    func object(_ member: OptionalObject) throws(APIError) -> JSONValue? {
        guard let value = try value(of: member) else { return nil }
        guard value.members != nil else {
            throw .invalidRequest(
                RequestFlaw("\(member.name) must be an object", at: .field(member.name)))
        }
        return value
    }

    /// Returns an optional Boolean; null means absent.
    func flag(_ member: OptionalFlag) throws(APIError) -> Bool? {
        let name = member.name
        guard let value = try value(of: member) else { return nil }
        guard case .bool(let flag) = value else {
            throw .invalidRequest(RequestFlaw("\(name) must be true or false", at: .field(name)))
        }
        return flag
    }

    private func text(_ member: some BodyMember, bytesMax: Int) throws(APIError) -> String? {
        let name = member.name
        guard let value = try value(of: member) else { return nil }
        guard let text = value.string else {
            throw .invalidRequest(RequestFlaw("\(name) must be a string", at: .field(name)))
        }
        guard text.utf8.count <= bytesMax else {
            throw .invalidRequest(
                RequestFlaw("\(name) must have at most \(bytesMax) bytes", at: .field(name)))
        }
        return text
    }

    /// Returns the value of a member; nil when it is absent or null.
    ///
    /// - Throws: 500 unless the form has the member, so that no route reads more than is described.
    private func value(of member: some BodyMember) throws(APIError) -> JSONValue? {
        guard form.members.contains(where: { $0.name == member.name }) else {
            throw .faulted(.internalFailure)
        }
        return members.present(member.name)
    }
}

extension RouteCall {
    /// Reads the body by the form in the route's description.
    ///
    /// - Throws: 400 or 415 for a body that is not in the surface's format; 500 for a route that
    ///   describes none.
    func body() throws(APIError) -> RequestBody {
        guard let form = operation.body else { throw .faulted(.internalFailure) }
        return RequestBody(
            try JSONBody.members(of: self, mayBeEmpty: form.mayBeEmpty), form,
            // Without a result in the cookie, what the page presents proves nothing.
            pageFlow: page.map { _ in pageFlow?.body ?? FlowBody(code: "", verifier: "") },
            pageDevice: page == nil ? nil : cookies(named: PageDeviceCookie.name).first)
    }
}

extension APIError {
    /// The refusal of a body without a member that it needs.
    static func isRequired(_ member: String) -> APIError {
        .invalidRequest(RequestFlaw("\(member) is required", at: .field(member)))
    }
}
