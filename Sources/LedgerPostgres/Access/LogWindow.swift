import Ledger

/// The positions that one page examines: a bounded part of the requested range.
struct LogWindow {
    /// The first position examined.
    let start: Int64
    /// The position after the last one examined.
    let end: Int64
    private let requestedEnd: Int64
    private let after: Int64?

    /// Selects the next positions after a cursor.
    init(_ wanted: Range<Int64>, after: Int64?, countMax: Int64) {
        start = max(wanted.lowerBound, (after ?? -1) + 1)
        end = max(start, min(wanted.upperBound, start.addingClamped(countMax)))
        requestedEnd = wanted.upperBound
        self.after = after
    }

    /// Returns the page of the elements found here, at most `limit`.
    func page<Element>(
        _ elements: [Element], limit: Int, position: (Element) -> Int64
    ) -> CursorPage<Element> {
        guard start < end else {
            return CursorPage(elements: elements, cursor: after, hasMore: start < requestedEnd)
        }
        // A full page was examined up to its last element, any other up to the window's end.
        let last = elements.count >= limit ? elements.last.map(position) : nil
        let cursor = last ?? end - 1
        return CursorPage(elements: elements, cursor: cursor, hasMore: cursor + 1 < requestedEnd)
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let sum = addingReportingOverflow(other)
        return sum.overflow ? .max : sum.partialValue
    }
}
