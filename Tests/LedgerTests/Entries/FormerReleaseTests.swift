import Foundation
import Ledger
import LedgerTestSupport
import Testing

/// A log that the release before event versions (commit 02482e8) has written, with the state it had
/// there.
@Suite struct FormerReleaseTests {
    private static func lines(_ name: String) throws -> [String] {
        let file = try #require(
            Bundle.module.url(forResource: "FormerRelease/\(name)", withExtension: nil))
        return String(decoding: try Data(contentsOf: file), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    @Test func `its log is read, written and folded as it was`() throws {
        var state = LedgerState(tenant: .default)
        var compact = CompactState(tenant: .default)
        var names: Set<Event.Name> = []
        for line in try Self.lines("entries.jsonl") {
            let entry = Array(line.utf8)
            let recorded = try EntryEncoding.decode(entry)
            #expect(recorded.event.version == 1)
            #expect(EntryEncoding.encode(recorded) == entry)
            #expect(recorded.shortfall == nil, "\(line)")
            try state.apply(recorded, leaf: leafHash(entry))
            try compact.apply(recorded, leaf: leafHash(entry))
            names.insert(recorded.event.name)
        }
        let later: Set<Event.Name> = [
            .rulesSet, .addressClaimed, .addressConfirmed, .addressReleased, .addressChanged,
            .passwordSet,
            .accountDisabled, .accountEnabled, .sessionsEnded, .secondFactorEnrolled,
            .secondFactorRemoved,
            .secondFactorRefused, .recoveryCodeUsed, .secondFactorRemovalPlanned,
            .secondFactorRemovalStopped, .passkeyRegistered, .signInThrottled,
            .providerUnlinkPlanned, .providerUnlinkStopped, .accountNamed,
        ]
        #expect(names == Set(Event.Name.allCases).subtracting(later.union([.sessionRevoked])))
        #expect(state.sessions.count > 10)
        #expect(state.sessions.values.allSatisfy { $0.methods == .federated })
        #expect(compact.nextPosition == state.nextPosition)
        #expect(outcome(of: state) == (try Self.lines("state.txt")))
    }

    private func outcome(of state: LedgerState) -> [String] {
        let accounts = state.accounts.values.map { account in
            let links = account.links.map { "\($0.provider) \($0.identity) \($0.linkedAt)" }
            return "account \(account.id) \(account.nextSequence) \(account.lastLeaf) \(links) "
                + "\(account.holds) \(account.mergedInto.map { "\($0)" } ?? "-") "
                + "\(account.erasedPosition.map { "\($0)" } ?? "-")"
        }
        let identities = state.identities.values.map { identity in
            "identity \(identity.id) \(identity.provider) "
                + "\(identity.account.map { "\($0)" } ?? "-") \(identity.linkedPosition)"
        }
        let sessions = state.sessions.values.map { session in
            "session \(session.id) \(session.account) \(session.identity) "
                + "\(session.authenticatedAt) \(session.openedPosition) "
                + "\(session.endedPosition.map { "\($0)" } ?? "-")"
        }
        return accounts.sorted() + identities.sorted() + sessions.sorted()
    }
}
