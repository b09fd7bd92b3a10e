/// The header fields of a request, and whether they are all that stands in the header section.
///
/// The daemon ends a value at a NUL, joins folded lines, takes a bare CR or LF for the end of a
/// line, and leaves out a field without a name. All of that shows in its memory, where the section
/// lies as it was read, with a NUL for each CR and LF: fields that lie side by side, each followed
/// by a CR and an LF and the last by an empty line, are the whole section. One thing does not show:
/// a single NUL in the place of the CR, which hides nothing but itself.
struct HeaderSection {
    /// A CR and an LF.
    static let lineEndCount = 2

    private(set) var fields: HTTPHeaders
    private let end: Int
    /// The address where the next field must begin, nil when one began elsewhere.
    private var next: Int?

    /// Begins with no fields, at the addresses after the request line and after the section.
    init(start: Int, end: Int) {
        fields = HTTPHeaders(reserving: max(0, end - start))
        self.end = end
        next = start
    }

    /// True when nothing but the fields stands between the request line and the body.
    var isWhole: Bool { next.map { $0 + Self.lineEndCount == end } ?? false }

    /// Copies a field from where the daemon keeps it.
    mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let start = Int(bitPattern: name.baseAddress)
        let valueStart = Int(bitPattern: value.baseAddress)
        // What stands between colon and value is white space, which the daemon has skipped.
        let isInPlace = start == next && valueStart > start + name.count
        next = isInPlace ? valueStart + value.count + Self.lineEndCount : nil
        unsafe fields.append(name: name, value: value)
    }
}
