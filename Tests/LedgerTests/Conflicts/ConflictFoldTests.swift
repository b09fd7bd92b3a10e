import Ledger
import LedgerTestSupport
import Testing

/// The effects of events on conflicts: given, when, then.
@Suite struct ConflictFoldTests {
    struct Example: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let events: [Event]
        /// In the format of ``ConflictFoldTests/text(of:)``, in the order of their first attempts.
        let conflicts: [String]

        init(_ name: String, _ events: [Event], _ conflicts: [String]) {
            testDescription = name
            self.events = events
            self.conflicts = conflicts
        }
    }

    private static let names = ["A", "B", "C", "D"]
    private static let (a, b, c, d) = (
        AccountID(bits: 1), AccountID(bits: 2), AccountID(bits: 3), AccountID(bits: 4)
    )

    static let examples = [
        Example(
            "held by another account", [link(a, 1), refuse(b, 1, heldBy: a)],
            ["B held_by_other 1 A x1 #1-1 open"]),
        Example(
            "refused again and again",
            [
                link(a, 1), refuse(b, 1, heldBy: a), refuse(c, 1, heldBy: a),
                refuse(b, 1, heldBy: a),
            ],
            ["B held_by_other 1 A x2 #1-3 open", "C held_by_other 1 A x1 #2-2 open"]),
        Example("linking an own identity is not a conflict", [link(a, 1), yours(a, 1)], []),
        Example(
            "the holder unlinks it",
            [link(a, 1), refuse(b, 1, heldBy: a), unlink(a, 1)],
            ["B held_by_other 1 A>- x1 #1-1 ProviderUnlinked#2"]),
        Example(
            "the caller gets it after that",  // The unlink had ended it.
            [link(a, 1), refuse(b, 1, heldBy: a), unlink(a, 1), link(b, 1)],
            ["B held_by_other 1 A>- x1 #1-1 ProviderUnlinked#2"]),
        Example(
            "another account gets it, and the caller is refused once more",
            [
                link(a, 1), refuse(b, 1, heldBy: a), unlink(a, 1), link(c, 1),
                refuse(b, 1, heldBy: c),
            ],
            [
                "B held_by_other 1 A>- x1 #1-1 ProviderUnlinked#2",
                "B held_by_other 1 C x1 #4-4 open",
            ]),
        Example(
            "the holder unlinks something else",
            [link(a, 1), link(a, 2), refuse(b, 1, heldBy: a), unlink(a, 2)],
            ["B held_by_other 1 A x1 #2-2 open"]),
        Example(
            "the caller absorbs the holder",
            [link(a, 1), refuse(b, 1, heldBy: a), merge(b, a, moved: [1], links: [1])],
            ["B held_by_other 1 A>B x1 #1-1 AccountsMerged#2"]),
        Example(
            "the holder absorbs the caller",
            [link(a, 1), refuse(b, 1, heldBy: a), merge(a, b, links: [1])],
            ["B>A held_by_other 1 A x1 #1-1 AccountsMerged#2"]),
        Example(
            "the merge is undone",
            [
                link(a, 1), refuse(b, 1, heldBy: a), merge(b, a, moved: [1], links: [1]),
                undo(2, b, a, returned: [1]),
            ],
            ["B held_by_other 1 A x1 #1-1 open"]),
        Example(
            "the merge by the holder is undone, and the caller tries again",
            [
                link(a, 1), refuse(b, 1, heldBy: a), merge(a, b, links: [1]),
                undo(2, a, b, links: [1]), refuse(b, 1, heldBy: a),
            ],
            ["B held_by_other 1 A x2 #1-4 open"]),
        Example(
            "a third account absorbs the holder",
            [link(a, 1), refuse(b, 1, heldBy: a), merge(c, a, moved: [1], links: [1])],
            ["B held_by_other 1 A>C x1 #1-1 open"]),
        Example(
            "a third account absorbs the holder and leaves the identity behind",
            [link(a, 1), refuse(b, 1, heldBy: a), merge(c, a, dropped: [1])],
            ["B held_by_other 1 A>- x1 #1-1 AccountsMerged#2"]),
        Example(
            "and gives it back",
            [
                link(a, 1), refuse(b, 1, heldBy: a), merge(c, a, dropped: [1]),
                undo(2, c, a, returned: [1]),
            ],
            ["B held_by_other 1 A x1 #1-1 open"]),
        Example(
            "the holder gives it up for one of an account that it absorbs, and has it again",
            [
                link(a, 1), refuse(b, 1, heldBy: a), merge(a, c, replaced: [1], links: [2]),
                undo(2, a, c, restored: [1], links: [1]),
            ],
            ["B held_by_other 1 A x1 #1-1 open"]),
        Example(
            "the identity left behind goes to another account before the undoing",
            [
                link(a, 1), refuse(b, 1, heldBy: a), merge(c, a, dropped: [1]), link(d, 1),
                undo(2, c, a),
            ],
            ["B held_by_other 1 A>- x1 #1-1 AccountsMerged#2"]),
        Example(
            "the caller is absorbed between the merge and its undoing",
            [
                link(a, 1), refuse(b, 1, heldBy: a), merge(c, a, dropped: [1]), merge(d, b),
                undo(2, c, a, returned: [1]),
            ],
            ["B>D held_by_other 1 A x1 #1-1 open"]),
        Example(
            "the caller is erased between the merge and its undoing",
            [
                link(a, 1), refuse(b, 1, heldBy: a), merge(c, a, dropped: [1]), erase(b),
                undo(2, c, a, returned: [1]),
            ],
            ["B held_by_other 1 A>- x1 #1-1 AccountErased#3"]),
        Example(
            "the survivor had it before the merge, and has it after the undoing",
            [
                link(a, 1), refuse(b, 1, heldBy: a), merge(a, b, links: [1]), merge(c, a),
                undo(3, c, a), undo(2, a, b, links: [1]),
            ],
            ["B held_by_other 1 A x1 #1-1 open"]),
        Example(
            "a conflict resolved by an unlink before the merge stays resolved after its undoing",
            [
                link(a, 1), refuse(b, 1, heldBy: a), unlink(a, 1), merge(a, b), undo(3, a, b),
            ],
            ["B held_by_other 1 A>- x1 #1-1 ProviderUnlinked#2"]),
        Example(
            "a chain of merges reaches the holder, and is undone",
            [
                link(a, 1), refuse(b, 1, heldBy: a), merge(c, b), merge(d, c),
                merge(d, a, moved: [1], links: [1]), undo(4, d, a, returned: [1]),
                undo(3, d, c), undo(2, c, b),
            ],
            ["B held_by_other 1 A x1 #1-1 open"]),
        Example(
            "in a chain of merges the caller is the last survivor",
            [link(a, 1), refuse(b, 1, heldBy: a), merge(c, b), merge(d, c)],
            ["B>D held_by_other 1 A x1 #1-1 open"]),
        Example(
            "the caller is erased", [link(a, 1), refuse(b, 1, heldBy: a), erase(b)],
            ["B held_by_other 1 A x1 #1-1 AccountErased#2"]),
        Example(
            "the holder is erased", [link(a, 1), refuse(b, 1, heldBy: a), erase(a)],
            ["B held_by_other 1 A>- x1 #1-1 AccountErased#2"]),
        Example(
            "a family is erased, and an unrelated account is not",
            [
                link(a, 1), refuse(b, 1, heldBy: a), merge(c, b), erase(d), erase(b), erase(c),
            ],
            ["B>C held_by_other 1 A x1 #1-1 AccountErased#4"]),
        Example(
            "the caller has another identity of the provider",
            [link(a, 1), taken(a, 2)], ["A provider_taken 2 - x1 #1-1 open"]),
        Example(
            "and unlinks it", [link(a, 1), taken(a, 2), unlink(a, 1), link(a, 2)],
            ["A provider_taken 2 - x1 #1-1 ProviderUnlinked#2"]),
        Example(
            "and unlinks one of another provider",
            [link(a, 1), link(a, 9, "apple"), taken(a, 2), unlink(a, 9, "apple")],
            ["A provider_taken 2 - x1 #2-2 open"]),
        Example(
            "and gets it, since the tenant allows several",
            [link(a, 1), taken(a, 2), link(a, 2)],
            ["A provider_taken 2 ->A x1 #1-1 ProviderLinked#2"]),
        Example(
            "and another account gets it",
            [link(a, 1), taken(a, 2), link(b, 2), refuse(a, 2, heldBy: b)],
            [
                "A provider_taken 2 ->B x1 #1-1 ProviderLinked#2",
                "A held_by_other 2 B x1 #3-3 open",
            ]),
        Example(
            "and gets a third one, since the tenant allows several",
            [link(a, 1), link(a, 9, "apple"), taken(a, nil), taken(a, 2), link(a, 3)],
            [
                "A provider_taken - - x1 #2-2 ProviderLinked#4",
                "A provider_taken 2 - x1 #3-3 ProviderLinked#4",
            ]),
        Example(
            "and gets one of another provider, or another account one of this",
            [link(a, 1), taken(a, nil), link(a, 9, "apple"), link(b, 3)],
            ["A provider_taken - - x1 #1-1 open"]),
        Example(
            "and it returns to the account that a merge had taken it from",
            [
                link(a, 1), link(b, 2), merge(c, b, dropped: [2]), taken(a, 2),
                undo(2, c, b, returned: [2]),
            ],
            ["A provider_taken 2 ->B x1 #3-3 AccountsUnmerged#4"]),
        Example(
            "and is erased", [link(a, 1), taken(a, 2), erase(a)],
            ["A provider_taken 2 - x1 #1-1 AccountErased#2"]),
        Example(
            "an identity that was never linked",
            [link(a, 1), taken(a, nil), taken(a, nil), unlink(a, 1)],
            ["A provider_taken - - x2 #1-2 ProviderUnlinked#3"]),
        Example(
            "it counts for the account that absorbs the caller",
            [link(a, 1), taken(a, 2), merge(b, a, moved: [1], links: [1]), unlink(b, 1)],
            ["A>B provider_taken 2 - x1 #1-1 ProviderUnlinked#3"]),
        Example(
            "the obstacle is removed by undoing a merge",
            [
                link(a, 1), merge(b, a, moved: [1], links: [1]), taken(b, 2),
                undo(1, b, a, returned: [1]),
            ],
            ["B provider_taken 2 - x1 #2-2 AccountsUnmerged#3"]),
        Example(
            "unrelated events change nothing",
            [
                link(a, 1), refuse(b, 1, heldBy: a), link(c, 3), unlink(c, 3), erase(c), link(b, 4),
            ],
            ["B held_by_other 1 A x1 #1-1 open"]),
    ]

    @Test(arguments: examples) func `conflicts follow events`(example: Example) throws {
        var fold = ConflictFold()
        for (position, event) in example.events.enumerated() {
            try fold.apply(Self.recorded(event, at: position))
        }
        #expect(fold.conflicts.map(Self.text) == example.conflicts)
    }

    @Test(arguments: examples) func `folding page by page gives the same result`(example: Example)
        throws
    {
        for size in 1...3 {
            var stored: [LogPosition: Conflict] = [:]
            for start in stride(from: 0, to: example.events.count, by: size) {
                let page = Array(example.events[start...].prefix(size))
                let keys = ConflictFold.Keys(page)
                var fold = ConflictFold(stored.values.filter { keys.name($0) })
                for (offset, event) in page.enumerated() {
                    try fold.apply(Self.recorded(event, at: start + offset))
                }
                for conflict in fold.changes { stored[conflict.first.position] = conflict }
            }
            let found = stored.sorted { $0.key < $1.key }.map(\.value)
            #expect(found.map(Self.text) == example.conflicts, "pages of \(size)")
        }
    }

    @Test func `a conflict of another log is refused`() throws {
        var fold = ConflictFold()
        try fold.apply(Self.recorded(Self.link(Self.a, 1), at: 0))
        try fold.apply(Self.recorded(Self.refuse(Self.b, 1, heldBy: Self.a), at: 1))
        let before = fold.conflicts
        #expect(throws: FoldFault.self) {
            try fold.apply(Self.recorded(Self.refuse(Self.b, 1, heldBy: Self.c), at: 2))
        }
        #expect(fold.conflicts == before)
    }

    /// `caller>now reason identity holder>now xATTEMPTS #FIRST-LAST open|TYPE#POSITION`; `>` only where
    /// something has changed.
    static func text(of conflict: Conflict) -> String {
        func name(_ account: AccountID?) -> String {
            account.map { names[Int($0.bits) - 1] } ?? "-"
        }
        func pair(_ then: AccountID?, _ now: AccountID?) -> String {
            then == now ? name(then) : "\(name(then))>\(name(now))"
        }
        return [
            pair(conflict.caller, conflict.callerNow), conflict.reason.rawValue,
            conflict.identity.map { "\($0.bits)" } ?? "-",
            pair(conflict.holder, conflict.holderNow), "x\(conflict.attempts)",
            "#\(conflict.first.position)-\(conflict.last.position)",
            conflict.resolution.map { "\($0.type)#\($0.mark.position)" } ?? "open",
        ].joined(separator: " ")
    }

    static func recorded(_ event: Event, at position: Int) -> RecordedEvent {
        RecordedEvent(
            tenant: .default, position: LogPosition(Int64(position)), id: id(of: position),
            recordedAt: Timestamp(seconds: Int64(position)), actor: .system,
            command: CommandID(bits: 1), request: nil,
            accounts: event.fact.accounts.map {
                AccountReference(id: $0, previous: nil, sequence: 0)
            }, disclosureDigests: [], event: event)
    }

    private static func id(of position: Int) -> EventID {
        EventID(bits: UInt128(position) + 100)
    }

    private static func identity(_ number: UInt128) -> IdentityID { IdentityID(bits: number) }

    private static func link(
        _ account: AccountID, _ number: UInt128, _ name: String = "google"
    ) -> Event {
        .providerLinked(
            ProviderLinked(
                account: account, identity: identity(number), provider: provider(name),
                cause: .link))
    }

    private static func unlink(
        _ account: AccountID, _ number: UInt128, _ name: String = "google"
    ) -> Event {
        .providerUnlinked(
            ProviderUnlinked(
                account: account, identity: identity(number), provider: provider(name)))
    }

    private static func refuse(
        _ account: AccountID, _ number: UInt128, heldBy holder: AccountID
    ) -> Event {
        .conflictRejected(
            ConflictRejected(
                account: account, holder: holder, identity: identity(number),
                provider: provider("google"), reason: .heldByOther))
    }

    private static func yours(_ account: AccountID, _ number: UInt128) -> Event {
        .conflictRejected(
            ConflictRejected(
                account: account, holder: nil, identity: identity(number),
                provider: provider("google"), reason: .alreadyYours))
    }

    private static func taken(_ account: AccountID, _ number: UInt128?) -> Event {
        .conflictRejected(
            ConflictRejected(
                account: account, holder: nil, identity: number.map { identity($0) },
                provider: provider("google"), reason: .providerTaken))
    }

    private static func erase(_ account: AccountID) -> Event {
        .accountErased(AccountErased(account: account, basis: .retention, survivor: nil))
    }

    private static func links(_ numbers: [UInt128]) -> [Account.Link] {
        numbers.map {
            Account.Link(
                identity: identity($0), provider: provider("google"),
                linkedAt: Timestamp(seconds: 0), position: LogPosition(0))
        }
    }

    private static func merge(
        _ survivor: AccountID, _ absorbed: AccountID, moved: [UInt128] = [],
        dropped: [UInt128] = [], replaced: [UInt128] = [], links: [UInt128] = []
    ) -> Event {
        .accountsMerged(
            AccountsMerged(
                survivor: survivor, absorbed: absorbed, cause: .support,
                moved: Self.links(moved), dropped: Self.links(dropped),
                replaced: Self.links(replaced), links: Self.links(links),
                plan: digest(Array(repeating: 0, count: 32))))
    }

    private static func undo(
        _ merge: Int, _ survivor: AccountID, _ absorbed: AccountID, returned: [UInt128] = [],
        restored: [UInt128] = [], links: [UInt128] = []
    ) -> Event {
        .accountsUnmerged(
            AccountsUnmerged(
                survivor: survivor, absorbed: absorbed, merge: id(of: merge),
                returned: Self.links(returned), restored: Self.links(restored),
                links: Self.links(links)))
    }
}
