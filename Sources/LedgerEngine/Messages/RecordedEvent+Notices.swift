package import Ledger
package import LedgerMessages

/// A notice to the addresses of an account.
package struct Notice: Sendable {
    package let account: AccountID
    package let template: MessageTemplate
    /// The address that the code of a sign-in proved, to which that code was the notice; nil otherwise.
    package let proved: AddressID?
    /// The position of the event.
    package let position: LogPosition
}

extension TenantBatch {
    /// The notices of the batch's events to accounts that may have addresses.
    package var notices: [Notice] {
        // The batch of an import has thousands of events without any.
        guard hasTellingEvent else { return [] }
        // A merge brings the addresses of the absorbed account.
        let merged = recordings.compactMap { recording -> AccountID? in
            guard case .merged(let fact) = recording.recorded.event.identityEffect else {
                return nil
            }
            return fact.survivor
        }
        let untold = accountsWithoutAddresses.subtracting(merged)
        let tellingAlready = Set(recordings.compactMap(\.recorded.commandTellingOfCodes))
        return recordings.flatMap { recording -> [Notice] in
            guard let (template, accounts) = recording.recorded.notices else { return [] }
            // Those that go with the last factor are told with it, and those that new ones void with these.
            if template == .recoveryCodesRemoved,
                tellingAlready.contains(recording.recorded.command)
            {
                return []
            }
            let proved = addressProved(by: recording.recorded.event)
            return accounts.compactMap { account in
                untold.contains(account)
                    ? nil
                    : Notice(
                        account: account, template: template, proved: proved,
                        position: recording.recorded.position)
            }
        }
    }

    /// Returns the address to which a sign-in's code was sent; a password proves none.
    private func addressProved(by event: Event) -> AddressID? {
        guard case .signedIn(let fact) = event, !fact.methods.includes(.password) else {
            return nil
        }
        return subjects[fact.identity].flatMap { AddressID($0.providerID) }
    }
}

extension RecordedEvent {
    /// The command of an event whose notice also tells of removed recovery codes: the removal of a second factor, or
    /// new codes in place of others; nil for any other event.
    fileprivate var commandTellingOfCodes: CommandID? {
        switch event {
        case .secondFactorRemoved(let fact): fact.kind.isRequired ? command : nil
        case .secondFactorEnrolled(let fact): fact.replaced == nil ? nil : command
        default: nil
        }
    }

    /// The notices of the event: its text, and the accounts whose holders are told.
    ///
    /// A sign-up has no notice.
    package var notices: (template: MessageTemplate, accounts: [AccountID])? {
        switch event {
        case .providerLinked(let fact):
            switch fact.cause {
            case .link, .relink: (.providerLinked, [fact.account])
            case .signUp, .anonymous, .imported: nil
            }
        case .providerUnlinked(let fact):
            fact.upgrade == nil ? (.providerUnlinked, [fact.account]) : nil
        case .providerUnlinkPlanned(let fact): (.unlinkPlanned, [fact.account])
        case .accountsMerged(let fact): (.accountsMerged, [fact.survivor])
        case .accountsUnmerged(let fact): (.mergeUndone, [fact.survivor, fact.absorbed])
        case .passwordSet(let fact):
            fact.endsSessions ? (.passwordChanged, [fact.account]) : nil
        case .signedIn(let fact): fact.device.map { _ in (.newDevice, [fact.account]) }
        case .addressChanged(let fact):
            (fact.cause == .change ? .addressChanged : .addressReturned, [fact.holder])
        case .secondFactorEnrolled(let fact):
            if fact.kind.isRequired {
                (.factorAdded, [fact.account])
            } else {
                fact.replaced.map { _ in (.recoveryCodesReplaced, [fact.account]) }
            }
        case .secondFactorRemoved(let fact):
            (fact.kind.isRequired ? .factorRemoved : .recoveryCodesRemoved, [fact.account])
        case .secondFactorRemovalPlanned(let fact): (.removalPlanned, [fact.account])
        case .recoveryCodeUsed(let fact): (.recoveryCodeUsed, [fact.account])
        case .accountDisabled(let fact): (.accountDisabled, [fact.account])
        default: nil
        }
    }
}
