import ChildProcesses
import Foundation
import Testing

@testable import Cryptography
@testable import Encodings
@testable import JSON

/// Go's cryptography, which is independent of OpenSSL, applied to our keys and tokens.
///
/// `tools/test` installs Go. Without it the test fails, because it shows that others can check our tokens.
@Suite struct OtherTokenVerifierTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let package = tests.deletingLastPathComponent().deletingLastPathComponent()

    /// Fewest tokens per key and algorithm.
    private static let tokensMin = 150
    /// Fewest of them with a leading zero in a number of the signature; one in 128 or 256 has one.
    private static let leadingZerosMin = 2

    @Test func `Go accepts our keys and tokens, and its own tokens are good`() throws {
        let former = try #require(
            TokenSigningKey(exported: Array(KeyFileTests.formerTokenKey.utf8)))
        var claims = try [former, .generate()].map { key in
            let signer = key.signer(type: "at+jwt")
            return try Claim(key.exported(), key.verificationKey, .es256) { signer.sign($0) }
        }
        let provider = RSASigningKey.generate()
        for algorithm in SignatureAlgorithm.allCases where algorithm != .es256 {
            claims.append(
                try Claim(provider.exported(), provider.verificationKey, algorithm) {
                    provider.sign(header: ["alg": algorithm.rawValue, "typ": "JWT"], claims: $0)
                })
        }
        let tokens = try checkedByGo(claims)
        #expect(tokens.count == claims.count)
        for (token, claim) in zip(tokens, claims) {
            #expect(
                CompactJWS.verify(token, with: claim.key, allowing: [claim.algorithm]) != nil,
                "\(claim.algorithm)")
        }
    }

    /// Tokens of one key by one algorithm, as JSON for the other program.
    private struct Claim {
        let key: VerificationKey
        let algorithm: SignatureAlgorithm
        let json: [UInt8]

        init(
            _ jwk: [UInt8], _ key: VerificationKey, _ algorithm: SignatureAlgorithm,
            sign: ([UInt8]) -> String
        ) throws {
            var tokens: [String] = []
            var leadingZeros = 0
            while tokens.count < tokensMin || leadingZeros < leadingZerosMin {
                let claims = Array("{\"n\":\(tokens.count)}".utf8)
                let token = sign(claims)
                #expect(CompactJWS.verify(token, with: key, allowing: [algorithm]) == claims)
                tokens.append(token)
                let signature = try #require(
                    token.split(separator: ".").last.flatMap { Base64URL.decode($0) })
                let starts = algorithm == .es256 ? [0, 32] : [0]
                leadingZeros += starts.contains { signature[$0] == 0 } ? 1 : 0
            }
            var writer = JSONWriter()
            writer.object { members in
                members.name("jwk")
                members.json(jwk)
                members.name("algorithm")
                members.text(algorithm.rawValue)
                members.name("tokens")
                members.texts(tokens)
                members.name("forged")
                members.texts(tokens.map(\.forged))
            }
            self.key = key
            self.algorithm = algorithm
            json = writer.bytes
        }
    }

    /// Passes claims to the other program and returns its tokens, one per claim.
    private func checkedByGo(_ claims: [Claim]) throws -> [String] {
        let go = "/usr/bin/go"
        try #require(
            FileManager.default.isExecutableFile(atPath: go),
            "Go is missing: tools/test installs it")
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("tokens-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(claims.flatMap(\.json)).write(to: file)
        let program = Self.tests.appendingPathComponent("Verifiers/check_tokens.go").path
        let environment = [
            "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOPROXY": "off",
            "GOCACHE": Self.package.appendingPathComponent(".local/go-cache").path,
        ]
        let (status, text) = try ChildProcess.run(
            go, ["run", program, file.path], environment: environment, showsErrors: true)
        #expect(status == 0)
        return text.split(separator: "\n").map(String.init)
    }
}

extension String {
    /// The token with another end of its signature, which is still base64url.
    var forged: String { dropLast(4) + (hasSuffix("AAAA") ? "BAAA" : "AAAA") }
}
