import Foundation
import LedgerTestSupport
import Testing

/// The messages that servers in development mode keep.
struct KeptMessages: Sendable {
    private struct Page: Decodable {
        let messages: [Message]
    }

    private struct Message: Decodable {
        let to: String
        let text: String
        let message_id: String
    }

    let servers: [WireClient]

    /// Sends a request for a code.
    ///
    /// - Returns: The members that answer it.
    func code(
        to address: String, _ request: () async throws -> WireClient.Answer
    ) async throws -> [String: String] {
        let before = Set(try await withCodes(to: address).map(\.message_id))
        let asked = try await request()
        // A sign-up whose address is confirmed later is 201.
        #expect([200, 201].contains(asked.status), "\(asked)")
        let text = try await eventually("a code to \(address)") {
            try await withCodes(to: address).first { !before.contains($0.message_id) }?.text
        }
        let found = try #require(text.firstMatch(of: /[0-9]{6}/)?.output)
        return ["challenge_id": asked.text("challenge_id") ?? "", "code": String(found)]
    }

    private func withCodes(to address: String) async throws -> [Message] {
        var messages: [Message] = []
        for server in servers {
            let page = try await server.call("GET", "/dev/outbox")
            messages += try JSONDecoder().decode(Page.self, from: page.body).messages
        }
        return messages.filter { $0.to == address && $0.text.contains(/[0-9]{6}/) }
    }
}
