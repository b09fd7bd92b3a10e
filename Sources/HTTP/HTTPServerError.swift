/// Why a server could not start.
package enum HTTPServerError: Error, Equatable, Sendable {
    /// Another socket listens on this address and port.
    case addressInUse
    /// The host is not a numeric IP address, or none of this machine.
    case addressInvalid
    /// The system refused; the code is `errno` of the named call.
    case failed(call: String, code: Int32)
}

extension HTTPServerError: CustomStringConvertible {
    /// A sentence for an operator.
    package var description: String {
        switch self {
        case .addressInUse: "the address is in use"
        case .addressInvalid: "the address is not a numeric address of this machine"
        case .failed(let call, let code): "\(call) failed with error \(code)"
        }
    }
}
