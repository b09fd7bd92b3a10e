import Foundation

/// The secret of a browser flow and its challenge (PKCE, RFC 7636).
struct FlowSecret: Sendable {
    /// Stays with the client that began the flow.
    let verifier: String

    /// Makes a random secret.
    init() {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        self.init(verifier: Self.base64URL(bytes))
    }

    /// Wraps a secret.
    init(verifier: String) {
        self.verifier = verifier
    }

    /// Goes through the browser.
    var challenge: String { Self.base64URL(SHA256.hash(Array(verifier.utf8))) }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
