import CReceive
import Glibc

/// A filter between the socket of a connection and libmicrohttpd.
///
/// The `recv` of this program calls it; CReceive explains why libmicrohttpd uses that function.
// Protected by the confinement to the daemon's thread that serves the connection.
@safe final class RequestFilter: @unchecked Sendable {
    private var scanner: RequestScanner
    /// The number of requests that libmicrohttpd has begun to read.
    private var begunCount = 0

    init(limits: HTTPServerLimits) {
        scanner = RequestScanner(limits: limits)
    }

    /// Attaches the filter to a descriptor; false when its number is too high or another filter is still
    /// attached.
    func attach(to descriptor: Int32) -> Bool {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        return unsafe creceive_attach(descriptor, receiveThroughFilter, context)
    }

    /// Detaches the filter; called before the descriptor is closed.
    func leave(_ descriptor: Int32) {
        creceive_release(descriptor)
    }

    /// Counts a request whose request line libmicrohttpd has read.
    func beginRequest() {
        begunCount += 1
    }

    /// The reason to refuse the current request; nil when its head is well-formed.
    var refusal: HTTPRejection? {
        // A head that was never scanned has bypassed the filter, and nothing is known about it.
        guard begunCount <= scanner.headCount else { return .internalFailure }
        return begunCount == scanner.headCount ? scanner.refusal : nil
    }

    fileprivate func receive(
        from descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, flags: Int32
    ) -> Int {
        guard scanner.refusal == nil else {
            let count = unsafe scanner.copyRest(into: buffer)
            guard count == 0 else { return count }
            errno = EAGAIN
            return -1
        }
        let count = unsafe recvfrom(descriptor, buffer.baseAddress, buffer.count, flags, nil, nil)
        return count > 0 ? unsafe scanner.pass(buffer, count: count) : count
    }
}

private func receiveThroughFilter(
    _ context: UnsafeMutableRawPointer?, _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?,
    _ size: Int, _ flags: Int32
) -> Int {
    guard let context = unsafe context else { return 0 }
    let gate = unsafe Unmanaged<RequestFilter>.fromOpaque(context).takeUnretainedValue()
    return unsafe gate.receive(
        from: descriptor, into: UnsafeMutableRawBufferPointer(start: buffer, count: size),
        flags: flags)
}
