import Addresses
import LedgerTestSupport
import Testing

/// The canonical form of e-mail addresses, and the reasons for refusals.
@Suite struct EmailAddressTests {
    @Test(arguments: [
        ("alice@example.com", "alice@example.com"), ("Alice@Example.COM", "alice@example.com"),
        ("a.l.ice+news@example.com", "a.l.ice+news@example.com"),
        ("!#$%&'*+-/=?^_`{|}~@example.com", "!#$%&'*+-/=?^_`{|}~@example.com"),
        ("alice@example.com.", "alice@example.com"), ("a@b.c", "a@b.c"),
        ("a@sub-1.2.example", "a@sub-1.2.example"), ("1@1.example", "1@1.example"),
    ])
    func `addresses have a canonical form`(typed: String, canonical: String) throws {
        let address = try EmailAddress(typed)
        #expect(address.text.utf8.elementsEqual(canonical.utf8))
        #expect(EmailAddress.formVersion == 1)
    }

    @Test(arguments: [
        ("", EmailAddressFault.noAtSign), ("alice", .noAtSign),
        ("alice\u{FF20}example.com", .noAtSign),
        ("@example.com", .localPartEmpty), ("a@b@example.com", .localPartCharacter),
        ("alice@", .domainLabel), ("alice@.", .domainLabel), ("alice@example..com", .domainLabel),
        ("alice@.example.com", .domainLabel), ("alice@example.com..", .domainLabel),
        (".alice@example.com", .localPartDot), ("alice.@example.com", .localPartDot),
        ("al..ice@example.com", .localPartDot),
        ("\"alice\"@example.com", .localPartCharacter),
        ("al\\ice@example.com", .localPartCharacter),
        ("alice(x)@example.com", .localPartCharacter), ("alice@(x)example.com", .domainCharacter),
        ("alice@example.com(x)", .domainCharacter), ("<alice@example.com>", .localPartCharacter),
        ("Alice <alice@example.com>", .localPartCharacter),
        (" alice@example.com", .localPartCharacter),
        ("alice@example.com ", .domainCharacter), ("alice @example.com", .localPartCharacter),
        ("alice@example.com\r\nRCPT TO:<b@c.d>", .localPartCharacter),
        ("alice\r\n@example.com", .localPartCharacter), ("alice@example.com\n", .domainCharacter),
        ("al\0ice@example.com", .localPartCharacter),
        ("alice@example.com\0.evil.com", .domainCharacter),
        ("alice@exam\u{1}ple.com", .domainCharacter), ("alice@exam\u{7F}ple.com", .domainCharacter),
        ("alice@exam\u{85}ple.com", .domainCharacter),
        ("alice@exa\u{202E}mple.com", .domainCharacter),
        ("alice@[192.0.2.1]", .domainIsIPAddress), ("alice@[IPv6:::1]", .domainIsIPAddress),
        ("alice@192.0.2.1", .domainIsIPAddress), ("alice@0x7f.1", .domainIsIPAddress),
        ("alice@127.0.0.0x1", .domainIsIPAddress), ("alice@\u{FF11}.\u{FF11}", .domainIsIPAddress),
        ("alice@1", .domainIsIPAddress), ("alice@localhost", .domainWithoutDot),
        ("alice@exam_ple.com", .domainCharacter), ("alice@exam ple.com", .domainCharacter),
        ("alice@-example.com", .domainLabel), ("alice@example-.com", .domainLabel),
        ("alice@ab--cd.com", .domainLabel), ("alice@xn--.com", .domainCharacter),
        ("alice@xn--abc-.com", .domainCharacter), ("alice@xn--example.com", .domainCharacter),
        ("alice@\u{2100}.com", .domainCharacter), ("alice@\u{2047}.com", .domainCharacter),
        ("alice@\u{1F600}.com", .domainCharacter), ("alice@\u{301}a.com", .domainCharacter),
        ("\u{E4}lice@example.com", .localPartScript),
        ("\u{FF41}lice@example.com", .localPartScript),
        ("\u{212A}elvin@example.com", .localPartScript),
        ("al\u{AD}ice@example.com", .localPartScript),
    ])
    func `texts that are no address are refused`(typed: String, fault: EmailAddressFault) {
        #expect(throws: fault) { try EmailAddress(typed) }
    }

