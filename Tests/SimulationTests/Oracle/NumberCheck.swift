import Ledger
import LedgerTestSupport

/// Requires of each command what must hold for phone numbers, by times of use that it finds in events and refreshes.
struct NumberCheck {
    /// The time by which uses may seem earlier or later after a clock was set back.
    private static let toleranceSeconds: Int64 = 12 * 3600

    private var numbers: [AddressID: String] = [:]
    private var proofs: [AddressID: Timestamp] = [:]
    private var uses: [IdentityID: Timestamp] = [:]

    /// Checks a command that was applied to a state, and notes its events.
    ///
    /// - Throws: `Contradiction` when a number that was not used for a long time signed in alone, an account lost
    ///   a number without that, or a number belongs to two accounts.
    mutating func follow(
        _ command: Command, _ result: Result<Reply, Refusal>, _ recordings: ArraySlice<Recording>,
        in state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) throws(Contradiction) {
        guard policy.providers[RandomCommands.phone] != nil, policy.phoneUnusedDays > 0 else {
            return
        }
        let unused = now.adding(seconds: policy.phoneUnusedDays * -86_400)
        try checkSignIn(command, result, in: state, unused)
        for case .addressReleased(let fact) in recordings.map(\.recorded.event) {
            try checkLoss(of: fact.address, in: state, unused, policy)
        }
        for recording in recordings { note(recording) }
        if case .refreshSession(let intent) = command.intent,
            case .success(.refreshed(_, .fresh)) = result,
            let session = state.ledger.sessions[intent.session]
        {
            noteUse(of: session.identity, at: now)
        }
        let held = state.ledger.addresses.keys.compactMap { numbers[$0] }
        guard Set(held).count == held.count else {
            throw Contradiction("a phone number belongs to two accounts")
        }
    }

    /// Checks that a number alone signed in to an account only if it had been used.
    private func checkSignIn(
        _ command: Command, _ result: Result<Reply, Refusal>, in state: DecisionState,
        _ unused: Timestamp
    ) throws(Contradiction) {
        guard case .signIn(let intent) = command.intent, intent.secondFactor == nil,
            case .success(.signedIn(_, let isNewUser)) = result, !isNewUser,
            let address = intent.proof.address, address.kind == .phone,
            let held = state.holding(address.names),
            let user = identity(using: held.id, in: state)
        else { return }
        let used = lastUse(of: held.id, by: user)
        guard used >= unused.adding(seconds: -Self.toleranceSeconds) else {
            throw Contradiction("\(address.text) signs in, but was used last at \(used)")
        }
    }

    /// Checks that an account lost the number of a linked identity only if the number was unused, and all it had.
    private func checkLoss(
        of address: AddressID, in state: DecisionState, _ unused: Timestamp, _ policy: TenantPolicy
    ) throws(Contradiction) {
        guard let number = numbers[address], let user = identity(using: address, in: state),
            let account = user.account.flatMap({ state.ledger.accounts[$0] })
        else { return }
        let used = lastUse(of: address, by: user)
        let rest = account.links.filter { $0.identity != user.id }
        guard used < unused.adding(seconds: Self.toleranceSeconds),
            waysToSignIn(rest, policy).isEmpty, account.secondFactors.isEmpty,
            account.disabledPosition == nil
        else {
            throw Contradiction(
                "account \(short(account.id)) loses \(number), which it used last at \(used)")
        }
    }

    private func identity(using address: AddressID, in state: DecisionState) -> Identity? {
        state.directory[subject(RandomCommands.phone.description, address.description)]
            .flatMap { state.ledger.identities[$0] }
    }

    /// The last use of a number; its link is one, also without a confirmation of the address.
    private func lastUse(of address: AddressID, by identity: Identity) -> Timestamp {
        max(
            identity.linkedAt, proofs[address] ?? identity.linkedAt,
            uses[identity.id] ?? identity.linkedAt)
    }

    private mutating func noteUse(of identity: IdentityID, at time: Timestamp) {
        uses[identity] = max(time, uses[identity] ?? time)
    }

    private mutating func note(_ recording: Recording) {
        let recorded = recording.recorded
        switch recorded.event {
        case .addressConfirmed(let fact) where fact.kind == .phone:
            numbers[fact.address] = DisclosedValues(recording.disclosed).phone
            proofs[fact.address] = recorded.recordedAt
        case .addressChanged(let fact) where fact.kind == .phone:
            numbers[fact.former] = fact.cause == .change ? numbers[fact.address] : nil
            numbers[fact.address] = DisclosedValues(recording.disclosed).phone
            proofs[fact.address] = recorded.recordedAt
        case .signedIn(let fact): noteUse(of: fact.identity, at: recorded.recordedAt)
        default: break
        }
    }
}
