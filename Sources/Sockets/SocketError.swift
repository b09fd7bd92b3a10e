internal import Glibc

/// A failed system call.
package struct SocketError: Error, CustomStringConvertible {
    /// The name of the call.
    package let call: String
    /// Its `errno`.
    package let code: Int32

    init(_ call: String) {
        self.call = call
        code = errno
    }

    package var description: String {
        "\(call) failed with error \(code)"
    }
}
