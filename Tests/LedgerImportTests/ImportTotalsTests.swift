import LedgerImport
import Testing

/// The numbers of an import.
@Suite struct ImportTotalsTests {
    @Test func `the losses of accounts in the ledger are counted by themselves`() {
        var totals = ImportTotals()
        totals.kept = 1
        totals.add(ImportProblem("username"))
        #expect(!totals.text(isPreview: false).contains("of those in the ledger"))
        totals.add(ImportProblem("username", isOfKept: true))
        totals.add(ImportProblem("second_factors", isOfKept: true))
        #expect(
            totals.text(isPreview: false).hasSuffix(
                """
                left out, by kind:
                  username: 1
                left out of those in the ledger, by kind:
                  second_factors: 1
                  username: 1

                """))
    }

    @Test func `unknown providers are listed by their names, as far as these can be shown`() {
        var totals = ImportTotals()
        for name in ["steam", "sso:1", "steam", "", "a b", "\u{1B}[2J", "é"] {
            totals.add(unknownProvider: name)
        }
        totals.add(unknownProvider: String(repeating: "x", count: 65))
        let text = totals.text(isPreview: true)
        #expect(text.hasSuffix("in the file:\n  sso:1: 1\n  steam: 2\n"), "\(text)")
        for number in 0..<200 { totals.add(unknownProvider: "p\(number)") }
        totals.add(unknownProvider: "steam")
        #expect(totals.unknownProviders.count == 100 && totals.unknownProviders["steam"] == 3)
    }
}
