import Ledger
import LedgerTestSupport
import Testing

/// A ledger whose rules let addresses be confirmed later, and the proofs of its people.
struct ClaimStory {
    static let ada = "ada@x.test"

    var scenario = Scenario {
        $0 = RandomCommands.policy(hasEveryType: true)
        $0.reauthenticationSeconds = .max / 2_000_000
    }
    var generator = SeededGenerator(seed: 39)

    /// Signs in with a proof.
    mutating func signIn(
        _ proof: Proof, createAccount: Bool = true
    ) throws -> Scenario.Effects {
        try scenario.when(SignIn(proof, createAccount: createAccount, &generator))
    }

    mutating func claim(_ address: String = ClaimStory.ada, hash: String = "hash 1") -> Proof {
        passwordProof(address, new: generator.id(), hash: hash, isClaim: true)
    }

    /// The proof of a code that was sent to an address.
    mutating func code(_ address: String = ClaimStory.ada) -> Proof {
        addressProof(address, new: generator.id())
    }

    /// The proof of a sign-up with another password, whose code was typed.
    mutating func signUp(_ address: String = ClaimStory.ada) -> Proof {
        passwordProof(address, new: generator.id(), hash: "hash 2", isClaim: false)
    }

    /// The proof of the present password, as a sign-in or as a confirmation has it.
    mutating func known(
        _ address: String = ClaimStory.ada, confirms: Bool = false
    ) throws -> Proof {
        let challenge: ChallengeID? = confirms ? generator.id() : nil
        if let challenge { scenario.given.openChallenges([challenge]) }
        return passwordProof(
            address, new: generator.id(), try version(), isVerified: confirms,
            challenge: challenge)
    }

    func version() throws -> PasswordVersion {
        let (identity, version) = try #require(scenario.given.state.ledger.passwords.first)
        return PasswordVersion(identity: identity, version: version)
    }

    /// Opens an account that claims an address.
    mutating func opened(_ address: String = ClaimStory.ada) throws -> Caller {
        try caller(signIn(claim(address)))
    }

    func caller(_ effects: Scenario.Effects) throws -> Caller {
        guard case .success(.signedIn(let grant, _)) = effects.result else {
            throw ModelLedger.Unexpected(result: effects.result)
        }
        return Caller(account: grant.account, session: grant.session)
    }

    mutating func link(_ caller: Caller, _ proof: Proof) throws -> Scenario.Effects {
        try scenario.when(
            LinkProvider(
                caller: caller,
                credential: Credential(
                    provider: proof.subject.provider, digest: digest(generator.bytes(32)),
                    check: .success(proof)),
                idempotency: nil, newIdentity: generator.id()))
    }

    mutating func unlink(_ caller: Caller, _ provider: ProviderName) throws {
        _ = try scenario.when(
            UnlinkProvider(
                caller: caller, provider: provider, identity: nil, idempotency: nil)
        ).result.get()
    }

    func account(_ caller: Caller) throws -> Account {
        try #require(scenario.given.account(caller.account))
    }

    func isLive(_ caller: Caller) -> Bool {
        scenario.given.state.ledger.sessions[caller.session]?.endedPosition == nil
    }

    /// The address that an account has.
    func address() throws -> HeldAddress {
        let held = scenario.given.state.ledger.addresses.values
        #expect(held.count == 1)
        return try #require(held.first)
    }

    /// Merges one account into another, as support.
    mutating func merge(
        _ survivor: Caller, _ absorbed: Caller, keepsAbsorbed: Bool = false
    ) throws -> EventID {
        let kept: Set<ProviderName> = keepsAbsorbed ? [RandomCommands.password] : []
        let authority = MergeAccounts.Authority.support(
            .system,
            MergeAccounts.Case(
                survivor: survivor.account, absorbed: absorbed.account, reason: "one",
                reference: "1"))
        let preview = MergeAccounts.Preview(
            authority: authority, keepsAbsorbed: kept, digest: sha256)
        let planned = try #require(
            MergeAccounts.Preview.success(in: scenario.when(preview).result.get()))
        let merged = try scenario.when(
            MergeAccounts(
                authority: authority, keepsAbsorbed: kept, agreed: planned.digest, digest: sha256))
        return try #require(MergeAccounts.success(in: merged.result.get())?.done).event
    }
}
