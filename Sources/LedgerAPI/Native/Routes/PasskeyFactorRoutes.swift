internal import HTTP
internal import JSON
internal import Ledger
internal import LedgerSignIn
internal import Passkeys

/// `POST /v1/account/factor-enrolments/passkey`: the options of a passkey that is to be a second factor.
struct BeginPasskeyFactorRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/factor-enrolments/passkey"
    static let operation = Operation(
        id: "begin_passkey_factor", tag: .account,
        summary: "The options with which a browser makes a passkey, to enrol as a second factor",
        about: "An enrolment by the same session with the browser's response adds the factor.",
        access: .accountHolder, body: CreatePasskeyBody.self,
        answers: .json(PasskeyOptionsAnswer.schema), refusals: [.refused(.unsupportedProvider)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, names, provider) = try await call.byAccountHolder { caller throws(APIError) in
            (caller, try call.passkeyNames(), try call.passkeyProviders()[0])
        }
        _ = try await call.identities(of: caller)
        do throws(LedgerFault) {
            let challenge = try await call.services.secondFactors.beginPasskey(
                by: caller, name: names.name ?? provider.settings.relyingParty.name,
                displayName: names.displayName ?? "", of: provider, in: call.tenant, at: call.now)
            return .json(
                PasskeyOptionsAnswer(challengeID: challenge.id, options: challenge.options))
        } catch {
            throw .faulted(error)
        }
    }
}

/// `POST /v1/auth/second-factor/passkey`: the options with which a passkey finishes a sign-in.
struct SecondFactorPasskeyRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/second-factor/passkey"
    static let operation = Operation(
        id: "begin_passkey_second_step", tag: .signIn,
        summary: "The options with which a browser uses a passkey that is a second factor",
        about: "The browser's response finishes the sign-in of this `sign_in_token` alone.",
        access: .anyone, body: SecondFactorPasskeyBody.self,
        answers: .json(PasskeyOptionsAnswer.schema),
        refusals: [.refused(.unsupportedProvider), .refused(.invalidCode)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let body = try call.body()
        let token = try body.text(SecondFactorBody.signInToken)
        let factor = try body.text(SecondFactorBody.factorID)
        let providers = try call.passkeyProviders()
        let factors = call.services.secondFactors
        do throws(CodeFailure) {
            let first = try factors.firstStep(token, in: call.tenant, at: call.now)
            let challenge = try await factors.beginUse(
                of: factor, after: first, among: providers, in: call.tenant, at: call.now)
            return .json(
                PasskeyOptionsAnswer(challengeID: challenge.id, options: challenge.options))
        } catch {
            throw call.error(error, or: .invalidCode)
        }
    }
}

private enum SecondFactorPasskeyBody: BodyForm {
    static let name = "SecondFactorPasskeyRequest"
    static let members: [any BodyMember] = [
        SecondFactorBody.signInToken, SecondFactorBody.factorID,
    ]
}

extension RouteCall {
    /// Returns the tenant's providers of passkeys, in the order of their names; the first one's domain is that of new
    /// second factors.
    ///
    /// - Throws: 400 for a tenant without one.
    fileprivate func passkeyProviders() throws(APIError) -> [PasskeyProvider] {
        let providers = configuration.providers.values.compactMap { provider in
            if case .passkey(let settings) = provider.settings {
                (name: provider.name, settings: settings)
            } else {
                nil
            }
        }
        guard !providers.isEmpty else { throw .refused(.unsupportedProvider) }
        return providers.sorted { $0.name < $1.name }
    }

    /// Reads the response of a passkey that is a second factor; nil for a code.
    ///
    /// - Throws: 400 without its challenge, and for a tenant without passkeys.
    func passkeyUse(_ body: RequestBody) throws(APIError) -> SecondFactors.PasskeyUse? {
        guard let credential = try body.object(OptionalObject.credential) else { return nil }
        guard let challenge = try body.text(OptionalText.challengeID) else {
            throw .isRequired(OptionalText.challengeID.name)
        }
        return SecondFactors.PasskeyUse(
            PasskeyBody(challenge: challenge, credential: credential),
            among: try passkeyProviders())
    }
}
