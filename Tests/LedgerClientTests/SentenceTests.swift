import Foundation
import Testing

@testable import LedgerClient

/// The sentences for people: those of the account page, in its languages.
struct SentenceTests {
    /// The texts of the account page in a language.
    private func page(_ language: Language) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/CPageAssets/texts")
        return try ["", "-more"].map { ending in
            let file = folder.appending(path: "\(language.rawValue)\(ending).mjs")
            return try String(contentsOf: file, encoding: .utf8)
        }.joined()
    }

    @Test func `the languages are those of the account page`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/CPageAssets/texts")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.contains("more") }.map { $0.replacing(".mjs", with: "") }
        #expect(names.sorted() == Language.allCases.map(\.rawValue).sorted())
    }

    @Test(arguments: Language.allCases)
    func `a sentence is that of the account page, or listed as the client's own`(
        _ language: Language
    ) throws {
        let page = try page(language)
        let sentences = Sentences.of(language)
        #expect(page.contains("\"\(sentences.failed)\""))
        let short = sentences.passwordTooShort.replacing("{count}", with: "${count}")
        #expect(page.contains("`\(short)`"))
        for (code, sentence) in sentences.byCode {
            let isThere = page.contains("\"\(sentence)\"")
            #expect(isThere != Sentences.own.contains(code), "\(code.rawValue): \(sentence)")
        }
    }

    @Test(arguments: Language.allCases)
    func `every language has the same sentences`(_ language: Language) {
        let english = Set(Sentences.english.byCode.keys)
        #expect(Set(Sentences.of(language).byCode.keys) == english)
        let known = Set(LedgerError.Code.ofLedger + LedgerError.Code.ofClient)
        #expect(english.isSubset(of: known))
        // Faults of a program or a proxy, about which a person can do nothing.
        let withoutOne: Set<LedgerError.Code> = [
            .notFound, .methodNotAllowed, .lengthRequired, .payloadTooLarge,
            .unsupportedMediaType, .idempotencyKeyReused, .internalError, .cancelled, .storeFailed,
        ]
        #expect(known.subtracting(english) == withoutOne)
    }

    @Test func `a password that is too short has its number in the sentence`() {
        let error = LedgerError(.weakPassword, message: "", details: ["length_min": "15"])
        #expect(
            error.sentence(in: .english) == "The password must have at least 15 characters.")
        #expect(
            LedgerError(.weakPassword, message: "").sentence(in: .french)
                == "Choisissez un autre mot de passe : celui-ci est trop courant ou inutilisable.")
        let unknown = LedgerError(LedgerError.Code(rawValue: "NEWER"), message: "")
        #expect(unknown.sentence(in: .english) == "Something went wrong.")
    }

    @Test(
        arguments: [
            (["de-AT", "en"], .german), (["pt-BR", "fr-CA"], .french),
            (["zh-TW"], .traditionalChinese),
            (["zh_Hant_HK"], .traditionalChinese), (["zh-Hans-CN", "ja"], .japanese),
            (["zh-Hans-TW"], .english), ([], .english), (["xx"], .english), (["es-419"], .spanish),
        ] as [([String], Language)])
    func `the first language that there is counts`(_ tags: [String], _ language: Language) {
        #expect(Language(preferred: tags) == language)
    }
}
