public import LedgerClient
public import Observation

/// The model of a screen of linked accounts.
@MainActor @Observable
public final class LinkedAccountsModel {
    /// A way to sign in, as a row of the screen.
    public struct Row: Identifiable, Hashable, Sendable {
        /// The provider.
        public let provider: Provider
        /// The identities of the account at it; none if it is not linked.
        public let identities: [Identity]
        /// Whether it can be unlinked: the last way to sign in stays.
        public let canUnlink: Bool

        /// The name of the provider.
        public var id: String { provider.name }
        /// Whether the account has an identity of the provider.
        public var isLinked: Bool { !identities.isEmpty }
    }

    /// A question that the screen asks.
    public enum Question: Hashable, Sendable {
        /// Whether to combine two accounts, whose plan the screen shows.
        case merge(MergePlan, provider: String)
        /// To sign in again, because the last sign-in is too old for a change.
        case signInAgain
        /// For the second factor of that sign-in.
        case secondFactor(SecondFactorChallenge)
        /// The notice that the person has signed in again to another account, which is shown now.
        case otherAccount
    }

    /// The rows, in the order of the providers' names.
    public private(set) var rows: [Row] = []
    /// A sentence about the last failure.
    public private(set) var failure: String?
    /// The name of the failed request, to report.
    public private(set) var failedRequest: String?
    /// Whether a request is under way.
    public private(set) var isBusy = false
    /// The open question.
    public var question: Question?
    /// The phone to which a code of the second factor was sent.
    public private(set) var codeReceiver: SecondFactor?

    private let session: AuthSession
    private let browser: any WebAuthenticator
    private let language: Language
    private var providers: [Provider] = []
    private var sentCode: SentCode?
    /// The account whose holder signs in again.
    private var account: String?

    /// Creates the model of a session.
    public init(
        _ session: AuthSession, browser: any WebAuthenticator, language: Language = .current
    ) {
        self.session = session
        self.browser = browser
        self.language = language
    }

    /// Shows the last known account at once, then the present one.
    public func load() async {
        show()
        await perform { model throws(LedgerError) in
            if model.providers.isEmpty { model.providers = try await model.session.providers() }
            try await model.session.reload()
        }
    }

    /// Links an identity of a provider, or asks whether to combine two accounts.
    public func link(_ row: Row) async {
        await perform { model throws(LedgerError) in
            let name = row.provider.name
            let proof = try await model.session.prove(.link, at: name, with: model.browser)
            do throws(LedgerError) {
                try await model.session.link(name, with: proof)
            } catch {
                guard error.code == .providerConflict, !row.isLinked else { throw error }
                let plan = try await model.session.previewMerge(of: name, with: proof)
                model.question = .merge(plan, provider: name)
            }
        }
    }

    /// Combines the two accounts of a plan that the person agreed to.
    public func merge(_ plan: MergePlan, provider: String) async {
        question = nil
        await perform { model throws(LedgerError) in
            let proof = try await model.session.prove(
                .merge(plan), at: provider, with: model.browser)
            try await model.session.merge(plan, provider, with: proof)
        }
    }

    /// Removes an identity.
    public func unlink(_ identity: Identity) async {
        await perform { model throws(LedgerError) in
            try await model.session.unlink(identity.provider, identity: identity.id)
        }
    }

    /// Signs in again with a provider, after which the person repeats the change.
    public func signInAgain(at provider: String) async {
        guard !isBusy else { return }
        question = nil
        (sentCode, codeReceiver) = (nil, nil)
        account = session.state.profile?.userID ?? account
        await perform { model throws(LedgerError) in
            let result = try await model.session.signInInBrowser(
                at: provider, with: model.browser, createsAccount: false)
            switch result {
            case .needsSecondFactor(let challenge): model.question = .secondFactor(challenge)
            case .signedIn(let signIn): try await model.accept(signIn)
            }
        }
    }

    /// Sends a code to a phone that is a second factor.
    public func sendSecondFactorCode(to factor: SecondFactor) async {
        await perform { model throws(LedgerError) in
            model.sentCode = try await model.session.sendSecondFactorCode(to: factor)
            model.codeReceiver = factor
        }
    }

    /// Completes the sign-in with a code; after a wrong one the question stays.
    public func completeSecondFactor(_ factor: SecondFactor, code: String) async {
        await perform { model throws(LedgerError) in
            let sent = factor == model.codeReceiver ? model.sentCode : nil
            try await model.accept(
                try await model.session.completeSecondFactor(factor, code: code, sent: sent))
        }
    }

    /// Abandons the sign-in; the former one stays.
    public func cancelSecondFactor() async {
        question = nil
        await session.cancelSecondFactor()
        show()
    }

    /// Tells a person who has signed in to another account, and shows that.
    private func accept(_ signIn: SignIn) async throws(LedgerError) {
        let isOther = account != nil && account != signIn.profile.userID
        question = isOther ? .otherAccount : nil
        if isOther { try await session.reload() }
    }

    /// Ends the session.
    public func signOut(everywhere: Bool = false) async {
        question = nil
        await perform { model throws(LedgerError) in
            try await model.session.signOut(everywhere: everywhere)
        }
    }

    private func perform(_ work: (LinkedAccountsModel) async throws(LedgerError) -> Void) async {
        guard !isBusy else { return }
        isBusy = true
        (failure, failedRequest) = (nil, nil)
        do {
            try await work(self)
        } catch {
            switch error.code {
            case .reauthenticationRequired: question = .signInAgain
            case .cancelledByPerson, .cancelled: break
            default:
                failure = error.sentence(in: language)
                failedRequest = error.requestID
            }
        }
        isBusy = false
        show()
    }

    private func show() {
        // The former account is still signed in.
        if case .needsSecondFactor = session.state { return }
        let identities = session.state.profile?.identities ?? []
        rows = providers.filter(\.hasFlow).map { provider in
            Row(
                provider: provider,
                identities: identities.filter { $0.provider == provider.name },
                canUnlink: identities.count > 1)
        }
    }
}