    @Test func `lengths are limited to those of an address`() throws {
        func name(_ count: Int) -> String { String(repeating: "a", count: count) }
        #expect(throws: Never.self) { try EmailAddress("\(name(64))@b.c") }
        #expect(throws: EmailAddressFault.localPartTooLong) {
            try EmailAddress("\(name(65))@b.c")
        }
        #expect(throws: Never.self) { try EmailAddress("a@\(name(63)).com") }
        #expect(throws: EmailAddressFault.domainLabel) { try EmailAddress("a@\(name(64)).com") }
        #expect(throws: EmailAddressFault.domainLabel) {
            try EmailAddress("a@\(String(repeating: "\u{E9}", count: 60)).com")
        }
        let long = "\(name(63)).\(name(63)).\(name(63))"
        #expect(try EmailAddress("\(name(2))@\(long).\(name(59))").text.utf8.count == 254)
        #expect(throws: EmailAddressFault.tooLong) {
            try EmailAddress("\(name(3))@\(long).\(name(59))")
        }
        #expect(throws: EmailAddressFault.domainTooLong) {
            try EmailAddress("a@\(long).\(name(62))")
        }
        #expect(throws: EmailAddressFault.tooLong) { try EmailAddress("a@\(name(2000)).com") }
        // A domain may be much longer as it is typed.
        let thai = String(repeating: "\u{E01}\u{E32}", count: 20)
        #expect(throws: Never.self) { try EmailAddress("a@\(thai).\(thai).\(thai).com") }
    }

    @Test func `lengths of other scripts are those of their bytes`() throws {
        func name(_ count: Int) -> String { String(repeating: "\u{44F}", count: count) }
        #expect(throws: Never.self) { try EmailAddress("\(name(32))@b.c", localPart: .any) }
        #expect(throws: EmailAddressFault.localPartTooLong) {
            try EmailAddress("\(name(32))a@b.c", localPart: .any)
        }
        let label = String(repeating: "a", count: 63)
        let domain = "\(label).\(label).\(label)"
        let longest = try EmailAddress("\(name(15))@\(domain).\(label.prefix(31))", localPart: .any)
        #expect(longest.text.utf8.count == 254)
        #expect(throws: EmailAddressFault.tooLong) {
            try EmailAddress("\(name(15))@\(domain).\(label.prefix(32))", localPart: .any)
        }
    }

    @Test(arguments: [
        ("\u{E4}lice@example.com", "\u{E4}lice@example.com"),
        ("a\u{308}lice@example.com", "\u{E4}lice@example.com"),
        // The case of texts with other scripts is significant.
        ("M\u{FC}ller@Example.com", "M\u{FC}ller@example.com"),
        ("m\u{FC}ller@Example.com", "m\u{FC}ller@example.com"),
        ("H\u{331}@example.com", "H\u{331}@example.com"),
        ("\u{E19}\u{E49}\u{E33}@example.com", "\u{E19}\u{E49}\u{E33}@example.com"),
        // NFC makes ASCII of it.
        ("\u{212A}elvin@example.com", "kelvin@example.com"),
        ("Alice@example.com", "alice@example.com"),
    ])
    func `local parts of any script are accepted on request`(
        typed: String, canonical: String
    ) throws {
        let address = try EmailAddress(typed, localPart: .any)
        #expect(address.text.utf8.elementsEqual(canonical.utf8))
    }

    @Test(arguments: [
        "al\u{200B}ice", "al\u{200D}ice", "al\u{AD}ice", "al\u{202E}ice", "al\u{A0}ice",
        "al\u{85}ice",
        "al\u{2028}ice", "\u{1F600}", "\u{E000}", "\u{378}", "al\u{37E}ice", "=\u{338}",
        "\u{201C}a\u{201D}",
        "a b", "\"\u{E4}\"",
        // Letters and marks that are invisible.
        "al\u{3164}ice", "\u{3164}", "al\u{FFA0}ice", "al\u{115F}ice", "al\u{1160}ice",
        "al\u{34F}ice", "al\u{17B4}ice", "al\u{180B}ice", "al\u{FE00}ice", "al\u{FE0F}ice",
        "al\u{E0100}ice",
        // Direction, private and unassigned characters.
        "al\u{2066}ice", "al\u{200F}ice", "al\u{61C}ice", "al\u{F8FF}ice", "al\u{10FFFD}ice",
        "al\u{FFFE}ice",
        // Marks that belong to no letter.
        "\u{301}alice", "\u{E31}", "al.\u{301}ice", "al+\u{301}ice", "al-\u{20DD}ice",
    ])
    func `local parts of any script have visible letters, marks and digits only`(localPart: String)
    {
        #expect(throws: EmailAddressFault.localPartCharacter) {
            try EmailAddress("\(localPart)@example.com", localPart: .any)
        }
    }
}
