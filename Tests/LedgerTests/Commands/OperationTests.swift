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

    @Test func `a log that another process has opened gets no pepper`() throws {
        func open(_ pepper: KeyRotated?) -> Command.Intent {
            .openLedger(OpenLedger(Self.opening, pepper: pepper))
        }
        let peppers = ["1111111111111111", "2222222222222222"].map {
            KeyRotated(kind: .pepper, key: $0, former: KeyRotated.noFormerKey)
        }
        var scenario = Scenario()
        #expect(
            try scenario.when(open(peppers[0]))
                == then(.opened, .ledgerOpened(Self.opening), .keyRotated(peppers[0])))
        #expect(try scenario.when(open(peppers[1])) == then(.opened))
        var other = Scenario()
        #expect(try other.when(open(nil)) == then(.opened, .ledgerOpened(Self.opening)))
        #expect(try other.when(open(peppers[1])) == then(.opened))
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
