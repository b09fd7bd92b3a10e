/// Deliberate bugs, one of each kind that must be found; run only on request.
enum PlantedTargets {
    private static func target(
        _ name: String, _ misbehave: @escaping @Sendable () async throws -> Void
    ) -> FuzzTarget {
        FuzzTarget(name, corpus: ["good", "better"]) { input in
            if input.contains(UInt8(ascii: "%")) { try await misbehave() }
            return true
        }
    }

    static let all = [
        target("planted-finding") { throw Finding("a planted finding") },
        target("planted-crash") { preconditionFailure("a planted crash") },
        target("planted-hang") { while true {} },
    ]
}
