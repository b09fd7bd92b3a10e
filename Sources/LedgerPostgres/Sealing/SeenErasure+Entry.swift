import Cryptography
import Ledger

extension SeenErasure {
    /// What the bytes of every entry of an erasure end in: the canonical form has its keys in order.
    private static let ending = Array(",\"type\":\"AccountErased\",\"v\":\"1\"}".utf8)

    /// Reads the erasure that an entry records; nil for any other entry.
    init?(entry: [UInt8]) {
        guard entry.suffix(Self.ending.count).elementsEqual(Self.ending),
            let members = JSONValue(parsing: entry)?.members,
            let position = members["position"]?.string.flatMap({ Int64($0) }),
            let account = members["accounts"]?.array?.first?.members?["id"]?.string,
            let id = AccountID(account),
            let time = members["recorded_at"]?.string.flatMap({ Timestamp($0) })
        else { return nil }
        self.init(position: position, account: id, recordedAt: time)
    }
}
