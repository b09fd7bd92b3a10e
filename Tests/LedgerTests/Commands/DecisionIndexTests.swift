import Ledger
import LedgerTestSupport
import Testing

/// The look-ups by key in the state of a batch, where a batch has several rows of one address.
@Suite struct DecisionIndexTests {
    private static let first = AddressID(bits: 1)
    private static let second = AddressID(bits: 2)

    private static func name(_ number: UInt64, key: String = "a") -> AddressName {
        AddressName(kind: .email, digest: Digest(0, 0, 0, number), key: key)
    }

    private static func state() -> DecisionState {
        DecisionState(ledger: LedgerState(tenant: .default))
    }

    @Test func `an address that gets another name loses the former one alone`() {
        var state = Self.state()
        state.apply(.addressNamed(Self.name(1), Self.first))
        state.apply(.addressNamed(Self.name(2), Self.second))
        state.apply(.addressNamed(Self.name(1, key: "b"), Self.first))
        #expect(state.held == [Self.name(1, key: "b"): Self.first, Self.name(2): Self.second])
        state.apply(.addressNamed(Self.name(1, key: "b"), Self.first))
        #expect(state.held == [Self.name(1, key: "b"): Self.first, Self.name(2): Self.second])
    }

    @Test func `a name that went to another address stays there`() {
        var state = Self.state()
        state.apply(.addressNamed(Self.name(1), Self.first))
        state.apply(.addressNamed(Self.name(1), Self.second))
        #expect(state.held == [Self.name(1): Self.second])
        state.apply(.addressNamed(Self.name(2), Self.first))
        #expect(state.held == [Self.name(1): Self.second, Self.name(2): Self.first])
        state.addressNames[Self.name(1)] = nil
        state.apply(.addressNamed(Self.name(3), Self.second))
        #expect(state.held == [Self.name(2): Self.first, Self.name(3): Self.second])
    }

    @Test func `a proved number is a use of all its identities, and of no others`() {
        var state = Self.state()
        let ids = (1...4).map { IdentityID(bits: UInt128($0)) }
        let number = Self.first.description
        state.directory[subject("phone", number)] = ids[0]
        state.directory[subject("sms", number)] = ids[1]
        state.directory[subject("phone", Self.second.description)] = ids[2]
        let former = state.directory.updateValue(ids[3], forKey: subject("google", "ada"))
        #expect(former == nil)
        let confirmed = AddressConfirmed(
            account: AccountID(bits: 9), address: Self.first, kind: .phone, cause: .imported)
        let time = Timestamp(seconds: 7)
        state.noteUse(of: .addressConfirmed(confirmed), at: time)
        #expect(state.identityUses == [ids[0]: time, ids[1]: time])
        state.directory[subject("sms", number)] = nil
        let released = AddressReleased(
            account: AccountID(bits: 9), address: Self.first, cause: .proved)
        state.noteUse(of: .addressReleased(released), at: time)
        #expect(state.lostNumbers == [ids[0]])
    }
}

extension DecisionState {
    fileprivate var held: [AddressName: AddressID] {
        Dictionary(addressNames.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
    }
}
