import Testing

@testable import Ledger

/// People of the staff in entries.
struct StaffActorTests {
    private static let principal = Principal(
        staff: StaffID("0190a1b2-c3d4-8000-8000-000000000009") ?? StaffID(bits: 0), role: .admin)

    private func recorded(by actor: Actor) -> RecordedEvent {
        let example = Examples.recorded(.legalHoldSet)
        return RecordedEvent(
            tenant: example.tenant, position: example.position, id: example.id,
            recordedAt: example.recordedAt, actor: actor, command: example.command,
            request: example.request, accounts: example.accounts,
            disclosureDigests: example.disclosureDigests, event: example.event)
    }

    @Test func `an entry names a person of the staff by an id, with the role`() throws {
        let recorded = recorded(by: .principal(Self.principal))
        let bytes = EntryEncoding.encode(recorded)
        let text = String(decoding: bytes, as: UTF8.self)
        let actor = """
            "actor":{"id":"0190a1b2-c3d4-8000-8000-000000000009","role":"admin","type":"staff"}
            """
        #expect(text.contains(actor))
        #expect(try EntryEncoding.decode(bytes) == recorded)
        #expect(recorded.actor.columnText == "staff:0190a1b2-c3d4-8000-8000-000000000009")
    }

    @Test func `a person and an API key with the same id are different actors`() throws {
        let key = Principal(key: APIKeyID(bits: Self.principal.id.bits), role: .admin)
        #expect(key != Self.principal)
        let bytes = EntryEncoding.encode(recorded(by: .principal(key)))
        #expect(try EntryEncoding.decode(bytes).actor == .principal(key))
    }

    @Test(arguments: ["person", "Staff", ""])
    func `an unknown type of actor is refused`(type: String) {
        let bytes = EntryEncoding.encode(recorded(by: .principal(Self.principal)))
        let text = String(decoding: bytes, as: UTF8.self)
        let changed = text.replacing(#""type":"staff""#, with: "\"type\":\"\(type)\"")
        #expect(changed != text)
        #expect(throws: EntryFault.self) { try EntryEncoding.decode(Array(changed.utf8)) }
    }

    @Test(arguments: [
        ("staff:0190a1b2-c3d4-8000-8000-000000000009", true),
        ("api_key:0190a1b2-c3d4-8000-8000-000000000009", true),
        ("staff:0190A1B2-c3d4-8000-8000-000000000009", false), ("staff:", false),
        ("operator", false), ("sam", false),
    ]) func `a filter of the access log names a principal in one way`(text: String, isOne: Bool) {
        #expect(Principal.canonical(text) == (isOne ? text : nil))
    }
}
