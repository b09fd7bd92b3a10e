/// A text that is equal to another when their bytes are.
///
/// Swift's `==` also equates canonically equivalent texts, such as é in one scalar and in two. Names
/// and identifiers from strangers must not be compared that way: no other reader does.
struct ExactText: Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.isExactly(right.text)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 {
            hasher.combine(byte)
        }
    }
}

extension String {
    /// Compares byte for byte.
    func isExactly(_ other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}

extension String? {
    /// Compares byte for byte; nothing is equal to nothing only.
    func isExactly(_ other: String?) -> Bool {
        map(ExactText.init) == other.map(ExactText.init)
    }
}
