import Ledger
import Testing

struct SearchTermTests {
    private func term(_ text: String) -> SearchTerm? {
        SearchTerm(text, named: { _ in nil }, number: { $0 == "+4915123456789" ? $0 : nil })
    }

    @Test(arguments: [
        ("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", SearchTerm.Kind.id),
        (" 0190A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B ", .id),
        ("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b@a.example", .email), ("a@b", .email),
        ("@", .email), ("110169484474386276334", .providerID), ("ada", .providerID),
        ("é", .providerID), ("+4915123456789", .phone), (" +4915123456789 ", .phone),
        ("4915123456789", .providerID), ("+49", .providerID), ("+4915123456789@a", .email),
    ])
    func `a term is classified by its form`(text: String, kind: SearchTerm.Kind) {
        #expect(term(text)?.kind == kind)
    }

    @Test(arguments: [
        "", " ", "a\u{0}", "a\nb", "\u{7F}", String(repeating: "a", count: 321),
        String(repeating: "é", count: 161),
    ])
    func `text that nothing could match is not a term`(text: String) {
        #expect(term(text) == nil)
    }

    @Test func `the longest e-mail is a term`() {
        #expect(term(String(repeating: "a", count: 319) + "@")?.kind == .email)
    }

    @Test(arguments: [
        ("Ada@Example.COM", "ada@example.com"), ("  ada@example.com ", "ada@example.com"),
        ("ÄDA@example.com", "Äda@example.com"), ("a d@x", "a d@x"), ("\t\r\nA@B\n", "a@b"),
        ("", ""), ("\u{A0}a@b", "\u{A0}a@b"),
    ])
    func `e-mails are compared without blanks around and without case`(
        email: String, compared: String
    ) {
        #expect(SearchTerm.comparable(email: email).utf8.elementsEqual(compared.utf8))
    }

    @Test func `subjects are compared with the unchanged text`() {
        #expect(term(" Ada")?.text == " Ada")
        #expect(term(" A@B")?.email == "a@b")
        #expect(term("ada")?.email == nil)
    }
}
