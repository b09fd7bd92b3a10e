/// Adds a second factor that the caller has proved to the caller's account, or replaces its recovery codes.
///
/// The first factor brings recovery codes with it, ends all sessions and opens a new one for the caller.
package struct EnrolFactor: Sendable {
    /// The reasons why an account gets no factor.
    package enum Obstacle: String, Hashable, Sendable {
        /// An anonymous account is reached by its secret alone.
        case anonymous
        /// The account has the maximum number of factors.
        case tooMany = "too_many"
        /// Recovery codes replace a second factor, and the account is without one.
        case noFactor = "no_factor"
        /// The account is reached by codes to phones or by passkeys alone, and a second factor is of another kind.
        case sameKind = "same_kind"
    }

    /// The maximum number of second factors of an account.
    package static let factorsMax = 5

    package let caller: Caller
    package let factor: NewFactor
    /// The recovery codes that come with the first factor.
    package let recoveryCodes: NewFactor
    /// The token of the enrolment of an authenticator app, or the challenge of a passkey.
    package let token: SingleUseIDToken?
    /// The challenge that proved a phone number.
    package let challenge: ChallengeID?
    /// The digest of the new session's first refresh token.
    package let refreshToken: Digest
    package let newSession: SessionID

    /// Requests an enrolment.
    package init(
        caller: Caller, factor: NewFactor, recoveryCodes: NewFactor, token: SingleUseIDToken?,
        challenge: ChallengeID? = nil, refreshToken: Digest, newSession: SessionID
    ) {
        self.caller = caller
        self.factor = factor
        self.recoveryCodes = recoveryCodes
        self.token = token
        self.challenge = challenge
        self.refreshToken = refreshToken
        self.newSession = newSession
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        guard let account = state.account(of: caller, at: now),
            let session = state.ledger.sessions[caller.session]
        else { return .refused(.sessionEnded) }
        if account.links.contains(where: { state.isAnonymous($0.provider, under: policy) }) {
            return .refused(.factorRefused(.anonymous))
        }
        guard let link = account.links.first(where: { $0.identity == session.identity }) else {
            return .refused(.sessionEnded)
        }
        let isFirst = account.secondFactors.isEmpty
        guard !state.lacksSecondFactor(caller, at: now, under: policy),
            !isFirst || policy.isRecent(session.authenticatedAt, at: now)
        else { return .refused(.reauthenticationRequired) }
        if !factor.kind.isRequired {
            if isFirst { return .refused(.factorRefused(.noFactor)) }
            let former = state.recoveryCodes(of: account.id)
            // The event replaces one set; a merge may have brought others.
            let others = former.dropFirst().map { codes in
                Decision.Draft(
                    .secondFactorRemoved(
                        SecondFactorRemoved(
                            account: account.id, cause: .holder, factor: codes.id,
                            kind: codes.kind)),
                    actor: .account(account.id, session: caller.session))
            }
            return Decision(
                .success(.factorEnrolled(isFirst: false, nil)),
                drafts: others + [draft(factor, isFirst: false, replacing: former.first?.id)],
                effects: [.factorStored(factor)])
        }
        if let token, state.spentIDTokens[token.digest] != nil { return .refused(.invalidCode) }
        if let challenge, !state.openChallenges.contains(challenge) {
            return .refused(.invalidCode)
        }
        // A key that an account is reached by; it may have become that since the response was checked.
        if let subject = factor.subject, let known = state.directory[subject],
            state.ledger.identities[known]?.account != nil
        {
            return .refused(.invalidCode)
        }
        guard
            state.usableWays(account.links, with: [], at: nil, under: policy).contains(where: {
                factor.kind.mayFollow(state.type(of: $0.provider, under: policy))
            })
        else {
            return .refused(.factorRefused(.sameKind))
        }
        guard account.secondFactors.count < Self.factorsMax else {
            return .refused(.factorRefused(.tooMany))
        }
        var decision = Decision(
            .success(.factorEnrolled(isFirst: isFirst, nil)),
            drafts: [draft(factor, isFirst: isFirst)],
            effects: [.factorStored(factor)]
                + (token.map { [.idTokenSpent($0, now)] } ?? [])
                + (challenge.map { [.challengeSpent($0)] } ?? []))
        guard isFirst else { return decision }
        let opening = SessionOpening(
            SignedIn(
                account: account.id, authenticatedAt: session.authenticatedAt,
                identity: link.identity, methods: session.methods.with(factor.kind),
                provider: link.provider, session: newSession),
            providers: account.linkedProviders, refreshToken: refreshToken, at: now, under: policy)
        decision.result = .success(.factorEnrolled(isFirst: true, opening.grant))
        decision.drafts += [draft(recoveryCodes, isFirst: false), opening.draft]
        decision.effects += [.factorStored(recoveryCodes), opening.effect]
        return decision
    }

    private func draft(
        _ factor: NewFactor, isFirst: Bool, replacing replaced: FactorID? = nil
    ) -> Decision.Draft {
        .init(
            .secondFactorEnrolled(
                SecondFactorEnrolled(
                    account: caller.account, factor: factor.id, kind: factor.kind,
                    isFirst: isFirst, replaced: replaced)),
            actor: .account(caller.account, session: caller.session))
    }
}

extension EnrolFactor: LedgerRequest {
    /// An enrolled factor.
    package struct Success: Hashable, Sendable {
        /// Whether the account got its first factor, and recovery codes with it.
        package let isFirst: Bool
        /// The session that the first factor opened.
        package let grant: Grant?
    }

    package var intent: Command.Intent { .enrolFactor(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        guard case .factorEnrolled(let isFirst, let grant) = reply else { return nil }
        return Success(isFirst: isFirst, grant: grant)
    }
}
