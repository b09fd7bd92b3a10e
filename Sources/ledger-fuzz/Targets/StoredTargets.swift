import Cryptography
import Encodings
import Foundation
import JSON
import Ledger
import LedgerTestSupport
import Postgres

/// Values read from the database: damaged bytes are refused, never a trap, and only the form that
/// the ledger writes is accepted.
enum StoredTargets {
    static let disclosures = FuzzTarget(
        "disclosures",
        corpus: [
            DisclosureList.join([
                Disclosure(.providerID, "subject-1").encoded(salt: Array(0..<16)),
                Disclosure(.email, "a\"b\\c\u{1}é😀@b.c").encoded(salt: Array(16..<32)),
            ]), Disclosure(.userAgent, "").encoded(salt: Array(0..<16)),
        ].map { String(decoding: $0, as: UTF8.self) },
        words: ["~", "WyJ", "\"", "\\u0000"]
    ) { input in
        guard let list = DisclosureList.split(input) else { return false }
        for (encoded, disclosure) in list {
            let json = Base64URL.decode(String(decoding: encoded, as: UTF8.self)) ?? []
            guard
                let salt = JSONValue(parsing: json)?.array?.first?.string
                    .flatMap({ Base64URL.decode($0) }), salt.count == Disclosure.saltBytes
            else { throw Finding("a disclosure is not JSON with a salt") }
            try require(
                disclosure.encoded(salt: salt) == encoded, "a disclosure is written differently")
        }
        return true
    }

    /// Entries of a random history of every command.
    static func entries() throws -> FuzzTarget {
        var ledger = ModelLedger(policy: TenantPolicy(providers: Set(RandomCommands.providers)))
        var commands = RandomCommands(seed: 1)
        for second in 0..<400 {
            let now = Timestamp(seconds: 1_790_000_000 + Int64(second))
            commands.learn(try ledger.execute(commands.next(), at: now).result)
        }
        var kinds: [String: [UInt8]] = [:]
        for recording in ledger.log {
            kinds[recording.recorded.event.name.rawValue] = recording.entry
        }
        return FuzzTarget(
            "entries", bytes: kinds.sorted { $0.key < $1.key }.map(\.value) + otherVersions,
            words: [
                "\"", ",", "null", "\"prev\":null", "\"seq\":\"01\"", "\"details\":{",
                "\"v\":\"1\"", "\"v\":\"2\"", "\"v\":\"3\"", "\"methods\":\"otp pwd\",",
                "\"type\":\"SignedIn\"", "\"outcome\":\"refused\"", "system", "\"position\":\"-1\"",
                "[]", "{}", "\\u0041", "9223372036854775808", " ",
            ]
        ) { input in
            guard let recorded = try? EntryEncoding.decode(input) else { return false }
            try require(
                EntryEncoding.encode(recorded) == input, "an accepted entry is written differently")
            return true
        }
    }

    /// Entries in versions that the random history does not write.
    private static var otherVersions: [[UInt8]] {
        let account = AccountID(bits: 1)
        let events: [Event] = [
            .ledgerOpened(
                LedgerOpened(mode: .production, encryptionKey: "e", macKey: "m", tokenKey: "t")),
            .keyRotated(
                KeyRotated(macKey: "m", former: nil, after: .init(root: sha256([]), size: 3))),
            .keyRotated(
                KeyRotated(kind: .pepper, key: "p", former: KeyRotated.noFormerKey)),
            .signedIn(
                SignedIn(
                    account: account, authenticatedAt: Timestamp(seconds: 1_790_000_000),
                    identity: IdentityID(bits: 2), methods: nil, provider: provider("google"),
                    session: SessionID(bits: 3))),
            .accountErased(AccountErased(account: account, basis: .retention, survivor: nil)),
        ]
        return events.map { event in
            EntryEncoding.encode(
                RecordedEvent(
                    tenant: .default, position: LogPosition(7), id: EventID(bits: 4),
                    recordedAt: Timestamp(seconds: 1_790_000_000), actor: .system,
                    command: CommandID(bits: 5), request: nil,
                    accounts: event.fact.accounts.map {
                        AccountReference(id: $0, previous: nil, sequence: 0)
                    }, disclosureDigests: [], event: event))
        }
    }

    private static let types: [UInt32] = [
        16, 17, 20, 21, 23, 25, 1184, 2950, 3802, 1001, 1009, 1016, 2951, 114,
    ]

    /// The first byte chooses the type, the others are the value as a server sends it.
    static let rows: FuzzTarget = {
        let one: [UInt8] = [0, 0, 0, 1]
        func array(_ type: [UInt8], _ elements: [[UInt8]]) -> [UInt8] {
            let count = UInt8(elements.count)
            return one + [0, 0, 0, 0] + type + [0, 0, 0, count] + one
                + elements.flatMap { [0, 0, 0, UInt8($0.count)] + $0 }
        }
        let corpus: [[UInt8]] = [
            [0, 1], [1, 2, 3], [2, 0, 0, 0, 0, 0, 0, 0, 9], [4, 0, 0, 0, 7], [5, 0x61, 0xC3, 0xA9],
            [6, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [7] + Array(0..<16),
            [8, 1, 0x7B, 0x7D],
            [9] + array([0, 0, 0, 17], [[1, 2], []]),
            [10] + array([0, 0, 0, 25], [[0x61], [0x62]]),
            [11] + array([0, 0, 0, 20], [[0, 0, 0, 0, 0, 0, 0, 1]]),
            [12] + array([0, 0, 0x0B, 0x86], [Array(0..<16)]),
            [11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20],
        ]
        return FuzzTarget(
            "rows", bytes: corpus,
            words: ["\u{0}\u{0}\u{0}\u{1}", "\u{0}\u{0}\u{0}\u{0}", "\u{7F}\u{7F}\u{7F}\u{7F}"]
        ) { input in
            guard let choice = input.first else { return false }
            let type = types[Int(choice) % types.count]
            let value = Array(input.dropFirst())
            guard let result = QueryResult(received: value, type: type) else {
                throw Finding("libpq can't hold the value")
            }
            return try read(result, type, value)
        }
    }()

    private static func read(
        _ result: QueryResult, _ type: UInt32, _ value: [UInt8]
    ) throws -> Bool {
        var accepted = 0
        // Every accessor is called, also those of other types, which must refuse.
        if let number = try? result.int8(0, 0) {
            accepted += 1
            let expected = value.reduce(value[0] > 127 ? -1 : 0) { Int64($0) << 8 | Int64($1) }
            try require(number == expected, "the number differs")
        }
        if (try? result.int4(0, 0)) != nil { accepted += 1 }
        if (try? result.bool(0, 0)) != nil { accepted += 1 }
        if let text = try? result.text(0, 0) {
            accepted += 1
            try require(
                value.suffix(text.utf8.count).elementsEqual(text.utf8), "the text differs")
        }
        if let bytes = try? result.bytes(0, 0) {
            accepted += 1
            try require(bytes == value, "the bytes differ")
        }
        if (try? result.uuid(0, 0)) != nil { accepted += 1 }
        if (try? result.timestamp(0, 0)) != nil { accepted += 1 }
        if let elements = try? result.bytesArray(0, 0) {
            accepted += 1
            let count = elements.reduce(0) { $0 + $1.count + 4 }
            try require(count <= value.count, "an array is longer than its bytes")
        }
        if (try? result.textArray(0, 0)) != nil { accepted += 1 }
        if (try? result.int8Array(0, 0)) != nil { accepted += 1 }
        if (try? result.uuidArray(0, 0)) != nil { accepted += 1 }
        return accepted > 0
    }
}
