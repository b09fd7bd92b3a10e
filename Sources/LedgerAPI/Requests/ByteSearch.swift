extension Span<UInt8> {
    /// Whether any byte is this one; without a branch for each, so that many are looked at at a time.
    func holds(_ wanted: UInt8) -> Bool {
        var found: UInt8 = 0
        for index in indices { found |= self[index] == wanted ? 1 : 0 }
        return found != 0
    }
}
