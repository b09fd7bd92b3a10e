import Testing

@testable import Postgres

@Suite struct `Waiting for a socket` {
    /// Counts as broken, and a broken socket is always ready: the next call on it returns the
    /// reason.
    static let broken: Int32 = -1

    @Test func `a broken socket ends the wait at once`() {
        #expect(SocketEvents.wait(for: .read, on: Self.broken, until: .now + .seconds(60)))
        #expect(SocketEvents.isReadable(Self.broken))
    }

    @Test func `a deadline that has passed ends the wait even if the socket is ready`() {
        #expect(!SocketEvents.wait(for: .read, on: Self.broken, until: .now - .seconds(1)))
    }
}
