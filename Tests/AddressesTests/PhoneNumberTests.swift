import Addresses
import LedgerTestSupport
import Testing

/// The canonical form of phone numbers, and the reasons for refusals.
@Suite struct PhoneNumberTests {
    @Test(arguments: [
        ("+4915123456789", "+4915123456789", "DE"), ("+49 151 234 567 89", "+4915123456789", "DE"),
        ("+49 (0)151/234567-89", "+4915123456789", "DE"),
        ("+49.151.23456789", "+4915123456789", "DE"), ("+1 (201) 555-0123", "+12015550123", "US"),
        ("+1 506-234-5678", "+15062345678", "CA"), ("+44 7400 123456", "+447400123456", "GB"),
        ("+44 7624 123456", "+447624123456", "IM"), ("+39 02 1234 5678", "+390212345678", "IT"),
        ("+800 1234 5678", "+80012345678", "001"),
        // The prefix of mobile phones that Mexico has abolished.
        ("+52 1 55 1234 5678", "+525512345678", "MX"),
    ])
    func `numbers have a canonical form`(typed: String, text: String, region: String) throws {
        let number = try PhoneNumber(typed)
        #expect(number.text == text)
        #expect(number.region == region)
        #expect(PhoneNumber.formVersion == 1)
    }

    @Test(arguments: [
        ("0151 23456789", "DE", "+4915123456789"), ("+49 151 23456789", "US", "+4915123456789"),
        ("0049 151 23456789", "DE", "+4915123456789"),
        ("011 49 151 23456789", "US", "+4915123456789"),
        ("(201) 555-0123", "US", "+12015550123"), ("06 12 34 56 78", "FR", "+33612345678"),
    ])
    func `numbers without a plus sign are of the default region`(
        typed: String, region: String, text: String
    ) throws {
        #expect(try PhoneNumber(typed, defaultRegion: region).text == text)
    }

    @Test(arguments: [
        ("", PhoneNumberFault.notInternational), ("0151 23456789", .notInternational),
        ("4915123456789", .notInternational), ("0049 151 23456789", .notInternational),
        ("(+49) 151 23456789", .character), ("++4915123456789", .character),
        ("+49151+23456789", .character), (" +4915123456789", .character),
        ("+4915123456789\n", .character), ("+49151234567\u{0}89", .character),
        ("+49 151 23456789 ext. 5", .character), ("+4915123456789;ext=5", .character),
        ("tel:+4915123456789", .character), ("+1 800 FLOWERS", .character),
        ("+1 201 555 0123 x5", .character), ("+49151234567\u{FF18}9", .character),
        ("\u{FF0B}4915123456789", .character), ("+49\u{A0}15123456789", .character),
        ("+", .wrongLength), ("+4", .wrongLength), ("+49", .wrongLength), ("+49 1", .wrongLength),
        ("+99912345678", .unknownCountryCode), ("+0151234567", .unknownCountryCode),
        ("+49 151 2345678901234567", .wrongLength), ("+1 123 456 7890", .notAssigned),
        ("+1 201 555 012", .notAssigned), ("+49 110", .notAssigned),
        ("+52 1 1 55 1234 5678", .notAssigned),
        ("+4915123456789" + String(repeating: " ", count: 60), .wrongLength),
    ])
    func `texts that are no number are refused`(typed: String, fault: PhoneNumberFault) {
        #expect(throws: fault) { try PhoneNumber(typed) }
    }

    @Test(arguments: ["", "D", "de", "DEU", "ZZ", "001", "D\0", "\u{414}\u{415}", "+4"])
    func `regions are codes of countries`(region: String) {
        #expect(throws: PhoneNumberFault.unknownRegion) {
            try PhoneNumber("+4915123456789", defaultRegion: region)
        }
    }

    @Test(arguments: [
        ("+4915123456789", true), ("+12015550123", true), ("+447400123456", true),
        ("+4930123456", false), ("+18002345678", false), ("+390669821234", false),
        ("+80012345678", false),
    ])
    func `numbers tell whether they may be of mobile phones`(
        typed: String, mayBeMobile: Bool
    ) throws {
        #expect(try PhoneNumber(typed).mayBeMobile == mayBeMobile)
    }

    @Test func `canonical forms are canonical, and separators do not matter`() throws {
        var random = SeededGenerator(seed: 1)
        let codes = ["1", "33", "39", "44", "49", "52", "54", "55", "7", "81", "86", "91"]
        var accepted = 0
        for _ in 0..<4000 {
            var digits = codes.randomElement(using: &random) ?? ""
            for _ in 0..<Int.random(in: 8...11, using: &random) {
                digits += "\(Int.random(in: 0...9, using: &random))"
            }
            guard let number = try? PhoneNumber("+" + digits) else { continue }
            accepted += 1
            #expect(try PhoneNumber(number.text) == number)
            #expect(number.text.wholeMatch(of: /\+[1-9][0-9]{6,14}/) != nil)
            let separated = digits.map { "\($0)\(" -./()".randomElement(using: &random) ?? " ")" }
            #expect(try PhoneNumber("+" + separated.joined()) == number)
        }
        #expect(accepted > 400)
    }

    @Test func `numbers are read on several threads at once`() async {
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<200 {
                        #expect((try? PhoneNumber("+49 151 23456789"))?.text == "+4915123456789")
                    }
                }
            }
        }
    }
}
