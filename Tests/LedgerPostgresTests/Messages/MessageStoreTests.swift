import Cryptography
import Encodings
import Foundation
import Ledger
import LedgerMessages
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// The rows of the outbox: written with their cause, leased, ended.
@Suite struct MessageStoreTests {
    @Test func `a message is written with its cause or not at all`() async throws {
        try await MessageFixture.with { fixture in
            struct Change: Error {}
            let message = try fixture.message()
            await #expect(throws: Change.self) {
                try await fixture.asServer { connection in
                    try connection.transaction {
                        try MessageWrites.insert(
                            [message], keyring: SequencerFixture.keyring, on: connection)
                        throw Change()
                    }
                }
            }
            #expect(try await fixture.rows() == [])
            try await fixture.write(message, try fixture.message(to: "eve@example.org"))
            #expect(
                try await fixture.rows() == ["pending 0 - - sealed", "pending 0 - - sealed"])
        }
    }

    @Test func `a dump holds neither address nor code, before and after sending`() async throws {
        try await MessageFixture.with { fixture in
            try await fixture.write(try fixture.message())
            for isSent in [false, true] {
                if isSent {
                    try await fixture.running(fixture.dispatcher()) {
                        try await soon("it to be sent") {
                            try await fixture.rows() == ["sent 1 250 - destroyed"]
                        }
                    }
                }
                // The digits of a code may be among those of a ciphertext in hex.
                let dump = try await fixture.texts(
                    """
                    SELECT concat(
                        to_jsonb(m) - '{sealed,recipient_digest}'::text[],
                        encode(sealed, 'escape'))
                    FROM messages m
                    """)
                let hex = try await fixture.texts("SELECT m::text FROM messages m")
                #expect(dump.count == 1 && hex.count == 1)
                for secret in ["ada@", "example.org", "493021", "id.example"] {
                    #expect(!dump[0].contains(secret))
                    #expect(!hex[0].contains(Hex.encode(Array(secret.utf8))))
                }
                #expect(dump[0].contains("sign_in_code"))
            }
        }
    }

    @Test func `a lease is for one, and what it finds is checked again before it is sent`()
        async throws
    {
        try await MessageFixture.with { fixture in
            let (first, second) = (fixture.store(), fixture.store())
            let message = try fixture.message()
            try await fixture.write(message)
            let taken = try #require(try await first.take(.email, atMost: 8, besides: [:]).first)
            #expect(taken.id == message.id)
            #expect(try await second.take(.email, atMost: 8, besides: [:]) == [])
            #expect(try await second.take(.sms, atMost: 8, besides: [:]) == [])
            let stale = LeasedMessage(tenant: .default, id: message.id, lease: EntityID(bits: 1))
            #expect(try await second.begin(stale) == .gone)
            #expect(
                try await first.begin(taken)
                    == .ready(
                        OpenedMessage(recipient: message.recipient, content: message.content),
                        .email, .english, attempts: 1))
            // The lease lapses, and another process takes it over.
            try await fixture.database.asSuperuser.execute(
                "UPDATE messages SET next_attempt_at = now() - interval '1 s'")
            let again = try #require(try await second.take(.email, atMost: 8, besides: [:]).first)
            #expect(try await first.begin(taken) == .gone)
            try await first.end(taken, .failed(code: 550))
            try await first.end(taken, .again(after: 0, code: 450, .busy))
            #expect(try await fixture.rows() == ["pending 1 - - sealed"])
            // A message that is known to be sent is not sent again by another holder.
            try await first.end(taken, .sent(code: 250))
            #expect(try await second.begin(again) == .gone)
            #expect(try await fixture.rows() == ["sent 1 250 - destroyed"])
            await first.close()
            await second.close()
        }
    }

    @Test func `nothing is sent that was withdrawn, erased or expired after it was leased`()
        async throws
    {
        try await MessageFixture.with { fixture in
            let store = fixture.store()
            let account = AccountID(bits: 7)
            let messages = [
                try fixture.message(account: account), try fixture.message(account: account),
                try fixture.message(), try fixture.message(to: "eve@example.org"),
            ]
            for message in messages { try await fixture.write(message) }
            let taken = try await store.take(.email, atMost: 8, besides: [:])
            #expect(taken.count == 4)
            try await fixture.asServer { connection in
                for call in [
                    MessageWrites.withdrawing([messages[0].id], of: .default),
                    MessageWrites.withdrawingCodes(of: account, in: .default),
                ] {
                    _ = try connection.query(call.statement, call.parameters)
                }
            }
            try await fixture.database.asSuperuser.execute(
                """
                DELETE FROM messages WHERE message_id = '\(messages[3].id)';
                UPDATE messages SET expires_at = now() - interval '1 s' WHERE state = 'pending'
                """)
            for lease in taken { #expect(try await store.begin(lease) == .gone) }
            #expect(try await store.expire() == [.email: 1])
            #expect(try await store.expire() == [:])
            #expect(
                try await fixture.rows() == [
                    "withdrawn 0 - - destroyed", "withdrawn 0 - - destroyed",
                    "expired 0 - - destroyed",
                ])
            await store.close()
        }
    }

    @Test func `every tenant gets a share`() async throws {
        try await MessageFixture.with { fixture in
            let store = fixture.store()
            let small = try #require(TenantID("small"))
            for _ in 0..<20 { try await fixture.write(try fixture.message()) }
            try await fixture.write(try fixture.message(tenant: small))
            let taken = try await store.take(.email, atMost: 4, besides: [:])
            #expect(taken.count == 3)
            #expect(taken.count { $0.tenant == small } == 1)
            await store.close()
        }
    }

    @Test func `an unreadable message waits for a process with its key`() async throws {
        try await MessageFixture.with { fixture in
            try await fixture.write(try fixture.message())
            let key = try #require(SymmetricKey(bytes: [UInt8](repeating: 1, count: 32)))
            let other = fixture.store(
                keyring: WrappingKeyring(
                    currentID: "other", current: key,
                    macs: MACKeys(current: SequencerFixture.macKey)))
            let taken = try #require(try await other.take(.email, atMost: 1, besides: [:]).first)
            #expect(try await other.begin(taken) == .unreadable(attempts: 1))
            try await other.end(taken, .again(after: 0, code: nil, .unreadable))
            // Under another template the same bytes are unreadable, too.
            try await fixture.database.asSuperuser.execute(
                "UPDATE messages SET template = 'link_code'")
            let store = fixture.store()
            let again = try #require(try await store.take(.email, atMost: 1, besides: [:]).first)
            #expect(try await store.begin(again) == .unreadable(attempts: 2))
            await other.close()
            await store.close()
        }
    }

    @Test func `a key is in use while a message is unsent or of the last day`() async throws {
        try await MessageFixture.with { fixture in
            let key = SequencerFixture.keyring.currentID
            func used() async throws -> [String] {
                try await fixture.asServer {
                    try WrappingKeyUse.all(of: [key, "x"], in: .default, on: $0)
                        .map { "\($0.key) \($0.kind)" }
                }
            }
            #expect(try await used() == [])
            try await fixture.write(try fixture.message())
            #expect(try await used() == ["\(key) messages"])
            try await fixture.asServer { connection in
                let call = MessageWrites.withdrawingAll(of: .default)
                _ = try connection.query(call.statement, call.parameters)
            }
            #expect(try await used() == ["\(key) messages"])
            try await fixture.database.asSuperuser.execute(
                """
                UPDATE messages SET created_at = created_at - interval '25 hours',
                    expires_at = expires_at - interval '25 hours'
                """)
            #expect(try await used() == [])
        }
    }

    @Test func `support reads what became of messages, in pages`() async throws {
        try await MessageFixture.with { fixture in
            let account = AccountID(bits: 7)
            for number in 0..<4 {
                try await fixture.write(
                    try fixture.message(account: number == 0 ? nil : account))
            }
            try await fixture.asServer { connection in
                let call = MessageWrites.withdrawing([MessageID(bits: 3)], of: .default)
                _ = try connection.query(call.statement, call.parameters)
            }
            let reads = MessageReads(url: fixture.database.runtimeURL) { Issue.record("\($0)") }
            var query = MessageQuery(limit: 2)
            query.account = account
            let first = try await reads.messages(matching: query, in: .default)
            #expect(first.messages.map(\.id.bits) == [2, 3] && first.hasMore)
            #expect(first.messages.map(\.state) == [.pending, .withdrawn])
            query.after = first.next
            let second = try await reads.messages(matching: query, in: .default)
            #expect(second.messages.map(\.id.bits) == [4] && !second.hasMore)
            query = MessageQuery(limit: 10)
            query.state = .withdrawn
            let ended = try await reads.messages(matching: query, in: .default)
            #expect(ended.messages.map(\.id.bits) == [3])
            #expect(ended.messages.first?.endedAt != nil)
            query.account = AccountID(bits: 8)
            #expect(try await reads.messages(matching: query, in: .default).messages == [])
            await reads.close()
        }
    }

    @Test func `the group of support may read what it is shown, and no more`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            let fixture = MessageFixture(database: database)
            try await fixture.write(try fixture.message())
            let group = LedgerRoles(database: database.name).support
            let login = "\(database.name)_support"
            try await database.asSuperuser.execute(
                "CREATE ROLE \(login) LOGIN PASSWORD 'reader' IN ROLE \(group)")
            let url = try TestCluster.url(replacing: [
                "dbname": database.name, "user": login, "password": "reader",
            ])
            let reads = MessageReads(url: url) { Issue.record("\($0)") }
            let page = try await reads.messages(matching: MessageQuery(limit: 10), in: .default)
            #expect(page.messages.map(\.template) == ["sign_in_code"])
            await reads.close()
            let session = Session(url: url, applicationName: "a test")
            for column in ["sealed", "recipient_digest"] {
                let error = await #expect(throws: PostgresError.self) {
                    try await session.run {
                        _ = try $0.query(
                            Statement("a_test_\(column)", "SELECT \(column) FROM messages"))
                    }
                }
                #expect("\(String(describing: error))".contains("permission denied"))
            }
            await session.close()
            try await database.asSuperuser.execute("DROP ROLE \(login)")
        }
    }

    @Test func `what remains of a message is deleted after 90 days`() async throws {
        try await MessageFixture.with { fixture in
            try await fixture.write(try fixture.message(), try fixture.message())
            try await fixture.database.asSuperuser.execute(
                """
                UPDATE messages SET state = 'sent', ended_at = now(), sealed = NULL;
                UPDATE messages SET created_at = created_at - interval '91 days',
                    expires_at = expires_at - interval '91 days'
                WHERE message_id = (SELECT min(message_id::text)::uuid FROM messages)
                """)
            let sweeper = Sweeper(url: fixture.database.runtimeURL) { _ in }
            #expect(try await sweeper.sweep() == 1)
            #expect(try await fixture.rows().count == 1)
        }
    }
}
