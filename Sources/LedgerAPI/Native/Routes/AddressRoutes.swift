internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire
internal import Passwords

/// `POST /v1/account/addresses/{code_provider}`: replaces the address with which an account is signed in to.
struct ChangeAddressRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/addresses/{code_provider}"
    static let operation = Operation(
        id: "change_address", tag: .account, summary: "Change an address of the account",
        about:
            "With a code that was sent to the new address for it. Needs the current password, or a sign-in in the"
            + " last minutes (`LEDGER_REAUTHENTICATION_SECONDS`). Ends all sessions and opens a new one, which is the answer. The former"
            + " address can be taken back for seven days, in which there is no other change.",
        access: .accountHolder, parameters: [IdempotencyHeader.refused],
        body: ChangeAddressBody.self, answers: .json(SessionAnswer.schema),
        refusals: .ofCode + [
            .refused(.invalidCode), .refused(.invalidPassword), .refused(.providerNotLinked),
            .refused(.providerConflict(.heldByOther)), .refused(.reauthenticationRequired),
            IdempotencyHeader.refusal, .faulted(.rulesDiffer),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = try await call.byAccountHolder { caller throws(APIError) -> Request in
            try IdempotencyHeader.refuse(call)
            return try Request(call, by: caller)
        }
        let agreement = try await call.agreement(
            of: request.caller, by: request.password, knownAs: request.device)
        let proof = try await call.proof(of: request.code, for: .change, by: request.caller)
        let (renewal, token) = try call.renewal(
            of: request.caller, password: agreement.password)
        let grant = try await call.submit(
            ChangeAddress(
                renewal, from: request.present, to: proof, newFormer: call.services.newID()))
        // The device token stays valid for the former address.
        let kept = agreement.addresses.filter { $0.names != request.present }
        return await call.session(
            grant, refreshToken: token, isNewUser: false,
            deviceToken: await call.services.codes.deviceToken(
                for: [proof.address].compactMap(\.self) + kept, agreement.account,
                presented: request.device, openedAt: grant.openedAt, in: call.tenant, at: call.now))
    }

    private struct Request {
        let caller: Caller
        let present: [AddressName]
        let code: CodeBody
        let password: CurrentPassword?
        let device: String?

        init(_ call: RouteCall, by caller: Caller) throws(APIError) {
            let body = try call.body()
            let (kind, address) = try call.address(
                ChangeAddressBody.currentAddress, mayBePassword: true, isSentTo: false)
            self.caller = caller
            device = try body.deviceToken()
            present = call.services.codes.names(of: address, kind, in: call.tenant)
            code = CodeBody(
                challenge: try body.text(ChangeAddressBody.challengeID),
                code: try body.text(ChangeAddressBody.code))
            guard let text = try body.text(ChangePasswordBody.currentPassword) else {
                password = nil
                return
            }
            guard let (provider, _) = call.passwords else { throw .refused(.unsupportedProvider) }
            let email = try body.text(OptionalText.email)
            guard let email = email ?? (kind == .email ? address : nil) else {
                throw .isRequired(OptionalText.email.name)
            }
            password = CurrentPassword(
                provider: provider, address: email,
                password: try text.password(ChangePasswordBody.currentPassword))
        }
    }
}

/// `POST /v1/auth/address-returns/{code_provider}`: sends the code by which a former address is taken back.
struct BeginAddressReturnRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/address-returns/{code_provider}"
    static let operation = Operation(
        id: "begin_address_return", tag: .signIn,
        summary: "Send a code to take a former address back with",
        about:
            "Only if an account had the address until a change in the last seven days; the answer is the"
            + " same.",
        access: .anyone, parameters: [LanguageHeader.parameter], body: AddressReturnBody.self,
        answers: .json(CodeAnswer.schema), refusals: .ofCode)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (kind, address) = try call.address(AddressReturnBody.address, mayBePassword: true)
        guard let provider = call.codeProvider else { throw .refused(.unsupportedProvider) }
        let device = try call.body().deviceToken()
        let language = try LanguageHeader.read(call)
        return try await call.sent { () async throws(CodeFailure) in
            try await call.services.passwords.beginReturn(
                of: address, kind, at: provider, in: call.tenant, from: call.clientNetwork,
                knownAs: device, language: language, at: call.now)
        }
    }
}

