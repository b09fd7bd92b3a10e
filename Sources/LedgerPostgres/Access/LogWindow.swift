import Ledger

/// The positions that one page examines: a bounded part of the requested range.
struct LogWindow {
    /// The first position examined.
    let start: Int64
    /// The position after the last one examined.
    let end: Int64
    private let requested: Range<Int64>
    private let order: ReadingOrder
    private let after: Int64?

    /// Selects the next positions after a cursor, in an order.
    init(_ wanted: Range<Int64>, _ order: ReadingOrder, after: Int64?, countMax: Int64) {
        switch order {
        case .oldest:
            start = max(wanted.lowerBound, (after ?? -1) + 1)
            end = max(start, min(wanted.upperBound, start.addingClamped(countMax)))
        case .newest:
            let last = max(wanted.lowerBound, min(wanted.upperBound, after ?? .max))
            start = max(wanted.lowerBound, last - countMax)
            end = last
        }
        requested = wanted
        self.order = order
        self.after = after
    }

    /// Returns the page of the elements found here, at most `limit`.
    func page<Element>(
        _ elements: [Element], limit: Int, position: (Element) -> Int64
    ) -> CursorPage<Element> {
        guard start < end else {
            let hasMore = order == .oldest && start < requested.upperBound
            return CursorPage(elements: elements, cursor: after, hasMore: hasMore)
        }
        // A full page was examined up to its last element, any other up to the window's end.
        let last = elements.count >= limit ? elements.last.map(position) : nil
        switch order {
        case .oldest:
            let cursor = last ?? end - 1
            return CursorPage(
                elements: elements, cursor: cursor, hasMore: cursor + 1 < requested.upperBound)
        case .newest:
            let cursor = last ?? start
            return CursorPage(
                elements: elements, cursor: cursor, hasMore: cursor > requested.lowerBound)
        }
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let sum = addingReportingOverflow(other)
        return sum.overflow ? .max : sum.partialValue
    }
}
