import Foundation
import Ledger
import Testing

@testable import LedgerMessages

/// The texts of every template, to the letter.
@Suite struct GoldenTextTests {
    private static let time = Timestamp(seconds: 1_795_000_000)
    private static let settings = MessageSettings(product: "Bücherladen")

    private static func content(
        _ template: MessageTemplate, hasLink: Bool
    ) throws(MessageFault) -> MessageContent {
        let link = hasLink ? "https://id.example/account" : nil
        if template.hasCode {
            return try .code(template, "493021", minutes: 10)
        }
        if template == .addressKnown { return try .addressKnown(link: link) }
        let provider = template.required.contains(.provider) ? "Google" : nil
        return try .notice(template, at: time, provider: provider, link: link)
    }

    /// Every text of a language in a fixed form.
    private static func all(in language: MessageLanguage) throws -> String {
        var texts = ""
        for template in MessageTemplate.allCases {
            for hasLink in template.optional.isEmpty ? [false] : [false, true] {
                let content = try content(template, hasLink: hasLink)
                for channel in MessageChannel.allCases
                where template.channels.contains(channel) && !(hasLink && channel == .sms) {
                    let text = content.text(for: channel, in: language, by: settings)
                    texts += "=== \(template.rawValue) \(channel.rawValue)"
                    texts += hasLink ? " with link\n" : "\n"
                    texts += text.subject.map { "Subject: \($0)\n\n" } ?? ""
                    texts += text.body + (text.body.hasSuffix("\n") ? "" : "\n")
                }
            }
        }
        return texts
    }

    @Test(arguments: MessageLanguage.allCases)
    func `texts are those of the golden file`(language: MessageLanguage) throws {
        let url = try #require(
            Bundle.module.url(
                forResource: language.rawValue, withExtension: "txt", subdirectory: "Golden"))
        let golden = try String(contentsOf: url, encoding: .utf8)
        let texts = try Self.all(in: language)
        if texts != golden {
            let actual = FileManager.default.temporaryDirectory
                .appending(path: "messages-\(language.rawValue).txt")
            try texts.write(to: actual, atomically: true, encoding: .utf8)
            Issue.record("\(language.rawValue): the texts differ, see \(actual.path())")
        }
    }

    @Test func `every text fills every placeholder, and an SMS is short`() throws {
        for language in MessageLanguage.allCases {
            let all = try Self.all(in: language)
            #expect(!all.contains("{") && !all.contains("}"))
            for template in MessageTemplate.allCases where template.channels.contains(.sms) {
                let text = try Self.content(template, hasLink: false)
                    .text(for: .sms, in: language, by: Self.settings)
                // Three parts of a message in UCS-2.
                #expect(text.body.utf16.count <= 201, "\(template) \(language)")
                #expect(text.subject == nil && !text.body.contains("\n"))
            }
        }
    }
}
