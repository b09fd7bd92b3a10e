internal import CCurl

/// A set of concurrent libcurl transfers, with their kept connections.
// Protected by the confinement to one thread of everything but `wake()`, which libcurl lets any thread
// call; the pointer never changes.
@safe final class TransferSet: @unchecked Sendable {
    /// Longest wait without activity, in milliseconds.
    private static let waitMax: Int32 = 60_000

    private let handle: UnsafeMutableRawPointer

    /// Creates an empty set; nil when libcurl can't be set up.
    init?() {
        guard CurlLibrary.isReady, let made = unsafe curl_multi_init() else { return nil }
        unsafe handle = made
    }

    deinit {
        unsafe curl_multi_cleanup(handle)
    }

    /// Ends the current or the next wait.
    func wake() {
        unsafe curl_multi_wakeup(handle)
    }

    /// Adds a transfer, which must be removed before its release; false when that fails.
    func add(_ transfer: any HandleOwner) -> Bool {
        unsafe curl_multi_add_handle(handle, transfer.handle) == CURLM_OK
    }

    /// Removes a transfer from the set.
    func remove(_ transfer: any HandleOwner) {
        unsafe curl_multi_remove_handle(handle, transfer.handle)
    }

    /// Sends and receives all data without blocking.
    func perform() {
        var count: Int32 = 0
        unsafe curl_multi_perform(handle, &count)
    }

    /// Returns the next ended transfer, or nil.
    func nextEnded() -> (key: Int, code: CURLcode)? {
        var code = CURLE_OK
        guard let ended = unsafe ccurl_take_ended(handle, &code) else { return nil }
        return (key: Int(bitPattern: ended), code: code)
    }

    /// Waits until data can be sent or received, or ``wake()`` is called.
    func wait() {
        unsafe curl_multi_poll(handle, nil, 0, Self.waitMax, nil)
    }
}
