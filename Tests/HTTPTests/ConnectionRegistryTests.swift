import Testing

@testable import HTTP

/// The choice of the connection that is cut when there are too many.
struct ConnectionRegistryTests {
    private func connection(dueIn seconds: Int) -> ClientConnection {
        ClientConnection(
            descriptor: -1, peerAddress: "192.0.2.1", limits: HTTPServerLimits(),
            deadline: .now + .seconds(seconds))
    }

    @Test func `a connection is cut only when no accepted one is unregistered`() {
        let registry = ConnectionRegistry(countMax: 2)
        for _ in 0..<2 { #expect(registry.tryToAcquireSlot(cutsEarly: false) == .taken) }
        let served = connection(dueIn: 600)
        registry.add(served)
        #expect(registry.tryToAcquireSlot(cutsEarly: false) == .none)
        #expect(served.requestDeadline != nil)
        let silent = connection(dueIn: 300)
        registry.add(silent)
        #expect(registry.tryToAcquireSlot(cutsEarly: false) == .none)
        #expect(silent.requestDeadline == nil)
        #expect(served.requestDeadline != nil)
        registry.remove(silent)
        #expect(registry.tryToAcquireSlot(cutsEarly: false) == .taken)
    }

    @Test func `an early cut does not wait for connections that are still being accepted`() {
        let registry = ConnectionRegistry(countMax: 2)
        for _ in 0..<2 { #expect(registry.tryToAcquireSlot(cutsEarly: false) == .taken) }
        let served = connection(dueIn: 600)
        registry.add(served)
        #expect(registry.tryToAcquireSlot(cutsEarly: true) == .none)
        #expect(served.requestDeadline == nil)
    }
}
