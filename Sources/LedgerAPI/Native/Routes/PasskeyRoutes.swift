internal import HTTP
import JSON
internal import Ledger
internal import LedgerSignIn
internal import Passkeys

/// `POST /v1/auth/passkeys/{passkey_provider}/create`: the options of a sign-up with a passkey.
struct SignUpPasskeyRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/passkeys/{passkey_provider}/create"
    static let operation = Operation(
        id: "begin_passkey_sign_up", tag: .signIn,
        summary: "The options with which a browser makes a passkey, to sign up",
        about: "A sign-in with the browser's response opens the account.", access: .anyone,
        body: CreatePasskeyBody.self, answers: .json(PasskeyOptionsAnswer.schema),
        refusals: [.refused(.unsupportedProvider)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let names = try call.passkeyNames()
        let (provider, settings) = try call.namedPasskeyProvider()
        return try await call.created(.signUp, names, provider, settings)
    }
}

/// `POST /v1/auth/passkeys/{passkey_provider}/get`: the options of a sign-in with a passkey.
struct SignInPasskeyRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/passkeys/{passkey_provider}/get"
    static let operation = Operation(
        id: "begin_passkey_sign_in", tag: .signIn,
        summary: "The options with which a browser uses a passkey, to sign in",
        about: "They name no passkey, so they are the same for everybody.", access: .anyone,
        body: EmptyBody.self, answers: .json(PasskeyOptionsAnswer.schema),
        refusals: [.refused(.unsupportedProvider)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        _ = try call.body()
        let (provider, settings) = try call.namedPasskeyProvider()
        return try call.used(.signIn, provider, settings)
    }
}

/// `POST /v1/account/passkeys/{passkey_provider}/create`: the options of another passkey of the caller's account.
struct LinkPasskeyRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/passkeys/{passkey_provider}/create"
    static let operation = Operation(
        id: "begin_passkey_link", tag: .account,
        summary: "The options with which a browser makes a passkey, to link",
        about: "A link by the same session with the browser's response adds the passkey.",
        access: .accountHolder, body: CreatePasskeyBody.self,
        answers: .json(PasskeyOptionsAnswer.schema), refusals: [.refused(.unsupportedProvider)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, names, provider) = try await call.byAccountHolder { caller throws(APIError) in
            (caller, try call.passkeyNames(), try call.namedPasskeyProvider())
        }
        _ = try await call.identities(of: caller)
        return try await call.created(.link(caller), names, provider.name, provider.settings)
    }
}

/// `POST /v1/account/passkeys/{passkey_provider}/get`: the options of a merge that a passkey proves.
struct MergePasskeyRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/passkeys/{passkey_provider}/get"
    static let operation = Operation(
        id: "begin_passkey_merge", tag: .account,
        summary: "The options with which a browser uses a passkey, to merge",
        about:
            "Without `plan_digest` the browser's response previews a merge; with it, it agrees to that merge"
            + " plan alone.",
        access: .accountHolder, body: MergePasskeyBody.self,
        answers: .json(PasskeyOptionsAnswer.schema), refusals: [.refused(.unsupportedProvider)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, plan, provider) = try await call.byAccountHolder { caller throws(APIError) in
            (
                caller, try call.body().text(MergePasskeyBody.planDigest),
                try call.namedPasskeyProvider()
            )
        }
        _ = try await call.identities(of: caller)
        return try call.used(.merge(caller, plan: plan), provider.name, provider.settings)
    }
}

enum CreatePasskeyBody: BodyForm {
    static let name = "PasskeyRequest"
    static let userName = OptionalText(
        name: "user_name", bytesMax: PasskeyChecks.nameBytesMax,
        about:
            "The name by which the authenticator tells accounts apart; by default that of the service",
        example: "ada@example.com", isInExample: true)
    static let displayName = OptionalText(
        name: "display_name", bytesMax: PasskeyChecks.nameBytesMax,
        about: "The name of the person; empty by default", example: "Ada Lovelace")
    static let members: [any BodyMember] = [userName, displayName]
    static let mayBeEmpty = true
}

private enum MergePasskeyBody: BodyForm {
    static let name = "PasskeyMergeRequest"
    static let planDigest = OptionalText.planDigest
    static let members: [any BodyMember] = [planDigest]
    static let mayBeEmpty = true
}

/// A challenge, and the options for the browser.
struct PasskeyOptionsAnswer: JSONWritable {
    let challengeID: String
    let options: any JSONWritable

    static let schema = Schema.object(
        "PasskeyOptions",
        [
            .required("challenge_id", .text("cGFzc2tleSBjaGFsbGVuZ2U"), "Sent with the response"),
            .required("expires_in", .integer(PasskeyChecks.challengeSeconds), "In seconds"),
            .required(
                "options", .anyObject,
                "For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`"
            ),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("challenge_id", challengeID)
            writer.name("expires_in")
            writer.number(PasskeyChecks.challengeSeconds)
            writer.name("options")
            options.write(to: &writer)
        }
    }
}

extension RouteCall {
    /// Returns the provider of passkeys that the path names.
    ///
    /// - Throws: 400 for any other provider.
    fileprivate func namedPasskeyProvider() throws(APIError) -> (
        name: ProviderName, settings: PasskeySettings
    ) {
        let name = captures["passkey_provider"].flatMap(ProviderName.init)
        guard let name, case .passkey(let settings)? = configuration(of: name)?.settings else {
            throw .refused(.unsupportedProvider)
        }
        return (name, settings)
    }

    func passkeyNames() throws(APIError) -> (name: String?, displayName: String?) {
        let body = try body()
        // Browsers refuse an empty name.
        let name = try body.text(CreatePasskeyBody.userName).flatMap { $0.isEmpty ? nil : $0 }
        return (name, try body.text(CreatePasskeyBody.displayName))
    }

    fileprivate func created(
        _ use: PasskeyChecks.Use, _ names: (name: String?, displayName: String?),
        _ provider: ProviderName, _ settings: PasskeySettings
    ) async throws(APIError) -> HTTPResponse {
        do throws(LedgerFault) {
            var factors: [StoredFactor] = []
            if case .link(let caller) = use {
                factors = try await services.secondFactors.passkeys(
                    of: caller.account, in: tenant)
            }
            let challenge = try await services.passkeys.beginRegistration(
                for: use, name: names.name ?? settings.relyingParty.name,
                displayName: names.displayName ?? "", besides: factors, of: provider, settings,
                in: tenant, at: now)
            return .json(
                PasskeyOptionsAnswer(challengeID: challenge.id, options: challenge.options))
        } catch {
            throw .faulted(error)
        }
    }

    fileprivate func used(
        _ use: PasskeyChecks.Use, _ provider: ProviderName, _ settings: PasskeySettings
    ) throws(APIError) -> HTTPResponse {
        do throws(LedgerFault) {
            let challenge = try services.passkeys.beginAssertion(
                for: use, of: provider, settings, in: tenant, at: now)
            return .json(
                PasskeyOptionsAnswer(challengeID: challenge.id, options: challenge.options))
        } catch {
            throw .faulted(error)
        }
    }
}
