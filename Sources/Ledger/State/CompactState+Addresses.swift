extension CompactState {
    /// Calls a function with every address that an account has.
    package func eachAddress(_ body: (HeldAddress) -> Void) {
        for address in addresses.values where !isErased(address.account) { body(address) }
    }

    func holder(of address: AddressID) -> HeldAddress? {
        guard let held = addresses[address], !isErased(held.account) else { return nil }
        return held
    }

    mutating func hold(_ address: HeldAddress) {
        addresses[address.id] = address
    }

    mutating func release(_ address: AddressID) {
        addresses[address] = nil
    }
}
