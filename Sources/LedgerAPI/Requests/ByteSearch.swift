extension Span<UInt8> {
    /// Checks whether any byte equals this one; branch-free, so that it vectorises.
    func holds(_ wanted: UInt8) -> Bool {
        var found: UInt8 = 0
        for index in indices { found |= self[index] == wanted ? 1 : 0 }
        return found != 0
    }
}
