import Ledger
import LedgerEngine
import LedgerTestSupport

@testable import LedgerPostgres

extension Tampering {
    /// Forges an event that follows all rules, with the serving login.
    private init(
        forged name: String, review: Int? = nil, movesHead: Bool = true,
        _ forge: @escaping @Sendable (inout Forger, PreparedLedger) throws -> Void
    ) {
        self.init(name, review: review, at: PreparedLedger.count) { ledger in
            var forger = try await Forger(ledger.database)
            forger.movesHead = movesHead
            try forge(&forger, ledger)
            try await ledger.database.asRuntime.execute(forger.sql)
        }
    }

    static let forged = [
        Tampering(forged: "a link is forged", review: 28) { forger, ledger in
            try forger.link(
                "thief", of: "facebook", to: ledger.ada.account,
                by: .account(ledger.ada.account, session: ledger.ada.caller.session))
        },
        Tampering(forged: "a link is forged, and the head left as it is", movesHead: false) {
            forger, ledger in
            try forger.link(
                "thief", of: "facebook", to: ledger.ada.account,
                by: .account(ledger.ada.account, session: ledger.ada.caller.session))
        },
        Tampering(forged: "a sign-in is forged") { forger, ledger in
            guard let link = forger.state.accounts[ledger.ada.account]?.links.first else {
                throw Unexpected(what: "no link")
            }
            let fact = SignedIn(
                account: ledger.ada.account, authenticatedAt: forger.state.lastRecordedAt,
                identity: link.identity, methods: .federated, provider: link.provider,
                session: forger.newID())
            try forger.append(
                .signedIn(fact), by: .account(ledger.ada.account, session: fact.session))
        },
        Tampering(forged: "an unlink is forged") { forger, ledger in
            guard let link = forger.state.accounts[ledger.carol.account]?.links.first else {
                throw Unexpected(what: "no link")
            }
            try forger.append(
                .providerUnlinked(
                    ProviderUnlinked(
                        account: ledger.carol.account, identity: link.identity,
                        provider: link.provider)),
                by: .account(ledger.carol.account, session: nil))
        },
        Tampering(forged: "a merge by support is forged", review: 29) { forger, ledger in
            try forger.merge(
                ledger.ada.account, into: ledger.carol.account,
                by: .principal(Principal(key: APIKeyID(bits: 1), role: .support)))
        },
        Tampering(forged: "a legal hold is forged", review: 30) { forger, ledger in
            try forger.append(
                .legalHoldSet(LegalHoldSet(account: ledger.ada.account, hold: forger.newID())),
                by: .system)
        },
        Tampering(forged: "the end of a legal hold is forged") { forger, ledger in
            guard let hold = forger.state.accounts[ledger.bob.account]?.holds.first else {
                throw Unexpected(what: "no hold")
            }
            try forger.append(
                .legalHoldLifted(LegalHoldLifted(account: ledger.bob.account, hold: hold)),
                by: .system)
        },
        Tampering("an erasure is forged and executed", at: PreparedLedger.count) { ledger in
            var forger = try await Forger(ledger.database)
            let account = ledger.ada.account
            try forger.append(
                .accountErased(
                    AccountErased(account: account, basis: .dataSubjectRequest, survivor: nil)),
                by: .system)
            try await ledger.database.asRuntime.execute(
                """
                \(forger.sql);
                SELECT ledger_erase_accounts(
                    'default', '{\(account)}', '{\(PreparedLedger.count)}')
                """)
        },
        Tampering(forged: "a rotation of a key is forged") { forger, _ in
            try forger.append(
                .keyRotated(KeyRotated(kind: .encryption, key: "0123456789abcdef", former: "test")),
                by: .system)
        },
        Tampering(forged: "a rotation of the MAC key is forged") { forger, _ in
            let prefix = KeyRotated.Prefix(
                root: sha256([]), size: PreparedLedger.count)
            let former = SequencerFixture.macKey.id.description
            try forger.append(
                .keyRotated(KeyRotated(macKey: "01234567", former: former, after: prefix)),
                by: .system)
        },
    ]
}
