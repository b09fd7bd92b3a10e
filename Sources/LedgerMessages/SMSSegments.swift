/// The number of SMS in which a text is sent (3GPP TS 23.038 and 23.040).
enum SMSSegments {
    private static let basic = Set(
        """
        @£$¥èéùìòÇ\nØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZ\
        ÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà
        """.unicodeScalars)
    /// Those that take the place of two.
    private static let extended = Set("^{}\\[~]|€".unicodeScalars)

    static func count(of text: String) -> Int {
        let scalars = text.unicodeScalars
        guard scalars.allSatisfy({ basic.contains($0) || extended.contains($0) }) else {
            return parts(text.utf16.count, alone: 70, joined: 67)
        }
        let length = scalars.count + scalars.count { extended.contains($0) }
        return parts(length, alone: 160, joined: 153)
    }

    private static func parts(_ length: Int, alone: Int, joined: Int) -> Int {
        length <= alone ? 1 : (length + joined - 1) / joined
    }
}
