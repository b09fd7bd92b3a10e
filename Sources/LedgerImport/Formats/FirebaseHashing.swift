internal import Encodings

/// The parameters of a project's password hashes, as the console of Firebase shows them.
package struct FirebaseHashing: Sendable {
    private static let bytesMax = 4096

    private let signerKey: String
    private let separator: String
    private let rounds: Int
    private let memoryCost: Int

    /// Reads the text `hash_config { algorithm: SCRYPT, ... }`; nil for anything else.
    package init?(text: [UInt8]) {
        guard text.count <= Self.bytesMax, let text = String(validating: text, as: UTF8.self)
        else { return nil }
        var values: [Substring: Substring] = [:]
        let lines = text.split { $0.isNewline || $0 == "," || $0 == "{" || $0 == "}" }
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let blanks: (Character) -> Bool = { $0 == " " || $0 == "\t" }
            let name = parts[0].drop(while: blanks)
            let value = parts[1].drop(while: blanks)
            values[name] =
                value[
                    ..<(value.lastIndex { !blanks($0) }.map(value.index(after:)) ?? value.startIndex)
                ]
        }
        guard values["algorithm"] == "SCRYPT", let key = values["base64_signer_key"],
            let rounds = values["rounds"].flatMap({ Int($0) }),
            let memory = values["mem_cost"].flatMap({ Int($0) }), (1...8).contains(rounds),
            (1...14).contains(memory), Base64.decode(key) != nil
        else { return nil }
        signerKey = String(key)
        separator = String(values["base64_salt_separator"] ?? "")
        self.rounds = rounds
        memoryCost = memory
    }

    /// Returns the form in which hashes have their parameters.
    func text(salt: String, hash: String) -> String {
        "$fbscrypt$v=1,n=\(memoryCost),r=\(rounds),p=1,ss=\(separator),sk=\(signerKey)$"
            + Self.standard(salt) + "$" + Self.standard(hash)
    }

    /// Returns Base64 in the alphabet and with the padding of RFC 4648, section 4.
    static func standard(_ text: String) -> String {
        var bytes = text.utf8.filter { $0 != UInt8(ascii: "=") }.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while !bytes.count.isMultiple(of: 4) { bytes.append(UInt8(ascii: "=")) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
