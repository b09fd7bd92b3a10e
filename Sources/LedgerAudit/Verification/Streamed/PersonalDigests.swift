/// The digests of `provider_id` and `email` by identity number; 0 for none.
///
/// In chunks, because an array that grows is in memory twice.
struct PersonalDigests {
    private static let chunkCount = 4096

    private var chunks: ContiguousArray<ContiguousArray<(providerID: UInt64, email: UInt64)>> = []

    /// The digests of an identity, which begin as 0; numbers are given in order.
    subscript(number: Int) -> (providerID: UInt64, email: UInt64) {
        get { chunks[number / Self.chunkCount][number % Self.chunkCount] }
        _modify {
            if number / Self.chunkCount == chunks.count {
                chunks.append(.init(repeating: (providerID: 0, email: 0), count: Self.chunkCount))
            }
            yield &chunks[number / Self.chunkCount][number % Self.chunkCount]
        }
    }
}
