import Synchronization

/// The last fault that a background component reported.
final class LastFault: Sendable {
    private let text = Mutex<String?>(nil)

    var last: String? { text.withLock(\.self) }

    func note(_ fault: String) {
        text.withLock { $0 = fault }
    }
}
