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

    private let session: AuthSession
    private let browser: any WebAuthenticator
    private let language: Language
    private var providers: [Provider] = []

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
        question = nil
        await perform { model throws(LedgerError) in
            try await model.session.signInInBrowser(
                at: provider, with: model.browser, createsAccount: false)
        }
    }

    /// Ends the session.
    public func signOut(everywhere: Bool = false) async {
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
        let identities = session.state.profile?.identities ?? []
        rows = providers.filter(\.hasFlow).map { provider in
            Row(
                provider: provider,
                identities: identities.filter { $0.provider == provider.name },
                canUnlink: identities.count > 1)
        }
    }
}
