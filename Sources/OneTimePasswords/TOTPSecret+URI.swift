internal import Encodings

extension TOTPSecret {
    /// The secret in base32, as people type it into an authenticator app.
    package var base32: String { Base32.encode(copiedBytes()) }

    /// Returns the URI that authenticator apps read from a QR code: `otpauth://totp/...`.
    ///
    /// The parameters for six digits, 30 seconds and SHA-1 are left out, because they are the format's defaults.
    ///
    /// - Parameters:
    ///   - issuer: the name of the service.
    ///   - account: the name of the account at the service, such as an e-mail address.
    /// - Returns: nil when a name is empty or has a colon, which separates the two.
    package func uri(issuer: String, account: String) -> String? {
        guard
            [issuer, account].allSatisfy({ !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: ":")) })
        else { return nil }
        let issuer = PercentEncoding.encode(issuer)
        return "otpauth://totp/\(issuer):\(PercentEncoding.encode(account))"
            + "?secret=\(base32)&issuer=\(issuer)"
    }
}
