public import Observation

/// A person's session at a ledger, for the screens of an app.
///
/// Make one for the whole app, and call ``start()`` first. Calls renew the access token by themselves, together with
/// all others that wait for it, and with other processes that have the same store.
///
/// A call of the account is meant for the one that is shown: if a sign-in of another one has taken its place, nothing
/// is done to that, the error is ``LedgerError/Code/noSession``, and ``state`` shows the other account.
///
/// Every call throws ``LedgerError``. A call that is cancelled may still take effect.
@MainActor @Observable
public final class AuthSession {
    /// The state to show: ``AuthState/signedOut`` until ``start()`` has read the store.
    public private(set) var state = AuthState.signedOut

    /// The failure of the store to take the session or the account; nil once it has taken what is here.
    ///
    /// The call that brought them succeeds. They last until the process ends, and the next call saves them if the store
    /// can be written then.
    public private(set) var storeFailure: LedgerError?

    @ObservationIgnored let keeper: SessionKeeper
    /// The account that was shown last, also while a second factor is awaited: calls of the account are meant for it.
    @ObservationIgnored private var account: String?

    /// Creates a session, without a request and without reading the store.
    ///
    /// - Parameters:
    ///   - address: The ledger.
    ///   - store: Keeps the session.
    ///   - gate: Decides whether the stored session may be used, such as by a fingerprint.
    ///   - transport: Sends the requests.
    ///   - retries: The bounds of repetitions.
    ///   - time: The clocks.
    public init(
        _ address: LedgerAddress, store: any TokenStore, gate: (any AccessGate)? = nil,
        transport: any HTTPTransport = URLSessionTransport(),
        retries: RetryPolicy = RetryPolicy(), time: any TimeSource = SystemTime()
    ) {
        keeper = SessionKeeper(
            sender: RequestSender(
                address: address, transport: transport, time: time, clock: ServerClock(time),
                policy: retries),
            store: store, gate: gate)
    }

    /// Shows the stored session, without a request: an app that starts offline has the last known profile.
    ///
    /// Call it again when the app comes back to the foreground, as an extension may have changed the store.
    ///
    /// - Throws: ``LedgerError/Code/storeFailed``.
    public func start() async throws(LedgerError) {
        show(try await keeper.state())
    }

    /// Reads the account from the ledger.
    ///
    /// - Returns: The account with its identities.
    /// - Throws: ``LedgerError/Code/noSession``, or ``LedgerError/Code/invalidRefreshToken`` for a session that has
    ///   ended.
    @discardableResult
    public func reload() async throws(LedgerError) -> Profile {
        try await acting { keeper, shown throws(LedgerError) in
            try await Self.profile(keeper, shown)
        }
    }

    /// Returns a valid access token, for a backend of the app that checks it by the ledger's keys.
    ///
    /// - Returns: The token, which is good for at least some seconds.
    /// - Throws: ``LedgerError/Code/noSession``, or ``LedgerError/Code/invalidRefreshToken`` for a session that has
    ///   ended.
    public func accessToken() async throws(LedgerError) -> String {
        try await acting { keeper, shown throws(LedgerError) in
            try await keeper.session(for: shown).accessToken
        }
    }

    /// Exchanges the refresh token now, as calls do by themselves.
    ///
    /// - Throws: ``LedgerError/Code/invalidRefreshToken`` for a session that has ended.
    public func refresh() async throws(LedgerError) {
        try await acting { keeper, shown throws(LedgerError) in
            try await keeper.refresh(for: shown)
        }
    }

    /// Reads the ways to sign in that the tenant offers.
    ///
    /// - Returns: The providers in the order of their names.
    /// - Throws: ``LedgerError/Code/noAnswer`` or ``LedgerError/Code/unavailable``.
    public func providers() async throws(LedgerError) -> [Provider] {
        try await keeper.sender.send(APICall(route: .providers), as: ProvidersAnswer.self).providers
    }

    /// Ends the session, and clears it from the store in any case.
    ///
    /// Tokens, the profile and the secret of an anonymous account are gone afterwards: nothing opens an anonymous
    /// account any more. The device's token stays, which opens nothing: with it, strangers who try codes and passwords
    /// don't lock the person out of this device.
    ///
    /// - Parameters:
    ///   - everywhere: Whether all sessions of the account end, on all devices.
    ///   - forgetsDevice: Whether the device's token goes, too, as on a device that is given away.
    /// - Throws: ``LedgerError/Code/noAnswer`` if the ledger cannot be reached: the session lasts there until it
    ///   expires, and no longer here; ``LedgerError/Code/noSession`` if another sign-in took its place before all
    ///   sessions of the account were ended.
    public func signOut(
        everywhere: Bool = false, forgetsDevice: Bool = false
    ) async throws(LedgerError) {
        try await acting { keeper, shown throws(LedgerError) in
            try await keeper.signOut(
                everywhere: everywhere, forgetsDevice: forgetsDevice, of: shown)
        }
    }

    /// Asks the gate again at the next use, such as when the app goes to the background.
    public func lock() async {
        await keeper.lock()
    }

    /// Runs work of the keeper, and shows the state that it leaves.
    func following<Value: Sendable>(
        _ work: @Sendable (SessionKeeper) async throws(LedgerError) -> Value
    ) async throws(LedgerError) -> Value {
        let result: Result<Value, LedgerError>
        do {
            result = .success(try await work(keeper))
        } catch {
            result = .failure(error)
        }
        if let state = try? await keeper.state() { show(state) }
        let failure = await keeper.storeFailure
        if failure != nil || storeFailure != nil { storeFailure = failure }
        return try result.get()
    }

    /// Runs work of the keeper for the account that is shown, and shows the state that it leaves.
    func acting<Value: Sendable>(
        _ work: @Sendable (SessionKeeper, CallSubject) async throws(LedgerError) -> Value
    ) async throws(LedgerError) -> Value {
        let shown = CallSubject.account(account)
        return try await following { keeper throws(LedgerError) in
            try await work(keeper, shown)
        }
    }

    private func show(_ next: AuthState) {
        switch next {
        case .signedOut: account = nil
        case .signedIn(let profile): account = profile.userID
        case .expired(let ended): account = ended.profile.userID
        case .needsSecondFactor: break
        }
        if next != state { state = next }
    }

    /// Reads the account, or sends a call whose answer is the account, and stores it.
    nonisolated static func profile(
        _ keeper: SessionKeeper, _ subject: CallSubject,
        _ call: APICall = APICall(route: .account)
    ) async throws(LedgerError) -> Profile {
        let answer = try await keeper.send(call, as: AccountAnswer.self, for: subject)
        guard let profile = answer.profile else {
            throw LedgerError(.unexpectedAnswer, message: "A time of the answer is malformed")
        }
        await keeper.update(profile)
        return profile
    }
}
