import Ledger
import Testing

@Suite struct EmailTests {
    private func values(_ disclosures: [Disclosure]) -> DisclosedValues {
        var values = DisclosedValues()
        for disclosure in disclosures {
            let isNew = values.add(disclosure)
            #expect(isNew)
        }
        return values
    }

    @Test(arguments: [true, false, nil])
    func `an e-mail is disclosed with its verification, and read back`(isVerified: Bool?) {
        let email = Email("ada@example.org", isVerified: isVerified)
        let values = values(email.disclosures)
        #expect(values.email == email)
        #expect(values[.emailVerified] == isVerified.map { "\($0)" })
        #expect(
            values.values.map(\.name) == (isVerified == nil ? [.email] : [.email, .emailVerified]))
    }

    @Test(arguments: [nil, "", "TRUE", "1", "yes"])
    func `a missing or malformed flag means unknown`(flag: String?) {
        let disclosures =
            [Disclosure(.email, "a@b.c")]
            + [flag.map { Disclosure(.emailVerified, $0) }]
            .compactMap(\.self)
        #expect(values(disclosures).email == Email("a@b.c", isVerified: nil))
        #expect(values([Disclosure(.emailVerified, "true")]).email == nil)
    }
}
