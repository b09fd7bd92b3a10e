import Foundation
import Ledger
import Testing

@testable import LedgerMessages

/// Tenants' own texts, and the rules that built-in ones obey as well.
@Suite struct OwnTextTests {
    private static let product = "Bücherladen"

    /// Every part of every template in every language.
    private static let parts = MessageLanguage.allCases.flatMap { language in
        MessageTemplate.allCases.flatMap { template in
            template.parts.map { MessagePart(template, $0, in: language) }
        }
    }

    private func fault(
        _ text: String, _ kind: MessagePart.Kind, _ template: MessageTemplate = .signInCode
    ) -> MessageTextFault? {
        do throws(MessageTextFault) {
            try MessagePart(template, kind, in: .english).check(text, product: Self.product)
            return nil
        } catch {
            return error
        }
    }

    /// Returns a text for a code, which subjects lack.
    private func code(_ kind: MessagePart.Kind, _ more: String) -> String {
        (kind == .subject ? "" : "{code} ") + "{minutes} " + more
    }

    @Test func `an own text replaces one part, and the built-in ones are the others`() throws {
        var settings = MessageSettings(product: Self.product)
        settings.texts = [
            MessagePart(.signInCode, .subject, in: .german): "Moin von {product}",
            MessagePart(.newDevice, .body, in: .english): """
            {time}

            Look: {link}

            Yours, {product}

            """,
        ]
        let code = try MessageContent.code(.signInCode, "493021", minutes: 10)
        let builtIn = MessageSettings(product: Self.product)
        let german = code.text(for: .email, in: .german, by: settings)
        #expect(german.subject == "Moin von Bücherladen")
        #expect(german.body == code.text(for: .email, in: .german, by: builtIn).body)
        let others: [(MessageChannel, MessageLanguage)] = [(.sms, .german), (.email, .english)]
        for (channel, language) in others {
            #expect(
                code.text(for: channel, in: language, by: settings)
                    == code.text(for: channel, in: language, by: builtIn))
        }
        let time = Timestamp(seconds: 1_795_000_000)
        let linked = try MessageContent.notice(
            .newDevice, at: time, link: "https://id.example/account")
        let unlinked = try MessageContent.notice(.newDevice, at: time)
        let body = linked.text(for: .email, in: .english, by: settings).body
        #expect(body.contains("UTC\n\nLook: https://id.example/account\n\nYours, Bücherladen\n"))
        let short = unlinked.text(for: .email, in: .english, by: settings).body
        #expect(short.hasSuffix("UTC\n\nYours, Bücherladen\n"))
    }

    @Test func `nothing in a value is read as a placeholder`() throws {
        var settings = MessageSettings(product: "{code}")
        let part = MessagePart(.signInCode, .sms, in: .english)
        settings.texts = [part: "{product} {code} {minutes}"]
        let code = try MessageContent.code(.signInCode, "493021", minutes: 10)
        #expect(code.text(for: .sms, in: .english, by: settings).body == "{code} 493021 10")
    }

    @Test(arguments: parts)
    func `built-in texts obey the rules for own ones`(part: MessagePart) throws {
        try part.check(part.builtIn, product: Self.product)
    }

    @Test func `every placeholder but the product must be in a body and an SMS`() {
        #expect(fault("{minutes}\n", .body) == .missing(.code))
        #expect(fault("{code}\n", .body) == .missing(.minutes))
        #expect(fault("{minutes}", .sms) == .missing(.code))
        #expect(fault("{time}\n", .body, .newDevice) == .missing(.link))
        #expect(fault("{time}", .sms, .unlinkPlanned) == .missing(.provider))
        #expect(fault("Your code", .subject) == nil)
    }

    @Test(arguments: [
        "{code} {minutes} {name}", "{code} {minutes} {", "{code} {minutes} }", "{{code}} {minutes}",
        "{code {minutes}", "{code} {minutes} {}", "{code} {minutes} { product }",
        "{code} {minutes} {link}", "{code} {minutes} {time}", "{Code} {minutes}",
    ])
    func `there is no other placeholder or brace`(text: String) {
        let allowed: [MessagePlaceholder] = [.code, .minutes, .product]
        for kind in [MessagePart.Kind.body, .sms] {
            #expect(fault(text, kind) == .placeholder(allowed: allowed))
        }
    }

    @Test func `a subject has no code and no link`() {
        #expect(fault("{code}", .subject) == .placeholder(allowed: [.minutes, .product]))
        #expect(fault("{link}", .subject, .newDevice) == .placeholder(allowed: [.product, .time]))
        #expect(fault("{minutes} {product}", .subject) == nil)
    }

    @Test(arguments: [
        "A\r\nBcc: eve@example.org", "A\nBcc: e", "A\u{0}", "A\u{7F}", "A\u{85}B", "A\u{2028}B",
        "A\u{202E}B", "A\u{200B}B", "A\tB",
    ])
    func `a subject and an SMS are one line of printable text`(text: String) {
        #expect(fault(text, .subject) == .unprintable)
        #expect(fault("{code} {minutes} " + text, .sms) == .unprintable)
    }

    @Test(arguments: [
        "https://evil.example", "HTTP://evil", "see evil.example", "www.evil.example",
        "mail eve@evil.example", "{product}.com", "evil.{product}", "(evil.de)", "evil。example",
        "bücher.de", "evil.例え",
    ])
    func `a text has no address that mail programs make a link of`(text: String) {
        for kind in MessagePart.Kind.allCases {
            #expect(fault(code(kind, text), kind) == .link, "\(kind)")
        }
        #expect(fault("{time}\n\n{link} \(text)\n", .body, .newDevice) == .link)
    }

    @Test(arguments: [
        "z. B. so.", "z.B. so", "e.g. this", "at 10.30", "Really... yes", "a: b/c", ".",
    ])
    func `other dots and marks are no address`(text: String) {
        for kind in MessagePart.Kind.allCases {
            #expect(fault(code(kind, text), kind) == nil, "\(kind)")
        }
    }

    @Test func `a body is of use where there is no account page`() {
        #expect(fault("At {time}: {link}\n", .body, .newDevice) == .onlyWithLink)
        #expect(fault("{link}\n", .body, .addressKnown) == .onlyWithLink)
        #expect(fault("At {time}\n\n{link}\n", .body, .newDevice) == nil)
        #expect(fault("Sign in.\n\n{link}\n", .body, .addressKnown) == nil)
    }

    @Test func `lengths are limited`() {
        let rest = MessagePart.bodyBytesMax - "{code}{minutes}".utf8.count
        #expect(fault(String(repeating: "x", count: 200), .subject) == nil)
        #expect(fault(String(repeating: "x", count: 201), .subject) == .bytes(max: 200))
        #expect(fault("{code}{minutes}" + String(repeating: "x", count: rest), .body) == nil)
        #expect(
            fault("{code}{minutes}x" + String(repeating: "x", count: rest), .body)
                == .bytes(max: 8_192))
        // Three SMS have 459 letters, or 201 beside one that their alphabet lacks.
        let filled = "000000" + "1440"
        for (letter, room) in [("x", 459), ("ł", 201), ("€", 459)] {
            let count = (room - filled.count) / (letter == "€" ? 2 : 1)
            let text = "{code}{minutes}" + String(repeating: letter, count: count)
            #expect(fault(text, .sms) == nil, "\(letter)")
            #expect(fault(text + letter, .sms) == .segments(max: 3), "\(letter)")
        }
    }

    @Test(arguments: [
        (String(repeating: "a", count: 160), 1), (String(repeating: "a", count: 161), 2),
        (String(repeating: "€", count: 80), 1), (String(repeating: "€", count: 81), 2),
        (String(repeating: "ł", count: 70), 1), (String(repeating: "ł", count: 71), 2),
        (String(repeating: "😀", count: 35), 1), (String(repeating: "😀", count: 36), 2),
    ])
    func `an SMS has 160 letters, or 70 beside one that its alphabet lacks`(
        text: String, count: Int
    ) {
        #expect(SMSSegments.count(of: text) == count)
    }

    @Test func `the docs have the templates with their placeholders`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/messages.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: /\| `([a-z_]+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \|/)?.output
        }
        #expect(rows.map { String($0.1) } == MessageTemplate.allCases.map(\.rawValue))
        for (row, template) in zip(rows, MessageTemplate.allCases) {
            for (cell, kind) in [(row.2, MessagePart.Kind.body), (row.3, MessagePart.Kind.sms)] {
                guard template.parts.contains(kind) else {
                    #expect(cell == "none", "\(template)")
                    continue
                }
                let part = MessagePart(template, kind, in: .english)
                let named = cell.matches(of: /`\{([a-z]+)\}`/).map { String($0.output.1) }
                #expect(
                    Set(named) == Set(part.placeholders.subtracting([.product]).map(\.rawValue)),
                    "\(part)")
            }
        }
    }
}
