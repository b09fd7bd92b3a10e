/// Records that sign-ins with an address were refused because of too many wrong passwords: at most once an
/// hour, and only for an account that exists.
package struct RecordThrottling: Sendable {
    /// The names of the address, by every key.
    package let address: [AddressName]
    /// The provider whose passwords were tried.
    package let provider: ProviderName

    /// Requests the record.
    package init(of address: [AddressName], at provider: ProviderName) {
        self.address = address
        self.provider = provider
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        guard let held = state.holding(address),
            let identity = state.subject(held, provider).flatMap({ state.directory[$0] }),
            let account = state.ledger.identities[identity]?.account
        else { return .refused(.accountNotFound) }
        let attempt = DecisionState.Attempt(
            action: .password, provider: provider, digest: .zero, outcome: identity.description)
        let start = now.adding(seconds: -CodeCount.windowSeconds)
        if let before = state.attempts[account]?[attempt], before > start {
            return Decision(.success(.throttlingRecorded))
        }
        let fact = SignInThrottled(account: account, identity: identity, provider: provider)
        return Decision(
            .success(.throttlingRecorded),
            drafts: [.init(.signInThrottled(fact), actor: .system)],
            effects: [.attempted(account, attempt, now)])
    }
}

extension RecordThrottling: LedgerRequest {
    package var intent: Command.Intent { .recordThrottling(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Void? {
        reply == .throttlingRecorded ? () : nil
    }
}
