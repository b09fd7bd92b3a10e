import Ledger

/// Changes of addresses and second factors.
extension RandomCommands {
    /// Replaces an address, or takes a former one back.
    mutating func changeAddress() -> Command.Intent {
        if Int.random(in: 0..<3, using: &generator) == 0, let former = formerAddresses.popLast() {
            return .takeBackAddress(
                TakeBackAddress(addressProof(former, new: generator.id()), password: nil))
        }
        // The most recent ones are most likely live.
        let recent = reached.suffix(3)
        let (caller, former) = recent[
            Int.random(in: recent.startIndex..<recent.endIndex, using: &generator)]
        let number = Int.random(in: 0..<8 * subjectsPerProvider, using: &generator)
        let address = "person-\(number)@example.com"
        lastChange = (former: former, address: address)
        let token = digest(generator.bytes(32))
        lastToken = token
        return .changeAddress(
            ChangeAddress(
                SessionRenewal(
                    caller: caller, password: nil, refreshToken: token, newSession: generator.id()),
                from: addressProof(former, new: generator.id()).address?.names ?? [],
                to: addressProof(address, new: generator.id()), newFormer: generator.id()))
    }

    /// Enrols or removes a second factor, or renews recovery codes.
    mutating func changeFactors() -> Command.Intent {
        let caller = randomCaller()
        if Bool.random(using: &generator), let known = factors.randomElement(using: &generator),
            let holder = callers.last(where: { $0.account == known.account })
        {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                return .planFactorRemoval(
                    PlanFactorRemoval(
                        Int.random(in: 0..<3, using: &generator) > 0 ? .plan : .stop,
                        of: known.factor,
                        of: holder.account,
                        actor: .principal(Principal(key: generator.id(), role: .support)),
                        reason: "lost", caseReference: "case 5"))
            default: return .removeFactor(RemoveFactor(known.factor, by: .accountHolder(holder)))
            }
        }
        let token = digest(generator.bytes(32))
        lastToken = token
        let kind: FactorKind =
            Int.random(in: 0..<3, using: &generator) == 0 ? .recoveryCodes : .totp
        let intent = EnrolFactor(
            caller: caller,
            factor: NewFactor(
                id: generator.id(), kind: kind, secret: generator.bytes(20), counter: 0),
            recoveryCodes: NewFactor(
                id: generator.id(), kind: .recoveryCodes, secret: generator.bytes(320), counter: 0),
            token: nil, refreshToken: token, newSession: generator.id())
        lastEnrolled = intent
        return .enrolFactor(intent)
    }

    mutating func randomCredential() -> Credential {
        let subject = randomSubject()
        let isInvalid = Int.random(in: 0..<10, using: &generator) == 0
        return Credential(
            provider: subject.provider, digest: digest(generator.bytes(32)),
            check: isInvalid ? .failure(.invalid) : .success(randomProof(subject)))
    }
}
