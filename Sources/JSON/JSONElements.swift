/// Cuts the elements of a JSON array out of a text of any length, so that each is parsed by itself.
///
/// It only follows strings and brackets: whether an element is JSON is for its parser to say. The array is
/// the whole text, or a member of the object that is the text, or of each object in a list.
package struct JSONElements: Sendable {
    /// The place of the array.
    package enum Layout: Sendable {
        case wholeText
        case member(String)
        /// A member of the objects in the array that is the text; not all of them need it.
        case memberOfEach(String)
    }

    /// An element.
    package struct Element: Sendable {
        /// The text; nil when it is longer than the maximum.
        package let bytes: [UInt8]?
        /// The line, from 1, in which it begins.
        package let line: Int
    }

    /// The result of a step.
    package enum Step: Sendable {
        case element(Element)
        /// The given bytes are used up.
        case needsBytes
        /// The text is no JSON in this line, and nothing after it can be read.
        case broken(line: Int)
    }

    private enum Place {
        case start
        case objects
        case afterObject
        case memberName
        case name
        case colon
        case memberValue
        case skippedValue
        case afterMember
        case elements
        case element
        case afterElement
        case end
        case broken
    }

    private static let nameBytesMax = 256

    private let layout: Layout
    private let bytesMax: Int
    private var chunk: ArraySlice<UInt8> = []
    private var place = Place.start
    /// The line, from 1, up to which the text was read.
    package private(set) var line = 1
    private var name: [UInt8] = []
    private var hasFoundArray = false
    /// The number of arrays that have begun.
    package private(set) var arrayCount = 0
    private var isFirst = true

    // The value that is being followed.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var isScalar = false
    private var collected: [UInt8] = []
    private var isTooLong = false
    private var firstLine = 1

    /// Starts at the beginning of a text; of a longer element only the line is returned.
    package init(_ layout: Layout, bytesMax: Int) {
        self.layout = layout
        self.bytesMax = bytesMax
    }

    /// Adds the next bytes of the text, after the former ones are used up.
    package mutating func add(_ bytes: [UInt8]) { chunk = bytes[...] }

    /// Returns the next element, the need for more bytes, or the end.
    package mutating func next() -> Step {
        while true {
            switch place {
            case .element, .skippedValue:
                guard follow() else { return .needsBytes }
                if place == .skippedValue {
                    place = .afterMember
                } else if place == .element {
                    place = .afterElement
                    let bytes = isTooLong ? nil : collected
                    collected = []
                    return .element(Element(bytes: bytes, line: firstLine))
                }
            case .name:
                guard readName() else { return .needsBytes }
            case .broken: return .broken(line: line)
            default:
                skipWhitespace()
                guard let byte = chunk.first else { return .needsBytes }
                take(byte)
            }
        }
    }

    /// Whether the text is complete.
    package var isComplete: Bool { place == .end }

    /// Follows a byte that is neither in a value nor in a name.
    private mutating func take(_ byte: UInt8) {
        switch (place, byte) {
        case (.start, UInt8(ascii: "[")):
            switch layout {
            case .wholeText: beginArray()
            case .memberOfEach: begin(.objects)
            case .member: fail()
            }
        case (.start, UInt8(ascii: "{")):
            guard case .member = layout else { return fail() }
            begin(.memberName)
        case (.objects, UInt8(ascii: "{")):
            hasFoundArray = false
            begin(.memberName)
        case (.objects, UInt8(ascii: "]")) where isFirst, (.afterObject, UInt8(ascii: "]")):
            move(to: .end)
        case (.afterObject, UInt8(ascii: ",")):
            isFirst = false
            move(to: .objects)
        case (.memberName, UInt8(ascii: "\"")):
            name = []
            isEscaped = false
            move(to: .name)
        case (.memberName, UInt8(ascii: "}")) where isFirst, (.afterMember, UInt8(ascii: "}")):
            if case .memberOfEach = layout { move(to: .afterObject) } else { move(to: .end) }
        case (.colon, UInt8(ascii: ":")): move(to: .memberValue)
        case (.memberValue, UInt8(ascii: "[")) where isTheArray:
            guard !hasFoundArray else { return fail() }
            hasFoundArray = true
            beginArray()
        case (.memberValue, _): beginValue(.skippedValue)
        case (.afterMember, UInt8(ascii: ",")):
            isFirst = false
            move(to: .memberName)
        case (.elements, UInt8(ascii: "]")) where isFirst, (.afterElement, UInt8(ascii: "]")):
            if case .wholeText = layout { move(to: .end) } else { move(to: .afterMember) }
        case (.elements, _): beginValue(.element)
        case (.afterElement, UInt8(ascii: ",")):
            isFirst = false
            move(to: .elements)
        default: fail()
        }
    }

    private var isTheArray: Bool {
        switch layout {
        case .wholeText: false
        case .member(let wanted), .memberOfEach(let wanted): name.elementsEqual(wanted.utf8)
        }
    }

    private mutating func fail() { place = .broken }

    private mutating func move(to next: Place) {
        place = next
        chunk.removeFirst()
    }

    private mutating func begin(_ next: Place) {
        isFirst = true
        move(to: next)
    }

    private mutating func beginArray() {
        arrayCount += 1
        begin(.elements)
    }

    private mutating func beginValue(_ next: Place) {
        place = next
        depth = 0
        isInString = false
        isEscaped = false
        isScalar = false
        isTooLong = false
        firstLine = line
    }

    private mutating func skipWhitespace() {
        while let byte = chunk.first, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            if byte == 0x0A { line += 1 }
            chunk.removeFirst()
        }
    }

    /// Reads the name of a member up to its end; false when the bytes end before.
    private mutating func readName() -> Bool {
        while let byte = chunk.popFirst() {
            if !isEscaped, byte == UInt8(ascii: "\"") {
                place = .colon
                return true
            }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            guard byte >= 0x20 else {
                fail()
                return true
            }
            if name.count < Self.nameBytesMax { name.append(byte) }
        }
        return false
    }

    /// Follows a value to its end; false when the bytes end before.
    private mutating func follow() -> Bool {
        // Not of the member, which each byte would read anew.
        let bytes = chunk
        var index = bytes.startIndex
        let end = bytes.endIndex
        var isAtEnd = false
        while index < end, !isAtEnd {
            let byte = bytes[index]
            if byte == 0x0A { line += 1 }
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    isAtEnd = depth == 0
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""):
                    isInString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    guard depth > 0 else {
                        // The bracket around the value ends it, and there is one.
                        guard isScalar else {
                            fail()
                            return true
                        }
                        return finish(before: index)
                    }
                    depth -= 1
                    isAtEnd = depth == 0
                case UInt8(ascii: ","), 0x20, 0x0A, 0x0D, 0x09:
                    if depth == 0 {
                        guard isScalar else {
                            fail()
                            return true
                        }
                        if byte == 0x0A { line -= 1 }
                        return finish(before: index)
                    }
                default: if depth == 0 { isScalar = true }
                }
            }
            index += 1
        }
        collect(upTo: index)
        return isAtEnd
    }

    private mutating func finish(before index: Int) -> Bool {
        collect(upTo: index)
        return true
    }

    private mutating func collect(upTo index: Int) {
        if place == .element, !isTooLong {
            if collected.count + (index - chunk.startIndex) > bytesMax {
                isTooLong = true
                collected = []
            } else {
                collected += chunk[chunk.startIndex..<index]
            }
        }
        chunk = chunk[index...]
    }
}
