/// Lets a bounded number of tests hold a scratch database at once, in the order they asked.
actor ScratchSlots {
    /// Databases at once; times the connections of a test, it stays below the cluster's 300.
    static let slotsMax = 8
    static let shared = ScratchSlots()

    private var free = slotsMax
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func giveBack() {
        guard !waiting.isEmpty else {
            free += 1
            return
        }
        waiting.removeFirst().resume()
    }
}
