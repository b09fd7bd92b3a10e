/// The reason why a password is refused.
package enum PasswordRefusal: Error, Hashable, Sendable {
    case empty
    /// It has more than ``Password/bytesMax`` bytes.
    case tooManyBytes
    /// It has a control character, an invisible one or one that is not assigned.
    case disallowedCharacter
    /// It has fewer code points than this minimum.
    case tooShort(min: Int)
    /// It is in the blocklist.
    case blocklisted
}
