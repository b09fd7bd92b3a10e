/// A semaphore that bounds the number of scratch databases, in order of the requests.
actor ScratchSlots {
    /// The most databases; times the connections of a test, it stays below the cluster's 300.
    static let slotsMax = 8
    static let shared = ScratchSlots()

    private var free = slotsMax
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func acquire() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func release() {
        guard !waiting.isEmpty else {
            free += 1
            return
        }
        waiting.removeFirst().resume()
    }
}
