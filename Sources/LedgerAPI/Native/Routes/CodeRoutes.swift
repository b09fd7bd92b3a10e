internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire

/// `POST /v1/auth/codes/{code_provider}`: sends a code that signs in, alone or with a password.
struct SignInCodeRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/codes/{code_provider}"
    static let operation = Operation(
        id: "send_sign_in_code", tag: .signIn, summary: "Send a code to sign in with",
        about:
            "For a provider of type `email` or `phone`; or of type `password`, whose sign-in takes the code"
            + " beside the password after a refusal whose `details.needs` is `code`. The answer is the same"
            + " whether an account has the address or not.",
        access: .anyone, parameters: [LanguageHeader.parameter], body: SignInCodeBody.self,
        answers: .json(CodeAnswer.schema), refusals: .ofCode)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (kind, address) = try call.address(SignInCodeBody.address, mayBePassword: true)
        let device = try call.body().deviceToken()
        guard let provider = call.codeProvider,
            case .password? = call.configuration(of: provider)?.settings
        else { return try await call.send(to: address, kind, for: .signIn, knownAs: device) }
        let language = try LanguageHeader.read(call)
        return try await call.sent { () async throws(CodeFailure) in
            try await call.services.passwords.beginSignIn(
                address, of: provider, in: call.tenant, from: call.clientNetwork,
                knownAs: device, language: language, at: call.now)
        }
    }
}

/// `POST /v1/account/codes/{code_provider}`: sends a code that links an address to the caller's account, or agrees to
/// a merge.
struct AccountCodeRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/codes/{code_provider}"
    static let operation = Operation(
        id: "send_account_code", tag: .account,
        summary: "Send a code to link an address with, or to merge",
        about:
            "The code of a link also previews a merge and signs in. With `plan_digest`, the code agrees to"
            + " that merge plan alone; with `change`, it replaces an address of the account.",
        access: .accountHolder, parameters: [LanguageHeader.parameter], body: AccountCodeBody.self,
        answers: .json(CodeAnswer.schema), refusals: .ofCode)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = try await call.byAccountHolder {
            caller throws(APIError) -> (Caller, AddressKind, String, AddressCodes.Use) in
            let plan = try call.body().text(AccountCodeBody.planDigest)
            let isChange = try call.body().flag(AccountCodeBody.change) ?? false
            if isChange, plan != nil {
                throw .invalidRequest(
                    RequestFlaw("change excludes plan_digest", at: .field("change")))
            }
            // A merge is agreed to with the password itself.
            let (kind, address) = try call.address(
                AccountCodeBody.address, mayBePassword: plan == nil)
            return (
                caller, kind, address,
                plan.map { .merge(caller, plan: $0) }
                    ?? (isChange ? .change(caller) : .link(caller))
            )
        }
        // No command follows that would refuse a session that has ended.
        _ = try await call.identities(of: request.0)
        return try await call.send(to: request.2, request.1, for: request.3)
    }
}

/// The body of a request for a code.
private enum SignInCodeBody: BodyForm {
    static let name = "SignInCodeRequest"
    static let address = RequiredText(
        name: "address", bytesMax: CodeSettings.typedBytesMax,
        about: "The e-mail address, or the phone number with a plus sign and its country code",
        example: "ada@example.com")
    static let members: [any BodyMember] = [address, OptionalText.deviceToken]
}

/// The body of an account holder's request for a code.
private enum AccountCodeBody: BodyForm {
    static let name = "AccountCodeRequest"
    static let address = SignInCodeBody.address
    static let planDigest = OptionalText(
        name: "plan_digest", bytesMax: RequestBody.nonceBytesMax,
        about: "The `plan_digest` of a merge preview", example: ExampleValue.planDigest)
    static let change = OptionalFlag(
        name: "change", about: "Whether the address replaces one of the account", example: true,
        isInExample: false)
    static let members: [any BodyMember] = [address, planDigest, change]
}

/// The `Accept-Language` field.
enum LanguageHeader {
    private static let name = "Accept-Language"
    private static let charactersMax = 255

    static let parameter = Parameter(
        name: name, location: .header,
        schema: .text(
            "de, en;q=0.5",
            Schema.TextRules(pattern: "^[ -~]*$", lengths: 0...charactersMax)),
        about: "The languages that the person prefers (RFC 9110, section 12.5.4)",
        isInExample: true)

    /// Reads the field; nil when the request has none.
    ///
    /// - Throws: `invalidRequest` for more than 255 characters, or others than printable ASCII.
    static func read(_ call: RouteCall) throws(APIError) -> String? {
        let values = try call.values(of: parameter)
        guard !values.isEmpty else { return nil }
        let text = values.joined(separator: ",")
        guard text.utf8.count <= charactersMax,
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw .invalidRequest(
                RequestFlaw(
                    "\(name) must have at most \(charactersMax) printable characters",
                    at: .header(name)))
        }
        return text
    }
}

extension [APIError] {
    static let ofCode: [APIError] = [
        .refused(.unsupportedProvider), .refused(.rateLimited(retryAfterSeconds: 60)),
    ]
}

extension RouteCall {
    /// Reads the address of the body, for the provider of the path.
    ///
    /// - Parameters:
    ///   - member: the member of the body.
    ///   - mayBePassword: whether the provider may be one of passwords.
    ///   - isSentTo: whether messages must be able to go to the address.
    /// - Returns: the kind of the address, and its canonical form.
    /// - Throws: 400 for a text that is no address, and for a provider that sends no codes.
    func address(
        _ member: RequiredText, mayBePassword: Bool = false, isSentTo: Bool = true
    ) throws(APIError) -> (kind: AddressKind, address: String) {
        let typed = try body().text(member)
        let kind: AddressKind
        switch configuration(of: codeProvider)?.settings {
        case .code(let settings): kind = settings.kind
        case .password where mayBePassword: kind = .email
        default: throw .refused(.unsupportedProvider)
        }
        guard let address = configuration.localParts.canonical(typed, kind) else {
            throw .invalidRequest(
                RequestFlaw("\(member.name) is not \(kind.inWords)", at: .field(member.name)))
        }
        let codes = CodeSettings(kind: kind)
        guard !isSentTo || codes.mayReceive(address, under: configuration.messages) else {
            throw .invalidRequest(
                RequestFlaw(
                    "\(member.name) is of a country or kind to which no messages go",
                    at: .field(member.name)))
        }
        return (kind, address)
    }

    fileprivate func send(
        to address: String, _ kind: AddressKind, for use: AddressCodes.Use,
        knownAs device: String? = nil
    ) async throws(APIError) -> HTTPResponse {
        guard let provider = codeProvider else { throw .refused(.unsupportedProvider) }
        let language = try LanguageHeader.read(self)
        return try await sent { () async throws(CodeFailure) in
            try await services.codes.send(
                to: address, kind, of: provider, in: tenant, for: use, from: clientNetwork,
                knownAs: device, language: language, at: now)
        }
    }
}

extension AddressKind {
    fileprivate var inWords: String {
        switch self {
        case .email: "an e-mail address"
        case .phone: "a phone number with its country code"
        }
    }
}
