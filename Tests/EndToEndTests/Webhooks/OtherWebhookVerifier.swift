import Foundation
import LedgerTestSupport
import Testing

/// A third-party library that verifies deliveries; `tools/test` installs it.
enum OtherWebhookVerifier {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let package = tests.deletingLastPathComponent().deletingLastPathComponent()

    /// Checks every delivery with the secret of its receiver, and again with each of its parts changed,
    /// which must be refused.
    static func expect(
        _ deliveries: [WebhookReceiver.Delivery], signedWith secret: String,
        in deployment: Deployment
    ) async throws {
        let python = package.appendingPathComponent(".local/verifiers/bin/python").path
        try #require(
            FileManager.default.isExecutableFile(atPath: python),
            "standardwebhooks is missing: tools/test installs it")
        var lines: [String] = []
        for delivery in deliveries {
            let claim: [String: Any] = [
                "secret": secret, "webhook-id": delivery.id,
                "webhook-timestamp": delivery.timestamp, "webhook-signature": delivery.signature,
                "body": Data(delivery.body).base64EncodedString(),
                "received_at": delivery.receivedAt, "valid": true,
            ]
            let others: [String: Any] = [
                "secret": "whsec_" + Data(repeating: 7, count: 32).base64EncodedString(),
                "webhook-id": delivery.id + "0",
                "webhook-timestamp": String((Int(delivery.timestamp) ?? 0) + 1),
                "body": Data(delivery.body + [0x20]).base64EncodedString(),
                "received_at": delivery.receivedAt + 1_000,
            ]
            lines.append(try line(claim))
            for (name, value) in others {
                lines.append(try line(claim.merging([name: value, "valid": false]) { $1 }))
            }
        }
        let path = try deployment.write(
            lines.joined(separator: "\n") + "\n", to: "deliveries-\(UUID().uuidString).jsonl")
        let process = try RunningProcess(
            executable: python,
            arguments: [
                tests.appendingPathComponent("Verifiers/check_webhooks.py").path, path,
            ], environment: [:])
        let status = try await process.exitStatus(within: .seconds(120))
        #expect(status == 0, "\(process.errors.text.prefix(2_000))")
        #expect(
            process.output.text
                == "valid \(deliveries.count) invalid \(deliveries.count * 5)\n")
    }

    private static func line(_ claim: [String: Any]) throws -> String {
        String(
            decoding: try JSONSerialization.data(
                withJSONObject: claim, options: [.sortedKeys, .withoutEscapingSlashes]),
            as: UTF8.self)
    }
}
