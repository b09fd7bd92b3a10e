internal import Encodings

extension TOTPSecret {
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
        let issuer = percentEncoded(issuer)
        return "otpauth://totp/\(issuer):\(percentEncoded(account))"
            + "?secret=\(Base32.encode(bytes))&issuer=\(issuer)"
    }

    /// Replaces every byte but those of unreserved characters (RFC 3986, section 2.3) by its escape.
    private func percentEncoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return encoded
    }
}
