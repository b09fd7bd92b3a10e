import JSON
import Ledger

extension SeenErasure {
    /// The last bytes of every entry of an erasure, for each version: canonical JSON has its keys in order.
    private static let endings = (1...AccountErased.newestVersion).map {
        Array(",\"type\":\"AccountErased\",\"v\":\"\($0)\"}".utf8)
    }

    /// Reads the erasure that an entry records; returns nil for any other entry.
    package init?(entry: [UInt8]) {
        guard Self.endings.contains(where: { entry.suffix($0.count).elementsEqual($0) }),
            let members = JSONValue(parsing: entry)?.members,
            let position = members["position"]?.string.flatMap({ Int64($0) }),
            let account = members["accounts"]?.array?.first?.members?["id"]?.string,
            let id = AccountID(account),
            let time = members["recorded_at"]?.string.flatMap({ Timestamp($0) })
        else { return nil }
        self.init(position: position, account: id, recordedAt: time)
    }
}
