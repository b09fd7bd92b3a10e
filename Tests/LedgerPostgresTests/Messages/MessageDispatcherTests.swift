import Foundation
import Ledger
import LedgerMessages
import LedgerTestSupport
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// Dispatchers on a real outbox, with a transport in the process.
@Suite struct MessageDispatcherTests {
    @Test func `a message is sent once by two dispatchers, in its language and for its tenant`()
        async throws
    {
        try await MessageFixture.with { fixture in
            let (one, two) = (fixture.dispatcher(), fixture.dispatcher())
            try await fixture.running(one) {
                try await fixture.running(two) {
                    for number in 0..<40 {
                        try await fixture.write(
                            try fixture.message(to: "guest-\(number)@example.org"))
                        one.wake()
                        two.wake()
                    }
                    try await soon("all to be sent") {
                        try await fixture.rows().allSatisfy { $0 == "sent 1 250 - destroyed" }
                    }
                }
            }
            let attempts = fixture.transport.attempts
            #expect(attempts.count == 40)
            #expect(Set(attempts.map(\.recipient)).count == 40)
            #expect(attempts[0].text.subject == "Your Shop of default sign-in code")
            #expect(attempts[0].text.body.contains("493021"))
            let counts = (one.outcomes + two.outcomes).filter { $0.outcome == "sent" }
            #expect(counts.map(\.count).reduce(0, +) == 40)
        }
    }

