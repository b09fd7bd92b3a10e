import Foundation

/// Owns the session of a store: opens it, renews it for all callers at once, and ends it.
actor SessionKeeper {
    /// An access token is renewed this long before it expires, but not before a quarter of its life is left.
    private static let margin: TimeInterval = 15

    let sender: RequestSender
    let store: any TokenStore
    private let gate: (any AccessGate)?
    private var renewal: Task<Result<StoredState.Session, LedgerError>, Never>?
    private var opening: Task<Bool, Never>?
    private var isOpen = false
    /// The access token that this process got last, and when it expires by the clock that cannot be set.
    private var expiry: TokenExpiry?
    /// The second step of a sign-in, and when its first step is too old.
    private var awaited: (challenge: SecondFactorChallenge, end: Duration)?
    var unsaved: UnsavedState?
    /// The last failure of the store; nil once it has taken a state since.
    var storeFailure: LedgerError?

    init(sender: RequestSender, store: any TokenStore, gate: (any AccessGate)?) {
        self.sender = sender
        self.store = store
        self.gate = gate
    }

    /// The second step that a sign-in waits for.
    var challenge: SecondFactorChallenge? {
        guard let awaited, sender.time.monotonic < awaited.end else { return nil }
        return awaited.challenge
    }

    /// Reads the state of the session, without a request.
    func state() async throws(LedgerError) -> AuthState {
        if let challenge { return .needsSecondFactor(challenge) }
        let stored = try await load()
        if let session = stored.session { return .signedIn(session.profile) }
        return stored.expired.map { .expired($0) } ?? .signedOut
    }

    /// Forgets that the gate was opened.
    func lock() {
        isOpen = false
    }

    /// Forgets the second step of a sign-in.
    func dropChallenge() {
        awaited = nil
    }

    /// Sends a sign-in, and stores the session of its answer.
    func signIn(_ call: APICall) async throws(LedgerError) -> SignInResult {
        let began = sender.time.monotonic
        let answer: SessionAnswer
        do {
            answer = try await sender.send(call, as: SessionAnswer.self)
        } catch {
            guard let next = error.challenge else { throw error }
            awaited = (next, began + .seconds(next.expiresIn))
            return .needsSecondFactor(next)
        }
        if case .text(let token) = call.body?["sign_in_token"],
            awaited?.challenge.token != token
        {
            // It was abandoned meanwhile, or another sign-in took its place.
            throw Self.noSecondStep
        }
        var presented: String?
        if case .text(let secret) = call.body?["anonymous_secret"] { presented = secret }
        return .signedIn(await open(answer, began, presented))
    }

    /// Sends a call of the account whose answer is another session of it, and stores that.
    func replaceSession(
        _ call: APICall, for subject: CallSubject
    ) async throws(LedgerError) -> SignIn {
        let began = sender.time.monotonic
        let answer = try await send(call, as: SessionAnswer.self, for: subject)
        return await open(answer, began, for: answer.userID)
    }

    /// Stores the session of an answer.
    ///
    /// With an account, it is the answer to a change of that one, which takes the place of no other account's session
    /// and of no sign-out: then it is dropped, and is not saved.
    func open(
        _ answer: SessionAnswer, _ began: Duration, _ presentedSecret: String? = nil,
        for account: String? = nil
    ) async -> SignIn {
        if account == nil { awaited = nil }
        var opened = await session(of: answer)
        // The ledger returns the secret once, when it opens the account.
        opened.anonymousSecret = opened.anonymousSecret ?? presentedSecret
        let isSaved = await keep(for: account) { [opened] state in
            var session = opened
            // A sign-in to the same account knows no less than before.
            if let former = state.session, former.profile.userID == answer.userID {
                session.anonymousSecret =
                    session.anonymousSecret ?? former.secret(besides: answer.linkedProviders)
                if former.profile.linkedProviders == answer.linkedProviders {
                    session.profile.identities = former.profile.identities
                }
            }
            state.session = session
            state.expired = nil
            if let token = answer.deviceToken { state.deviceToken = token }
        }
        if isSaved != nil {
            isOpen = true
            setExpiry(answer, began)
        }
        return SignIn(
            profile: opened.profile, isNewUser: answer.isNewUser, isSaved: isSaved ?? false)
    }

    /// Counts the life of a token from the moment of the request: it is no older.
    private func setExpiry(_ answer: SessionAnswer, _ began: Duration) {
        expiry = TokenExpiry(
            token: answer.accessToken, monotonic: began + .seconds(answer.expiresIn))
    }

    private func session(of answer: SessionAnswer) async -> StoredState.Session {
        let offset = await sender.clock.offset ?? 0
        let now = await sender.clock.now(storedOffset: offset)
        var session = StoredState.Session(
            profile: Profile(userID: answer.userID, linkedProviders: answer.linkedProviders),
            accessToken: answer.accessToken, refreshToken: answer.refreshToken,
            expiresAt: now.addingTimeInterval(TimeInterval(answer.expiresIn)),
            lifetime: answer.expiresIn, clockOffset: offset,
            anonymousSecret: answer.anonymousSecret)
        session.signInID = UUID().uuidString.lowercased()
        return session
    }

    /// Returns the session with an access token that has not expired.
    func session(
        for subject: CallSubject, isGated: Bool = true
    ) async throws(LedgerError) -> StoredState.Session {
        // A session that the store did not take is saved as soon as possible.
        if unsaved != nil { try? await change { _ in } }
        let session = try await stored(for: subject)
        if isGated { try await openGate() }
        if session.isRefreshing { return try await renewed(session, for: subject) }
        return await isExpiring(session) ? try await renewed(session, for: subject) : session
    }

    private func stored(
        for subject: CallSubject
    ) async throws(LedgerError) -> StoredState.Session {
        guard let session = try await load().session, subject.includes(session) else {
            throw Self.noSession
        }
        return session
    }

    /// Sends a call for the account holder, with a renewed token if the ledger refuses the present one.
    func send<Answer: Decodable & Sendable>(
        _ call: APICall, as type: Answer.Type, for subject: CallSubject, isGated: Bool = true
    ) async throws(LedgerError) -> Answer {
        let session = try await session(for: subject, isGated: isGated)
        let wasLost: Bool
        do {
            return try await sender.send(call, token: session.accessToken, as: type)
        } catch {
            guard error.code == .invalidAccessToken else { throw error }
            wasLost = error.followsLostAnswer
        }
        let renewed: StoredState.Session
        do throws(LedgerError) {
            renewed = try await self.renewed(session, for: subject)
        } catch {
            var error = error
            error.followsLostAnswer = wasLost
            throw error
        }
        return try await sender.send(call, token: renewed.accessToken, as: type)
    }

    /// Exchanges the refresh token now.
    func refresh(for subject: CallSubject) async throws(LedgerError) {
        let session = try await stored(for: subject)
        try await openGate()
        _ = try await renewed(session, for: subject)
    }

    func openGate() async throws(LedgerError) {
        guard let gate, !isOpen else { return }
        let task = opening ?? Task { await gate.open() }
        opening = task
        let isAllowed = await task.value
        if opening == task { opening = nil }
        guard isAllowed else {
            throw LedgerError(.gateClosed, message: "The gate refused the use of the session")
        }
        isOpen = true
    }

    private func isExpiring(_ session: StoredState.Session) async -> Bool {
        let margin = min(Self.margin, TimeInterval(session.lifetime) / 4)
        if let expiry, expiry.token == session.accessToken {
            return sender.time.monotonic + .seconds(margin) >= expiry.monotonic
        }
        let now = await sender.clock.now(storedOffset: session.clockOffset)
        return now.addingTimeInterval(margin) >= session.expiresAt
    }

    /// Returns the session after a renewal, which all callers share.
    ///
    /// It goes on when a caller is cancelled, because the former refresh token may be used up.
    private func renewed(
        _ stale: StoredState.Session, for subject: CallSubject
    ) async throws(LedgerError) -> StoredState.Session {
        let task = renewal ?? Task { await renew(stale) }
        renewal = task
        let session = try await task.value.get()
        guard session.profile.userID == stale.profile.userID, subject.includes(session) else {
            throw Self.noSession
        }
        return session
    }

    private func renew(
        _ stale: StoredState.Session
    ) async -> Result<StoredState.Session, LedgerError> {
        let result: Result<StoredState.Session, LedgerError>
        do {
            result = try await store.exclusively { await self.renewAlone(stale, isLocked: true) }
        } catch {
            // No other process knows a sign-in that was never stored.
            result =
                unsaved?.isNewSignIn == true
                ? await renewAlone(stale, isLocked: false) : .failure(Self.failed(error))
        }
        renewal = nil
        return result
    }

    /// Exchanges the refresh token, while no other process with this store does.
    private func renewAlone(
        _ stale: StoredState.Session, isLocked: Bool
    ) async -> Result<StoredState.Session, LedgerError> {
        do throws(LedgerError) {
            var state = try await loadAlone()
            guard var session = state.session else { throw Self.noSession }
            // Another call, or another process with this store, was faster.
            if session.refreshToken != stale.refreshToken { return .success(session) }
            let wasRefreshing = session.isRefreshing
            session.isRefreshing = true
            state.session = session
            // A process that is killed before it has stored the answer leaves the mark to the next one. It also saves
            // the session of a renewal before this one that was not.
            let marked = try await mark(state, isLocked: isLocked)
            let began = sender.time.monotonic
            do throws(LedgerError) {
                let answer = try await sender.send(
                    APICall(
                        route: .refresh, body: ["refresh_token": .text(session.refreshToken)]),
                    as: SessionAnswer.self)
                setExpiry(answer, began)
                var renewed = await self.session(of: answer)
                renewed.anonymousSecret = session.secret(besides: answer.linkedProviders)
                renewed.signInID = session.signInID
                if session.profile.linkedProviders == answer.linkedProviders {
                    renewed.profile.identities = session.profile.identities
                }
                state.session = renewed
                await saveOrKeep(state, insteadOf: marked, isLocked: isLocked)
                return .success(renewed)
            } catch {
                var error = error
                let isInterrupted = wasRefreshing || error.followsLostAnswer
                // It is about the call that the renewal serves.
                error.followsLostAnswer = false
                if error.isWithoutEffect, !wasRefreshing {
                    state.session?.isRefreshing = false
                    await saveOrKeep(state, insteadOf: marked, isLocked: isLocked)
                }
                guard error.code == .invalidRefreshToken else { throw error }
                state.session = nil
                state.expired = ExpiredSession(
                    profile: session.profile,
                    cause: isInterrupted ? .refreshInterrupted : .refused)
                await saveOrKeep(state, insteadOf: marked, isLocked: isLocked)
                throw error
            }
        } catch {
            return .failure(error)
        }
    }

    /// Ends the session at the ledger, and forgets it in any case.
    func signOut(
        everywhere: Bool, forgetsDevice: Bool, of subject: CallSubject
    ) async throws(LedgerError) {
        var session: StoredState.Session?
        var failure: LedgerError?
        do throws(LedgerError) {
            if let stored = try await load().session {
                guard subject.includes(stored) else { throw Self.noSession }
                session = stored
                // No gate: a person can always leave.
                _ = try await send(
                    APICall(route: .signOut, body: ["everywhere": .flag(everywhere)]),
                    as: EmptyAnswer.self, for: .signIn(stored), isGated: false)
            }
        } catch {
            // After a lost answer, the refusal shows that the sessions have ended.
            let isOver =
                [.invalidRefreshToken, .noSession].contains(error.code)
                && (!everywhere || error.followsLostAnswer)
            failure = isOver ? nil : error
        }
        do throws(LedgerError) {
            try await change(startsAnew: true) { [session] state in
                // Another call or process may have signed in anew meanwhile, even to the same account.
                if state.session.map({ $0.isOfSignIn(of: session) }) ?? true {
                    (state.session, state.expired) = (nil, nil)
                }
                if forgetsDevice { state.deviceToken = nil }
            }
        } catch {
            failure = error
        }
        if let kept = unsaved?.state.session, kept.isOfSignIn(of: session) { unsaved = nil }
        (awaited, expiry, isOpen) = (nil, nil, false)
        if let failure { throw failure }
    }

    /// Replaces the profile, if it is still that of the account, also if it cannot be stored: the ledger has acted.
    func update(_ profile: Profile) async {
        _ = await keep(for: profile.userID, startsAnew: false) { state in
            guard var session = state.session, session.profile.userID == profile.userID else {
                return
            }
            session.anonymousSecret = session.secret(besides: profile.linkedProviders)
            session.profile = profile
            state.session = session
        }
    }

    static func failed(_ error: StoreError) -> LedgerError {
        LedgerError(.storeFailed, message: error.description)
    }

    static let noSecondStep = LedgerError(
        .noSession, message: "No sign-in waits for a second factor")

    static let noSession = LedgerError(
        .noSession, message: "There is no session, or another one took its place")
}
