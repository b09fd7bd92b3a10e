/// The reason why a text is not a password hash that can be verified.
package enum PasswordHashFault: Error, Hashable, Sendable {
    /// It has more bytes than ``PasswordHash/bytesMax``.
    case tooLong
    /// Its scheme is unknown, or too weak even to be wrapped.
    case unsupported
    case malformed
    /// Verifying it would cost more than is spent on a password.
    case costTooHigh(Cost)

    /// A cost with a limit.
    package enum Cost: Hashable, Sendable {
        /// The memory of one computation.
        case memory
        /// The number of passes, or the work that they add up to.
        case iterations
        /// The number of lanes.
        case lanes
    }
}

/// The reason why a valid hash could not be computed.
package enum HashingFault: Error, Hashable, Sendable {
    /// The hash was made with a key of this id, which is missing.
    case unknownPepper(String)
    case noMemory
    /// The C library refused the setting.
    case refusedSetting
}
