import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// The connections of a copy, and its next run.
struct Sides {
    let source: Connection
    let target: Connection
    private let next: TenantCopy?
    private let to: ScratchDatabase

    init(
        _ from: ScratchDatabase, _ to: ScratchDatabase, _ tenant: String = "default",
        copies: Bool = true
    ) throws {
        self.to = to
        source = try Connection(url: from.ownerURL, applicationName: "a test")
        target = try Connection(url: to.ownerURL, applicationName: "a test")
        next =
            copies
            ? try TenantCopy(
                try #require(TenantID(tenant)), from: source, to: target,
                run: UInt128.random(in: 1...(.max))) : nil
    }

    var run: TenantCopy {
        get throws { try #require(next) }
    }

    @discardableResult func abandon(run: UInt128) throws -> Bool {
        try TenantCopy.abandon(
            .default, from: source,
            to: { try Connection(url: to.ownerURL, applicationName: "a test") }, run: run,
            mayBeGone: false)
    }

    func markAgain() throws {
        try TenantCopy.markAgain(.default, in: source, movedTo: target)
    }
}
