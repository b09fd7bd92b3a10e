/// The reason why a server could not start.
package enum HTTPServerError: Error, Equatable, Sendable {
    /// Another socket listens on this address and port.
    case addressInUse
    /// The host is not a numeric IP address of this machine.
    case addressInvalid
    /// A system call failed; the code is its `errno`.
    case failed(call: String, code: Int32)
}

extension HTTPServerError: CustomStringConvertible {
    /// A message for operators.
    package var description: String {
        switch self {
        case .addressInUse: "the address is already in use"
        case .addressInvalid: "the address is not a numeric address of this machine"
        case .failed(let call, let code): "\(call) failed with error \(code)"
        }
    }
}
