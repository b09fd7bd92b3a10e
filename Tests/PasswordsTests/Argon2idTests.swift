import ChildProcesses
import Cryptography
import Encodings
import Testing

@testable import Passwords

/// Argon2id against RFC 9106 and against the reference implementation's program.
@Suite struct Argon2idTests {
    @Test func `the digest is that of RFC 9106, section 5.3`() throws {
        let secret = [UInt8](repeating: 3, count: 8)
        let parameters = try Argon2Parameters(memoryKiB: 32, iterations: 3, lanes: 4)
        let digest = try unsafe secret.withUnsafeBytes { secret in
            unsafe Argon2id.derive(
                WipedBytes([UInt8](repeating: 1, count: 32)),
                salt: [UInt8](repeating: 2, count: 16), secret: secret,
                associated: [UInt8](repeating: 4, count: 12), parameters: parameters, count: 32)
        }.get()
        #expect(
            Hex.encode(digest) == "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"
        )
    }

    /// `tools/test` installs the program.
    @Test(arguments: [
        ("password", 64, 2, 1, 32), ("pass word é", 128, 1, 4, 16), ("x", 8, 3, 1, 64),
        (String(repeating: "long ", count: 20), 1024, 2, 2, 32),
    ])
    func `the reference program makes the same texts`(
        password: String, memory: Int, iterations: Int, lanes: Int, count: Int
    ) throws {
        let (status, text) = try ChildProcess.run(
            "/bin/sh",
            [
                "-c", #"printf %s "$0" | argon2 "$@" -e"#, password, "somesalt", "-id",
                "-k", "\(memory)", "-t", "\(iterations)", "-p", "\(lanes)", "-l", "\(count)",
            ])
        try #require(status == 0, "\(text)")
        let hash = try PasswordHash(text.split(separator: "\n").map(String.init).joined())
        guard case .own(let setting, let digest) = hash.form else {
            Issue.record("\(hash.text) is not Argon2id")
            return
        }
        #expect(PasswordHash(.own(setting, digest: digest)).text == hash.text)
        let hasher = PasswordHasher(parameters: cheap)
        #expect(try hasher.verify(Password(password), against: hash))
        #expect(try !hasher.verify(Password(password + "x"), against: hash))
    }

    @Test func `parameters have limits on both sides`() throws {
        #expect(throws: PasswordHashFault.costTooHigh(.memory)) {
            try Argon2Parameters(memoryKiB: 262_145, iterations: 1, lanes: 1)
        }
        #expect(throws: PasswordHashFault.costTooHigh(.iterations)) {
            try Argon2Parameters(memoryKiB: 262_144, iterations: 5, lanes: 1)
        }
        #expect(throws: PasswordHashFault.costTooHigh(.lanes)) {
            try Argon2Parameters(memoryKiB: 1024, iterations: 1, lanes: 17)
        }
        for (memory, iterations, lanes) in [(7, 1, 1), (31, 1, 4), (64, 0, 1), (64, 1, 0)] {
            #expect(throws: PasswordHashFault.malformed) {
                try Argon2Parameters(memoryKiB: memory, iterations: iterations, lanes: lanes)
            }
        }
        #expect(try Argon2Parameters(memoryKiB: 262_144, iterations: 4, lanes: 16).lanes == 16)
        #expect(
            try Argon2Parameters(memoryKiB: 19_456, iterations: 2, lanes: 1) == .standard)
    }
}