    @Test func `a tenant's own text replaces the built-in one, and the other parts stay`()
        async throws
    {
        try await MessageFixture.with { fixture in
            let dispatcher = fixture.dispatcher {
                $0.settings = { tenant in
                    var settings = MessageSettings(product: "Shop of \(tenant)")
                    settings.texts = [
                        MessagePart(.signInCode, .body, in: .english):
                            "Hello from {product}\n\n{code}\n\n{minutes} minutes\n"
                    ]
                    return settings
                }
            }
            try await fixture.running(dispatcher) {
                try await fixture.write(
                    try fixture.message(),
                    try fixture.message(to: "+4915112345678", channel: .sms))
                try await soon("both to be sent") {
                    try await fixture.rows().allSatisfy { $0.hasPrefix("sent") }
                }
            }
            let texts = fixture.transport.attempts.map(\.text)
            #expect(
                Set(texts) == [
                    MessageText(
                        subject: "Your Shop of default sign-in code",
                        body: "Hello from Shop of default\n\n493021\n\n10 minutes\n"),
                    MessageText(
                        subject: nil,
                        body: "493021 is your Shop of default sign-in code, valid for 10 minutes."
                            + " Do not share it."),
                ])
        }
    }

    @Test func `an SMS binds its code to the host of the tenant's account page`() async throws {
        try await MessageFixture.with { fixture in
            let dispatcher = fixture.dispatcher {
                $0.settings = { _ in
                    var settings = MessageSettings(product: "Shop")
                    settings.bindsCodes = true
                    return settings
                }
                $0.accountPage = { "https://\($0).example/account" }
            }
            try await fixture.running(dispatcher) {
                try await fixture.write(
                    try fixture.message(to: "+4915112345678", channel: .sms))
                try await soon("it to be sent") {
                    try await fixture.rows().allSatisfy { $0.hasPrefix("sent") }
                }
            }
            #expect(
                fixture.transport.attempts.map(\.text.body) == [
                    "493021 is your Shop sign-in code, valid for 10 minutes. Do not share it.\n"
                        + "@default.example #493021"
                ])
        }
    }

    @Test func `a wake-up sends at once`() async throws {
        try await MessageFixture.with { fixture in
            let dispatcher = fixture.dispatcher { $0.poll = .seconds(3_600) }
            try await fixture.running(dispatcher) {
                for _ in 0..<3 {
                    try await fixture.write(try fixture.message())
                    dispatcher.wake()
                    try await soon("it to be sent") {
                        try await fixture.rows().allSatisfy { $0.hasPrefix("sent") }
                    }
                }
            }
            #expect(fixture.transport.attempts.count == 3)
        }
    }

    @Test func `a refusal is final, a deferral is not, and faults name no address`() async throws {
        try await MessageFixture.with { fixture in
            let faults = TestFaults()
            let transport = fixture.transport
            transport.answer { message in
                if message.recipient.hasPrefix("gone") { return .refused(code: 550) }
                if message.recipient.hasPrefix("jos") { return .refused(code: nil, .noSMTPUTF8) }
                let isFirst = transport.attempts.count { $0.id == message.id } < 3
                return isFirst ? .deferred(code: 451, .busy) : .accepted(code: 250)
            }
            let dispatcher = fixture.dispatcher(telling: faults)
            try await fixture.running(dispatcher) {
                try await fixture.write(try fixture.message(to: "gone@example.org"))
                try await fixture.write(try fixture.message())
                try await fixture.write(try fixture.message(to: "jos\u{E9}@example.org"))
                try await soon("all to end") {
                    try await fixture.rows() == [
                        "failed 1 550 - destroyed", "sent 3 250 - destroyed",
                        "failed 1 - no_smtputf8 destroyed",
                    ]
                }
            }
            #expect(transport.attempts.count == 5)
            #expect(faults.all.count == 3, "\(faults.all)")
            #expect(faults.all.contains { $0.contains("550") })
            #expect(faults.all.contains { $0.hasSuffix("was refused by email: no_smtputf8") })
            #expect(faults.all.contains("messages by email wait: busy (451)"))
            #expect(!faults.all.joined().contains("@"))
            #expect(
                Set(dispatcher.outcomes.map { "\($0.outcome) \($0.count)" })
                    == ["failed 2", "sent 1", "busy 2"])
        }
    }

    @Test func `a process that ends between sending and writing repeats a message once`()
        async throws
    {
        try await MessageFixture.with { fixture in
            let message = try fixture.message()
            try await fixture.write(message)
            // What a killed process leaves behind: it has sent the message and not written that.
            let killed = fixture.store(leaseSeconds: 1)
            let taken = try #require(try await killed.take(.email, atMost: 1, besides: [:]).first)
            guard case .ready = try await killed.begin(taken) else {
                Issue.record("it was not ready")
                return
            }
            await killed.close()
            try await fixture.running(fixture.dispatcher()) {
                try await soon("it to be sent") {
                    try await fixture.rows() == ["sent 2 250 - destroyed"]
                }
            }
            #expect(fixture.transport.attempts.map(\.id) == [message.id])
        }
    }

    @Test func `an outcome that cannot be written is written later, and nothing is sent twice`()
        async throws
    {
        try await MessageFixture.with { fixture in
            fixture.transport.close()
            try await fixture.write(try fixture.message())
            try await fixture.running(fixture.dispatcher()) {
                try await soon("it to be under way") { !fixture.transport.attempts.isEmpty }
                let drop = """
                    SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity
                    WHERE application_name = 'account-ledger messages'
                        AND datname = current_database()
                    """
                _ = try await fixture.texts(drop)
                fixture.transport.open()
                _ = try await fixture.texts(drop)
                try await soon("it to be sent") {
                    try await fixture.rows() == ["sent 1 250 - destroyed"]
                }
            }
            #expect(fixture.transport.attempts.count == 1)
        }
    }

    @Test func `expired messages are destroyed and counted, also one that is under way`()
        async throws
    {
        try await MessageFixture.with { fixture in
            fixture.transport.close()
            let dispatcher = fixture.dispatcher()
            try await fixture.running(dispatcher) {
                try await fixture.write(try fixture.message())
                try await soon("it to be under way") { !fixture.transport.attempts.isEmpty }
                try await fixture.database.asSuperuser.execute(
                    "UPDATE messages SET expires_at = now()")
                try await soon("it to expire") {
                    try await fixture.rows() == ["expired 1 - - destroyed"]
                }
                fixture.transport.open()
                try await soon("it to be sent after all") {
                    try await fixture.rows() == ["sent 1 250 - destroyed"]
                }
            }
            #expect(dispatcher.outcomes.map(\.outcome) == ["expired", "sent"])
        }
    }

    @Test func `a message goes before the backlog of another tenant`() async throws {
        try await MessageFixture.with { fixture in
            let busy = try #require(TenantID("busy"))
            fixture.transport.close()
            for number in 0..<5 {
                try await fixture.write(
                    try fixture.message(to: "guest-\(number)@example.org", tenant: busy))
            }
            try await fixture.running(fixture.dispatcher { $0.inFlightMax = 2 }) {
                try await soon("two to be under way") { fixture.transport.attempts.count == 2 }
                try await fixture.write(try fixture.message())
                fixture.transport.releaseOne()
                try await soon("another one to be under way") {
                    fixture.transport.attempts.count == 3
                }
                fixture.transport.open()
            }
            #expect(fixture.transport.attempts[..<3].map(\.tenant) == [busy, busy, .default])
        }
    }

    @Test func `a dispatcher that stops gives its attempts back`() async throws {
        try await MessageFixture.with { fixture in
            fixture.transport.close()
            fixture.transport.answer { _ in .deferred(code: nil, .stopped) }
            try await fixture.write(try fixture.message())
            let running = Task {
                await fixture.dispatcher { $0.drainLimit = .milliseconds(10) }.run()
            }
            try await soon("it to be under way") { !fixture.transport.attempts.isEmpty }
            running.cancel()
            await running.value
            #expect(try await fixture.rows() == ["pending 1 - stopped sealed"])
            fixture.transport.answer { _ in .accepted(code: nil) }
            try await fixture.running(fixture.dispatcher()) {
                try await soon("it to be sent") {
                    try await fixture.rows() == ["sent 2 - - destroyed"]
                }
            }
        }
    }
}
