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
}
