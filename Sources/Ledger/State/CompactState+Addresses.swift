extension CompactState {
    /// Calls a function with every address that an account has.
    package func eachAddress(_ body: (HeldAddress) -> Void) {
        for address in addresses.values where !isErased(address.account) { body(address) }
    }

    func holder(of address: AddressID) -> HeldAddress? {
        guard let held = addresses[address], !isErased(held.account) else { return nil }
        return held
    }

    /// Calls a function with every identity that has a password, and the password's version.
    package func eachPassword(_ body: (IdentityID, LogPosition) -> Void) {
        for (identity, version) in passwords
        where status(of: identity)?.isForgotten == false {
            body(identity, version)
        }
    }

    mutating func setPassword(of identity: IdentityID, at position: LogPosition) {
        passwords[identity] = position
    }

    mutating func hold(_ address: HeldAddress) {
        addresses[address.id] = address
    }

    mutating func release(_ address: AddressID) {
        addresses[address] = nil
    }

    mutating func setDisabled(_ account: AccountID, since position: LogPosition?) {
        disabled[account] = position
    }

    mutating func handOver(_ account: AccountID, at position: LogPosition) {
        handedOver[account] = position
    }
}
