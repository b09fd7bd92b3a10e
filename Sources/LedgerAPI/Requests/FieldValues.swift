internal import HTTP

extension HTTPHeaders {
    /// Returns the values of every field with this name, without the white space around them that
    /// RFC 9110, section 5.5, excludes from a value.
    func values(_ name: String) -> [String] {
        all(name).map { value in
            let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
            // The server has trimmed the value; white space alone is an empty value.
            guard let first = value.utf8.first else { return "" }
            if let last = value.utf8.last, !isSpace(first), !isSpace(last) { return value }
            guard let last = value.utf8.lastIndex(where: { !isSpace($0) }) else { return "" }
            return String(value[...last].utf8.drop(while: isSpace)) ?? value
        }
    }
}
