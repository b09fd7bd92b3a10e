/// A text that is compared byte for byte.
///
/// Swift's `==` also equates canonically equivalent texts, such as é as one scalar and as two. Untrusted
/// names and identifiers must not be compared that way: no other implementation does.
package struct ExactText: Hashable, Sendable {
    package let text: String

    /// Wraps a text.
    package init(_ text: String) {
        self.text = text
    }

    /// Compares byte for byte.
    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.isExactly(right.text)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { bytes in
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
    }
}

extension String {
    /// Compares byte for byte.
    package func isExactly(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else {
            return false
        }
        let isEqual = unsafe utf8.withContiguousStorageIfAvailable { left in
            unsafe other.utf8.withContiguousStorageIfAvailable { right in
                unsafe left.elementsEqual(right)
            }
        }
        // Texts bridged by Foundation may not be contiguous.
        return isEqual.flatMap(\.self) ?? utf8.elementsEqual(other.utf8)
    }
}

extension String? {
    /// Compares byte for byte; nil equals only nil.
    package func isExactly(_ other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let left?, let right?): left.isExactly(right)
        case (nil, _?), (_?, nil): false
        }
    }
}
