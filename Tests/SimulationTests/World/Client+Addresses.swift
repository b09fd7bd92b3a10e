import Ledger
import LedgerTestSupport

/// How a client uses the addresses and phone numbers of accounts.
extension Client {
    private var emails: [String] {
        (1...2 * world.parameters.subjectsPerProvider).map { "s\($0)@example.com" }
    }

    private var numbers: [String] {
        (1...2 * world.parameters.subjectsPerProvider).map(World.number)
    }

    private func names(of text: String) -> [AddressName] {
        World.names(of: text, new: AddressID(bits: 0))
    }

    /// Returns the address or the number that has these names.
    func text(of names: [AddressName]) -> String? {
        (emails + numbers).first { self.names(of: $0) == names }
    }

    /// Whether people sign in to a tenant with phone numbers.
    func hasNumbers(_ tenant: TenantID) -> Bool {
        world.policies[tenant]?.providers[RandomCommands.phone] != nil
    }

    /// Rarely, signs in with a number of an account after days in which it may not have been used.
    func signInLater(in tenant: TenantID) -> Sent? {
        guard hasNumbers(tenant), dice.chance(0.02) else { return nil }
        let rows = world.database.tenants[tenant]?.addresses ?? [:]
        let held = numbers.filter { number in names(of: number).contains { rows[$0] != nil } }
        guard !held.isEmpty else { return nil }
        world.letPass(seconds: (dice.chance(0.3) ? 16 : 31) * 86_400)
        return Sent(
            request: .signIn(
                World.addressSubject(held.randomElement(dice)), email: nil,
                createAccount: dice.chance(0.9)),
            tenant: tenant)
    }

    /// Changes the address or the number of a device's account, or takes one back.
    func changeAddress(_ other: Device) -> Sent {
        let rows = world.database.tenants[other.tenant]?.addresses ?? [:]
        let held = (emails + numbers).compactMap { text in
            names(of: text).first.flatMap { rows[$0] }.map { (text: text, address: $0) }
        }
        let former = held.filter { $0.address.formerOf != nil }
        if !former.isEmpty, dice.chance(0.4) {
            return Sent(request: .takeBack(former.randomElement(dice).text), tenant: other.tenant)
        }
        let owned = held.compactMap { text, address in
            devices.last { $0.caller.account == address.account }
                .map { (text: text, kind: address.kind, device: $0) }
        }
        guard !owned.isEmpty else { return refresh(other) }
        let (present, kind, device) = owned.randomElement(dice)
        let others = kind == .phone ? numbers : emails
        return Sent(
            request: .changeAddress(device.caller, present, others.randomElement(dice)),
            tenant: device.tenant)
    }
}
