import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite struct EntryEncodingTests {
    private func golden(_ name: String) throws -> [UInt8] {
        let file = try #require(
            Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Golden"),
            "no golden file of \(name)")
        return Array(try Data(contentsOf: file))
    }

    @Test(arguments: Examples.kinds)
    func `every version ever written is still read and written the same`(
        kind: Examples.Kind
    ) throws {
        let golden = try golden(kind.testDescription)
        let recorded = try EntryEncoding.decode(golden)
        #expect(recorded.event.name == kind.name)
        #expect(recorded.event.version == kind.version)
        #expect(EntryEncoding.encode(recorded) == golden)
        #expect(recorded == Examples.recorded(kind))
    }

    @Test func `a relink by support is read and written unchanged`() throws {
        let golden = try golden("ProviderLinked.relink.v1")
        let recorded = try EntryEncoding.decode(golden)
        guard case .providerLinked(let fact) = recorded.event else {
            Issue.record("another event: \(recorded.event)")
            return
        }
        #expect(fact.cause == .relink)
        guard case .providerLinked(let plain) = Examples.recorded(.providerLinked).event else {
            return
        }
        #expect(fact.identity == plain.identity && fact.provider == plain.provider)
        #expect(EntryEncoding.encode(recorded) == golden)
    }

    @Test(arguments: [
        ("support", ProviderUnlinked.Cause.support), ("address_lost", .addressLost),
    ])
    func `an unlink that its holder did not ask for is read and written unchanged`(
        word: String, cause: ProviderUnlinked.Cause
    ) throws {
        let golden = try golden("ProviderUnlinked.\(word).v2")
        let recorded = try EntryEncoding.decode(golden)
        guard case .providerUnlinked(let fact) = recorded.event else {
            Issue.record("another event: \(recorded.event)")
            return
        }
        #expect(fact.cause == cause && fact.upgrade == nil && fact.version == 2)
        #expect(fact.effect == (cause == .support ? .unstated : .due))
        #expect(EntryEncoding.encode(recorded) == golden)
        let text = String(decoding: golden, as: UTF8.self)
        for change in [
            "\"auth_time\":\"2026-09-21T14:13:20.000000Z\",\"cause\":\"\(word)\"",
            "\"cause\":\"upgraded\"", "\"cause\":\"asked\"",
        ] {
            let changed = text.replacing("\"cause\":\"\(word)\"", with: change)
            #expect(throws: EntryFault.self, "\(change)") {
                try EntryEncoding.decode(Array(changed.utf8))
            }
        }
    }

    @Test func `a factor that was lost with a claimed address is read and written unchanged`()
        throws
    {
        let golden = try golden("SecondFactorRemoved.address_lost.v1")
        let recorded = try EntryEncoding.decode(golden)
        guard case .secondFactorRemoved(let fact) = recorded.event else {
            Issue.record("another event: \(recorded.event)")
            return
        }
        #expect(fact.cause == .addressLost && fact.kind == .passkey && fact.version == 1)
        #expect(fact.requiredDisclosures == [])
        #expect(EntryEncoding.encode(recorded) == golden)
        let changed = String(decoding: golden, as: UTF8.self)
            .replacing("\"cause\":\"address_lost\"", with: "\"cause\":\"address\"")
        #expect(throws: EntryFault.self) { try EntryEncoding.decode(Array(changed.utf8)) }
    }

    @Test(arguments: [Event.Name.providerUnlinked, .secondFactorRemoved])
    func `only an event by support has an asker, and it may have none`(
        name: Event.Name
    ) throws {
        let kind = Examples.Kind(name: name, version: name.newestVersion)
        let text = String(decoding: try golden(kind.testDescription), as: UTF8.self)
        let names = /"asker":"[^"]+","asker_type":"staff",/
        let due = text.replacing(names, with: "")
        #expect(due != text)
        let recorded = try EntryEncoding.decode(Array(due.utf8))
        #expect(recorded.event.version == kind.version)
        #expect(EntryEncoding.encode(recorded) == Array(due.utf8))
        for other in [
            text.replacing(/"asker":"[^"]+",/, with: ""),
            text.replacing("\"asker_type\":\"staff\",", with: ""),
            text.replacing("\"cause\":\"support\"", with: "\"cause\":\"address_lost\""),
            due.replacing("\"cause\":\"support\"", with: "\"cause\":\"address_lost\""),
        ] {
            #expect(throws: EntryFault.self, "\(other)") {
                try EntryEncoding.decode(Array(other.utf8))
            }
        }
    }

    @Test(arguments: [
        (2, "\"erase_needs_two\":\"true\",", "\"erase_needs_two\":\"false\","),
        (2, "\"erase_needs_two\":\"true\",", ""), (2, "\"v\":\"2\"", "\"v\":\"1\""),
        (3, "\"confirm_later\":\"true\",", "\"confirm_later\":\"false\","),
        (3, "\"confirm_later\":\"true\",", ""), (3, "\"v\":\"3\"", "\"v\":\"2\""),
        (4, "\"phone_unused_days\":\"0\",", "\"phone_unused_days\":\"180\","),
        (4, "\"phone_unused_days\":\"0\",", ""), (4, "\"v\":\"4\"", "\"v\":\"3\""),
        (5, ",\"support_delay_hours\":\"48\"", ",\"support_delay_hours\":\"24\""),
        (5, ",\"support_delay_hours\":\"48\"", ",\"support_delay_hours\":\"169\""),
        (5, ",\"support_delay_hours\":\"48\"", ",\"support_delay_hours\":\"0\""),
        (5, "\"support_needs_two\":\"true\"", "\"support_needs_two\":\"false\""),
        (5, ",\"support_delay_hours\":\"48\",\"support_needs_two\":\"true\"", ""),
        (5, "\"v\":\"5\"", "\"v\":\"4\""), (6, "\"v\":\"6\"", "\"v\":\"5\""),
        (6, "\"again keys\"", "\"\""), (6, "again keys", "keys again"),
        (6, "again keys", "again again"), (6, "again keys", "again Keys"),
        (6, "\"corp hwk mfa;google mfa\"", "\"\""),
        (6, "corp hwk mfa;google mfa", "google mfa;corp hwk mfa"),
        (6, "hwk mfa", "mfa hwk"), (6, ";google mfa", ";google"), (6, ";google", ";corp"),
    ])
    func `a rule that is off is written in the first version alone`(
        version: Int, from: String, to: String
    ) throws {
        let kind = Examples.Kind(name: .rulesSet, version: version)
        let text = String(
            decoding: EntryEncoding.encode(Examples.recorded(kind)), as: UTF8.self)
        let changed = text.replacing(from, with: to)
        #expect(changed != text)
        #expect(throws: EntryFault.self) { try EntryEncoding.decode(Array(changed.utf8)) }
        guard case .rulesSet(let rules) = Examples.recorded(kind).event else { return }
        #expect(try RulesSet(body: rules.body) == rules)
    }

    @Test func `a number that no log can reach is refused`() throws {
        let recorded = Examples.recorded(.accountsUnmerged)
        let text = String(decoding: EntryEncoding.encode(recorded), as: UTF8.self)
        for name in ["\"linked_position\":\"12\"", "\"position\":\"1041\"", "\"seq\":\"3\""] {
            let key = try #require(name.split(separator: ":").first)
            for (number, isRead) in [
                (LogPosition.endMax, true), (LogPosition.endMax + 1, false), (.max, false),
            ] {
                let changed = text.replacing(name, with: "\(key):\"\(number)\"")
                #expect(changed != text)
                let read = try? EntryEncoding.decode(Array(changed.utf8))
                #expect((read != nil) == isRead, "\(key) \(number)")
            }
        }
        #expect(LogPosition(.max).next == LogPosition(.max))
    }

    @Test(arguments: Examples.kinds)
    func `an entry is canonical JSON`(kind: Examples.Kind) throws {
        let entry = EntryEncoding.encode(Examples.recorded(kind))
        let object = try JSONSerialization.jsonObject(with: Data(entry))
        // All texts are ASCII without escapes, so sorted keys and no white space are all of RFC 8785.
        let canonical = try JSONSerialization.data(
            withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        #expect(Array(canonical) == entry)
    }

    @Test(arguments: Examples.kinds)
    func `no damaged byte goes unnoticed`(kind: Examples.Kind) throws {
        let entry = EntryEncoding.encode(Examples.recorded(kind))
        for index in entry.indices {
            for flip in [UInt8(0x01), 0x20, 0x80] {
                var damaged = entry
                damaged[index] ^= flip
                // Either it is not an entry, or it states something else: there is never a second
                // form.
                if let recorded = try? EntryEncoding.decode(damaged) {
                    let isOnlyForm = EntryEncoding.encode(recorded) == damaged
                    let saysElse = recorded != Examples.recorded(kind)
                    #expect(isOnlyForm && saysElse, "byte \(index) changed by \(flip)")
                }
            }
        }
    }

    /// Digits are checked without branches, so every value of every byte is tried.
    @Test(arguments: ["prev", "command", "recorded_at", "seq"])
    func `a value has one form, whatever byte is changed`(member: String) throws {
        let entry = EntryEncoding.encode(Examples.recorded(.signedIn))
        let text = String(decoding: entry, as: UTF8.self)
        let start = try #require(text.range(of: "\"\(member)\":\"")).upperBound
        let first = text.utf8.distance(from: text.startIndex, to: start)
        let count = text[start...].prefix { $0 != "\"" }.utf8.count
        var accepted = 0
        for index in first..<first + count {
            for byte in UInt8.min...UInt8.max {
                var changed = entry
                changed[index] = byte
                guard let recorded = try? EntryEncoding.decode(changed) else { continue }
                accepted += 1
                #expect(EntryEncoding.encode(recorded) == changed, "byte \(index) as \(byte)")
            }
        }
        let expected =
            switch member {
            // Each of 42 characters may be any of 64, the last has two bits that must be zero.
            case "prev": 42 * 64 + 16
            case "command": 32 * 16 + 4
            default: accepted
            }
        #expect(accepted == expected)
    }

    @Test(arguments: Examples.kinds)
    func `no cut or lengthened entry is read`(kind: Examples.Kind) throws {
        let entry = EntryEncoding.encode(Examples.recorded(kind))
        for count in 0..<entry.count {
            #expect(throws: EntryFault.self) {
                try EntryEncoding.decode(Array(entry.prefix(count)))
            }
        }
        #expect(throws: EntryFault.self) { try EntryEncoding.decode(entry + [0x20]) }
        #expect(throws: EntryFault.tooLong) {
            try EntryEncoding.decode(entry + Array(repeating: 0x20, count: 65_535))
        }
    }

    @Test func `an unknown type and an unknown version are distinguished`() throws {
        let entry = String(
            decoding: EntryEncoding.encode(Examples.recorded(.accountOpened)), as: UTF8.self)
        #expect(throws: EntryFault.unknownType) {
            try EntryEncoding.decode(
                Array(entry.replacing("\"AccountOpened\"", with: "\"AccountVanished\"").utf8))
        }
        for version in ["3", "0", "01", "+1", ""] {
            #expect(throws: EntryFault.unknownVersion, "\(version)") {
                try EntryEncoding.decode(
                    Array(entry.replacing("\"v\":\"1\"", with: "\"v\":\"\(version)\"").utf8))
            }
        }
    }

    /// Otherwise two entries could state one event, or an old reader could skip what it does not
    /// know.
    @Test(arguments: Examples.kinds)
    func `the details of a version are those of no other`(kind: Examples.Kind) throws {
        let entry = String(
            decoding: EntryEncoding.encode(Examples.recorded(kind)), as: UTF8.self)
        for version in 1...kind.name.newestVersion + 1 where version != kind.version {
            let changed = entry.replacing(
                "\"v\":\"\(kind.version)\"", with: "\"v\":\"\(version)\"")
            #expect(throws: EntryFault.self) { try EntryEncoding.decode(Array(changed.utf8)) }
        }
    }

    @Test func `a sign-in of version 1 has the properties of version 2, and keeps its encoding`()
        throws
    {
        let first = Examples.recorded(.signedIn)
        guard case .signedIn(let fact) = first.event else { return }
        #expect(fact.methods == .federated)
        let entry = String(decoding: EntryEncoding.encode(first), as: UTF8.self)
        #expect(!entry.contains("methods") && entry.hasSuffix("\"v\":\"1\"}"))
    }

    @Test(arguments: [
        ("fed", true), ("otp pwd", true), ("otp pwd sms_2", true), ("", false), (" ", false),
        ("pwd otp", false), ("otp otp", false), ("otp  pwd", false), ("otp ", false),
        ("Fed", false), ("o-t", false), ("\u{E9}", false),
        (String(repeating: "a", count: 255), true), (String(repeating: "a", count: 256), false),
    ])
    func `methods have one spelling`(text: String, isRead: Bool) {
        let methods = AuthenticationMethods(text)
        #expect((methods != nil) == isRead)
        if let methods { #expect(methods.words.joined(separator: " ") == text) }
    }
}
