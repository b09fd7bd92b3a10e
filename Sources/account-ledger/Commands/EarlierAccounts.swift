import Ledger

/// The accounts of a file that an import has read, as hashes: about 20 bytes for each, and in a dry run as
/// many for each id, identity and address.
///
/// A dry run imports none of them, so it decides about each account as if the earlier ones were in the ledger.
struct EarlierAccounts {
    private var hashes: Set<Int> = []
    /// Stands for the account that an earlier record of a dry run would open.
    private static let unopened = AccountID(bits: 0)

    init() {
        hashes.insert(Self.unopened.hashValue)
    }

    /// Whether an account is one of the file that was read earlier.
    func contains(_ account: AccountID) -> Bool {
        hashes.contains(account.hashValue)
    }

    /// Adds an account; false when it was added before.
    @discardableResult mutating func insert(_ account: AccountID) -> Bool {
        hashes.insert(account.hashValue).inserted
    }

    /// Returns the result that the import of an account would have after the earlier ones.
    ///
    /// - Parameters:
    ///   - command: The preview.
    ///   - success: Its result in the ledger, which lacks the earlier accounts.
    ///   - policy: The tenant's rules.
    /// - Returns: The result.
    mutating func preview(
        _ command: ImportAccount, _ success: ImportAccount.Success, _ policy: TenantPolicy
    ) -> ImportAccount.Success {
        guard success.effect != .kept else { return success }
        guard !hashes.contains(command.name.hashValue) else {
            return ImportAccount.Success(.kept, account: Self.unopened)
        }
        guard var standings = success.standings else { return success }
        for (place, identity) in command.identities.enumerated() {
            hold(&standings.identities[place], if: identity.subject.hashValue)
        }
        for (place, address) in command.addresses.enumerated() {
            hold(&standings.addresses[place], if: address.address.text.hashValue)
        }
        let decided = command.preview(of: standings, under: policy)
        if decided.success.effect == .opened {
            hashes.insert(command.name.hashValue)
            hashes.formUnion(decided.subjects.map(\.hashValue))
            hashes.formUnion(decided.addresses.map(\.text.hashValue))
        }
        return decided.success
    }

    private func hold(_ standing: inout ImportAccount.Standing, if key: Int) {
        switch standing {
        case .free, .unproved: if hashes.contains(key) { standing = .held(by: Self.unopened) }
        case .held, .givenUp: break
        }
    }
}
