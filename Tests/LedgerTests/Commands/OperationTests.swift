import Ledger
import LedgerTestSupport
import Testing

/// The commands of operators about the ledger as a whole.
struct OperationTests {
    private static let opening = LedgerOpened(
        mode: .development, encryptionKey: "0123456789abcdef", macKey: "m-1", tokenKey: "t-1")

    @Test func `a ledger is opened once`() throws {
        var scenario = Scenario()
        let open = Command.Intent.openLedger(OpenLedger(Self.opening))
        #expect(try scenario.when(open) == then(.opened, .ledgerOpened(Self.opening)))
        #expect(try scenario.when(open) == then(.opened))
    }

    @Test func `keys and restores are recorded in a ledger that is open`() throws {
        var scenario = Scenario()
        let rotated = KeyRotated(
            kind: .encryption, key: "fedcba9876543210", former: "0123456789abcdef")
        let restored = LedgerRestored(
            origin: 0, root: digest(Array(repeating: 9, count: 32)), size: 7)
        let rotate = Command.Intent.rotateKey(RotateKey(rotated))
        let restore = Command.Intent.recordRestore(RecordRestore(restored))
        #expect(try scenario.when(rotate) == refused(.unknownTenant))
        #expect(try scenario.when(restore) == refused(.unknownTenant))
        _ = try scenario.when(.openLedger(OpenLedger(Self.opening)))
        #expect(try scenario.when(rotate) == then(.keyRotated, .keyRotated(rotated)))
        #expect(
            try scenario.when(restore)
                == then(.restoreRecorded(at: LogPosition(2)), .ledgerRestored(restored)))
    }
}
