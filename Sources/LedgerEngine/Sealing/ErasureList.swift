import Ledger

/// The file of the erasures that the sealer saw: one line each, with position, account and time.
enum ErasureList {
    static func line(_ erasure: SeenErasure) -> String {
        "\(erasure.position) \(erasure.account) \(erasure.recordedAt)\n"
    }

    /// Reads the lines; a last line that a crash left incomplete is skipped.
    static func erasures(_ bytes: [UInt8]) -> [SeenErasure] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 3, let position = Int64(words[0]),
                let account = AccountID(words[1]), let time = Timestamp(words[2])
            else { return nil }
            return SeenErasure(position: position, account: account, recordedAt: time)
        }
    }
}
