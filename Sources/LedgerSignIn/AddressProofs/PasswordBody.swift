internal import Cryptography
package import Ledger
package import Passwords

/// The credential of a provider of type `password`.
package enum PasswordBody: Sendable {
    /// An address and its password; with the token of a device that has signed in before, and with a code to the
    /// address, which strangers have tried too often.
    case known(address: String, Password, deviceToken: String?, code: CodeBody? = nil)
    /// An address that is confirmed later, in its canonical form, and the password that it gets.
    case claim(address: String, NewPassword)
    /// The code that finishes a sign-up.
    case signUp(CodeBody)
    /// The code that proves an address, and the password that it gets: for a link.
    case new(CodeBody, PreparedPassword)

    /// Whether a sign-in with it may open an account.
    var mayOpenAccount: Bool {
        switch self {
        case .claim, .signUp, .new: true
        case .known: false
        }
    }

    /// SHA-256 of what identifies the attempt: never of a password, which could be guessed from it.
    var digest: Digest {
        switch self {
        case .known(let address, _, _, _), .claim(let address, _):
            guard let digest = Digest(SHA256.hash("password:\(address)")) else {
                preconditionFailure("SHA-256 has 32 bytes")
            }
            return digest
        case .signUp(let code), .new(let code, _): return code.digest
        }
    }

    /// The token of the device, if it has one.
    var deviceToken: String? {
        switch self {
        case .known(_, _, let token, _): token
        case .claim: nil
        case .signUp(let code), .new(let code, _): code.deviceToken
        }
    }
}
