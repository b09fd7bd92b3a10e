internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire
internal import UnicodeText

/// `GET /v1/account`: the identities that can sign in to the caller's account, and what support planned.
struct AccountRoute: Route {
    static let method = "GET"
    static let path = "/v1/account"
    static let operation = Operation(
        id: "get_account", tag: .account, summary: "The identities of the caller's account",
        access: .accountHolder, answers: .json(AccountAnswer.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        try await call.account(of: try call.caller())
    }
}

extension RouteCall {
    /// Answers with the account of a caller whose session is live.
    func account(of caller: Caller) async throws(APIError) -> HTTPResponse {
        let linked = try await linkedAccount(of: caller)
        let identities = linked.identities
        let names = try await names(of: identities)
        var providers: [String] = []
        for identity in identities where !providers.contains(identity.provider.description) {
            providers.append(identity.provider.description)
        }
        return .json(
            AccountAnswer(
                userID: caller.account.description, linkedProviders: providers,
                identities: identities.map { identity in
                    AccountAnswer.Identity(
                        identityID: identity.id.description,
                        provider: identity.provider.description,
                        name: names[identity.id]?.description, email: identity.email?.address,
                        emailVerified: identity.email?.isVerified,
                        linkedAt: identity.linkedAt.description,
                        unlinkDue: identity.unlinkDue?.description)
                }, factorRemovals: try await factorRemovals(of: caller, linked)))
    }

    /// Returns the second factors whose removal support planned; nil without one, which costs no read.
    private func factorRemovals(
        of caller: Caller, _ linked: LinkedAccount
    ) async throws(APIError) -> [FactorAnswer]? {
        guard linked.hasPlannedRemoval else { return nil }
        let planned = try await factors(of: caller.account).map(\.answer)
            .filter { $0.removalDue != nil }
        // It was stopped since.
        return planned.isEmpty ? nil : planned
    }

    /// Returns the names of passkeys; other identities have none, and cost no read.
    private func names(
        of identities: [LinkedIdentity]
    ) async throws(APIError) -> [IdentityID: IdentityName] {
        let named = identities.filter { isPasskey($0) }.map(\.id)
        guard !named.isEmpty else { return [:] }
        do {
            return try await services.names.names(of: named, in: tenant)
        } catch {
            throw .faulted(error)
        }
    }

    fileprivate func isPasskey(_ identity: LinkedIdentity) -> Bool {
        configuration.policy.providers[identity.provider]?.type == .passkey
    }
}

/// `PUT /v1/account/identities/{identity_id}/name`: names a passkey.
struct NameIdentityRoute: Route {
    static let method = "PUT"
    static let path = "/v1/account/identities/{identity_id}/name"
    static let operation = Operation(
        id: "name_identity", tag: .account, summary: "Name a passkey",
        about: "The name replaces a former one, and goes with the passkey. It stands in no event.",
        access: .accountHolder, body: IdentityNameBody.self,
        answers: .json(AccountAnswer.schema), refusals: [.refused(.providerNotLinked)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, name) = try await call.byAccountHolder { caller throws(APIError) in
            let text = UnicodeText.nfc(try call.body().text(IdentityNameBody.text))
            guard let name = IdentityName(text) else {
                throw .invalidRequest(
                    RequestFlaw("name must be \(IdentityName.form)", at: .field("name")))
            }
            return (caller, name)
        }
        let linked = try await call.identities(of: caller)
        guard let identity = linked.first(where: { $0.id == call.identity }),
            call.isPasskey(identity)
        else { throw .refused(.providerNotLinked) }
        let isNamed: Bool
        do {
            isNamed = try await call.services.names.give(
                name, to: identity.id, of: caller.account, in: call.tenant)
        } catch {
            throw .faulted(error)
        }
        // It was unlinked since.
        guard isNamed else { throw .refused(.providerNotLinked) }
        return try await call.account(of: caller)
    }
}

/// The body of a passkey's name.
enum IdentityNameBody: BodyForm {
    static let name = "IdentityNameRequest"
    static let text = RequiredText(
        name: "name", bytesMax: IdentityName.bytesMax,
        about: "The name: \(IdentityName.form)", example: "Work phone")
    static let members: [any BodyMember] = [text]
}
