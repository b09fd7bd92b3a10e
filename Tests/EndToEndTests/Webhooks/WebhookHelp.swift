import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// A webhook that was added with the command line.
struct AddedWebhook {
    let id: String
    let secret: String
}

extension Deployment {
    /// The time limit for deliveries, which includes the lease of a killed process.
    static var deliveryWait: Duration { .seconds(120) }

    /// Adds a webhook on the command line.
    func addWebhook(
        _ receiver: WebhookReceiver, _ options: [String] = ["--from", "0"]
    ) async throws -> AddedWebhook {
        let added = try await tool.run(
            ["webhooks", "add", receiver.url, "--allow-private"] + options)
        let lines = added.output.split(separator: "\n").map(String.init)
        try #require(added.status == 0 && lines.count == 2, "\(added.errors)")
        let words = lines[0].split(separator: " ").map(String.init)
        try #require(words.count > 1 && lines[1].hasPrefix("whsec_"))
        return AddedWebhook(id: words[1], secret: lines[1])
    }

    /// The line of a webhook that `webhooks list` prints, by its columns.
    func webhook(_ id: String) async throws -> [String]? {
        let list = try await tool.run(["webhooks", "list"])
        #expect(list.status == 0, "\(list.errors)")
        return list.output.split(separator: "\n")
            .map { $0.split(separator: "\t").map(String.init) }.first { $0.first == id }
    }

    /// Waits until no event is pending, except for dead letters.
    func settled(_ id: String, dead: Int = 0) async throws {
        try await eventually("webhook \(id) to settle", within: Self.deliveryWait) {
            let line = try await webhook(id)
            return line.map { $0[3...5] } == ["0 behind", "0 pending", "\(dead) dead"] ? true : nil
        }
    }

    /// Executes SQL as a superuser, and returns the texts of the first column; a move of a shard takes its time.
    @discardableResult
    func asSuperuser(_ sql: String) async throws -> [String] {
        let session = Session(
            url: superuserURL, applicationName: "webhook test", statementDeadline: .seconds(300))
        let texts = try await session.run { connection in
            let rows = try connection.query(Statement("webhook_test", sql))
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }
        }
        await session.close()
        return texts
    }

    /// Checks that each event of the log was delivered, first after the earlier events of its accounts.
    func expectAllTold(_ deliveries: [WebhookReceiver.Delivery]) async throws {
        let log = try await asSuperuser("SELECT event_id::text FROM events ORDER BY position")
        var told: Set<String> = []
        var histories: [String: [Int64]] = [:]
        for delivery in deliveries where told.insert(delivery.id).inserted {
            #expect(delivery.id == log[Int(delivery.position)])
            for (account, sequence) in delivery.accounts {
                histories[account, default: []].append(sequence)
            }
        }
        #expect(told == Set(log))
        for (account, sequences) in histories {
            #expect(sequences == sequences.indices.map(Int64.init), "account \(account)")
        }
        let bodies = Dictionary(grouping: deliveries, by: \.id).mapValues { Set($0.map(\.body)) }
        #expect(bodies.values.allSatisfy { $0.count == 1 }, "a body is the same each time")
    }
}
