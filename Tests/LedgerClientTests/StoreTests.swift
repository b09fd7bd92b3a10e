import Foundation
import LedgerClient
import Synchronization
import Testing

/// The stores on this platform: what they keep, who can read it, and who waits for whom.
struct StoreTests {
    /// Counts its visitors.
    private final class Room: Sendable {
        private let inside = Atomic<Int>(0)
        private let mostInside = Atomic<Int>(0)

        var most: Int { mostInside.load(ordering: .relaxed) }

        func visit() async {
            let count = inside.add(1, ordering: .relaxed).newValue
            mostInside.max(count, ordering: .relaxed)
            await Task.yield()
            inside.subtract(1, ordering: .relaxed)
        }
    }

    /// Runs a body with a folder that is removed afterwards.
    private func withFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "ledger-client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    private func mode(_ url: URL) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    private let state = StoredState.signedIn(expiresAt: Date(timeIntervalSince1970: 1_000))

    @Test func `a file has the state, for its owner alone`() async throws {
        try await withFolder { folder in
            let url = folder.appending(path: "session")
            let store = FileTokenStore(url)
            #expect(try store.load() == nil)
            try store.save(state)
            #expect(try mode(url) == 0o600)
            #expect(try FileTokenStore(url).load() == state)
            var next = state
            next.deviceToken = "d"
            try store.save(next)
            #expect(try mode(url) == 0o600)
            #expect(try store.load() == next)
            try await store.exclusively {}
            #expect(try mode(url.appendingPathExtension("lock")) == 0o600)
            try store.save(nil)
            try store.save(nil)
            #expect(!FileManager.default.fileExists(atPath: url.path))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["session.lock"]
            )
        }
    }

    @Test func `a file that others can read, or that is damaged, is refused`() async throws {
        try await withFolder { folder in
            let url = folder.appending(path: "session")
            let store = FileTokenStore(url)
            try store.save(state)
            for mode in [0o640, 0o604, 0o660] {
                try FileManager.default.setAttributes(
                    [.posixPermissions: mode], ofItemAtPath: url.path)
                #expect(throws: StoreError.self) { try store.load() }
            }
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: url.path)
            try Data("{".utf8).write(to: url)
            let error = #expect(throws: StoreError.self) { try store.load() }
            #expect(error?.description == "The file of the session is damaged")
            #expect(throws: StoreError.self) {
                try FileTokenStore(folder.appending(path: "no/folder")).save(state)
            }
        }
    }

    @Test func `a failure of the store is an error of the call`() async throws {
        try await withFolder { folder in
            let url = folder.appending(path: "session")
            try Data("{".utf8).write(to: url)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: url.path)
            let transport = TestTransport()
            let app = try await app(transport, store: FileTokenStore(url))
            let error = try await refusal { () throws(LedgerError) in try await app.reload() }
            #expect(error.code == .storeFailed && transport.requests.isEmpty)

            // It locks no person out.
            transport.follow { _, _ in .answer(.session(1)) }
            try await app.signIn(at: "apple", with: .idToken("t"))
            #expect(try FileTokenStore(url).load()?.session?.accessToken == "access-1")
            try Data("{".utf8).write(to: url)
            let left = try await refusal { () throws(LedgerError) in try await app.signOut() }
            #expect(left.code == .storeFailed)
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
    }

    @Test(arguments: ["truncated", "readable by others"])
    func `a damaged store locks no person out of codes and passwords`(
        _ damage: String
    ) async throws {
        try await withFolder { folder in
            let url = folder.appending(path: "session")
            let transport = TestTransport { request, _ in
                request.text("code") == nil && request.text("password") == nil
                    ? .answer(.json(200, #"{"challenge_id":"c","expires_in":600}"#))
                    : request.url.lastPathComponent == "complete"
                        ? .answer(.json(200, #"{"linked_providers":["password"]}"#))
                        : .answer(.session(1))
            }
            let app = try await app(transport, store: FileTokenStore(url))
            func ruin() throws {
                try Data((damage == "truncated" ? "{" : "{}").utf8).write(to: url)
                try FileManager.default.setAttributes(
                    [.posixPermissions: damage == "truncated" ? 0o600 : 0o644],
                    ofItemAtPath: url.path)
                #expect(throws: StoreError.self) { try FileTokenStore(url).load() }
            }
            try ruin()
            let sent = try await app.sendCode(to: "a@example.com", by: "email")
            _ = try await app.sendPasswordReset(email: "a@example.com")
            _ = try await app.sendAddressReturn(to: "a@example.com", by: "email")
            try await app.resetPassword(sent, code: "1", password: "p")
            try await app.returnAddress(sent, code: "1", at: "email")
            #expect(throws: StoreError.self) { try FileTokenStore(url).load() }
            for proof in [Proof.password(email: "a@example.com", password: "p"), .code(sent, "1")] {
                try ruin()
                try await app.signIn(at: "email", with: proof)
                #expect(try FileTokenStore(url).load()?.session?.accessToken == "access-1")
            }
            #expect(transport.requests.count == 7)
        }
    }

    @Test func `work with a store is done one at a time`() async throws {
        try await withFolder { folder in
            let url = folder.appending(path: "session")
            let stores: [any TokenStore] = [FileTokenStore(url), InMemoryTokenStore()]
            for store in stores {
                // A file's second store has a descriptor of its own, as another process has.
                let other = store is InMemoryTokenStore ? store : FileTokenStore(url)
                let room = Room()
                try await withThrowingTaskGroup { group in
                    for number in 0..<40 {
                        let store = number % 2 == 0 ? store : other
                        group.addTask {
                            try await store.exclusively { await room.visit() }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(room.most == 1)
            }
        }
    }

    @Test func `a lock that is held for too long is an error`() async throws {
        try await withFolder { folder in
            let url = folder.appending(path: "lock")
            let inner = try await FileLock(url).hold { () -> StoreError? in
                do throws(StoreError) {
                    try await FileLock(url, wait: .zero).hold {}
                    return nil
                } catch {
                    return error
                }
            }
            #expect(inner?.description == "Another process keeps the store locked")
            try await FileLock(url, wait: .zero).hold {}
        }
    }
}