/// `POST /v1/auth/address-returns/{code_provider}/complete`: takes a former address back.
struct CompleteAddressReturnRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/address-returns/{code_provider}/complete"
    static let operation = Operation(
        id: "complete_address_return", tag: .signIn, summary: "Take a former address back",
        about:
            "The address that replaced it no longer leads to the account. Ends all sessions and opens none."
            + " For an e-mail address of a tenant with passwords it needs a new password, which replaces that of"
            + " the address, if there is one.",
        access: .anyone, body: CompleteReturnBody.self, answers: .json(RecoveryAnswer.schema),
        refusals: .ofCode + [
            .refused(.invalidCode), .weakPassword(.blocklisted),
            .faulted(.rulesDiffer),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let body = try call.body()
        let code = CodeBody(
            challenge: try body.text(CompleteReturnBody.challengeID),
            code: try body.text(CompleteReturnBody.code), deviceToken: try body.deviceToken())
        let text = try body.text(CompleteReturnBody.password)
        var prepared: PreparedPassword?
        if let (_, settings) = call.passwords, call.codeKind == .email {
            guard let text else { throw .isRequired(CompleteReturnBody.password.name) }
            let password = try text.password(CompleteReturnBody.password)
            do { prepared = try settings.rule.check(password) } catch { throw .weakPassword(error) }
        }
        let proof = try await call.proof(of: code, for: .takenBack, by: nil)
        var password: NewPassword?
        if let prepared { password = try await call.hashed(prepared) }
        let providers = try await call.submit(TakeBackAddress(proof, password: password))
        return await call.recovered(providers, by: proof, presented: code.deviceToken)
    }
}

private enum ChangeAddressBody: BodyForm {
    static let name = "AddressChange"
    static let currentAddress = RequiredText(
        name: "current_address", bytesMax: CodeSettings.typedBytesMax,
        about: "The present address of the account at the provider", example: "ada@example.com")
    static let challengeID = RequiredText(
        name: "challenge_id", bytesMax: RequestBody.challengeBytesMax,
        about: "The id of the challenge that was sent to the new address",
        example: ExampleValue.challenge)
    static let code = RequiredText(
        name: "code", bytesMax: RequestBody.challengeBytesMax, about: "The code that was sent",
        example: "270831")
    static let members: [any BodyMember] = [
        currentAddress, challengeID, code, ChangePasswordBody.currentPassword, OptionalText.email,
        OptionalText.deviceToken,
    ]
}

private enum AddressReturnBody: BodyForm {
    static let name = "AddressReturnRequest"
    static let address = RequiredText(
        name: "address", bytesMax: CodeSettings.typedBytesMax, about: "The former address",
        example: "ada@example.com")
    static let members: [any BodyMember] = [address, OptionalText.deviceToken]
}

private enum CompleteReturnBody: BodyForm {
    static let name = "AddressReturnCompletion"
    static let challengeID = RequiredText(
        name: "challenge_id", bytesMax: RequestBody.challengeBytesMax,
        about: "The id of the challenge", example: ExampleValue.challenge)
    static let code = ChangeAddressBody.code
    static let password = OptionalText(
        name: "password", bytesMax: Password.bytesMax,
        about: "The new password; required for an e-mail address of a tenant with passwords",
        example: ExampleValue.password, isInExample: true)
    static let members: [any BodyMember] = [
        challengeID, code, password, OptionalText.deviceToken,
    ]
}

extension RouteCall {
    /// The kind of the addresses of the provider of the path.
    fileprivate var codeKind: AddressKind? {
        configuration(of: codeProvider)?.pin.type.addressKind
    }

    /// Checks the code of a change of addresses.
    fileprivate func proof(
        of code: CodeBody, for cause: AddressChanged.Cause, by caller: Caller?
    ) async throws(APIError) -> Proof {
        guard let provider = configuration(of: codeProvider),
            provider.pin.type.addressKind != nil
        else { throw .refused(.unsupportedProvider) }
        do {
            return try await provider.proveAddress(
                code, for: cause, in: tenant, by: codeClient(caller), at: now)
        } catch {
            throw .refused(error.refusal)
        }
    }
}
