internal import CCurl

/// A set of transfers that libcurl carries at the same time, and the connections that it keeps.
// Protected by the confinement to one thread of everything but `wake()`, which libcurl lets any thread
// call; the pointer never changes.
@safe final class TransferSet: @unchecked Sendable {
    /// Longest wait when nothing happens, in milliseconds.
    private static let waitMax: Int32 = 60_000

    private let handle: UnsafeMutableRawPointer

    /// Makes an empty set; nil when libcurl can't be set up.
    init?() {
        guard OutgoingTransfer.isReady, let made = unsafe curl_multi_init() else { return nil }
        unsafe handle = made
    }

    deinit {
        unsafe curl_multi_cleanup(handle)
    }

    /// Ends the wait that is under way, or the next one.
    func wake() {
        unsafe curl_multi_wakeup(handle)
    }

    /// Adds a transfer, which has to be removed before it is let go; false when that can't be done.
    func add(_ transfer: WebhookTransfer) -> Bool {
        unsafe curl_multi_add_handle(handle, transfer.handle) == CURLM_OK
    }

    /// Takes a transfer out of the set.
    func remove(_ transfer: WebhookTransfer) {
        unsafe curl_multi_remove_handle(handle, transfer.handle)
    }

    /// Sends and receives what can be sent and received now.
    func perform() {
        var count: Int32 = 0
        unsafe curl_multi_perform(handle, &count)
    }

    /// Takes the next transfer that has ended; nil when there is none.
    func takeEnded() -> (key: Int, code: CURLcode)? {
        var code = CURLE_OK
        guard let ended = unsafe ccurl_take_ended(handle, &code) else { return nil }
        return (key: Int(bitPattern: ended), code: code)
    }

    /// Waits until something can be sent or received, or somebody calls ``wake()``.
    func wait() {
        unsafe curl_multi_poll(handle, nil, 0, Self.waitMax, nil)
    }
}
