internal import CLibPQ

extension QueryResult {
    /// Creates a result of one row and one binary value, as if a server had sent it.
    ///
    /// For tests of the decoding, since a real server sends no damaged values. Nil when libpq is
    /// out of memory.
    package convenience init?(received value: [UInt8], type: UInt32) {
        guard let result = unsafe PQmakeEmptyPGresult(nil, PGRES_TUPLES_OK) else { return nil }
        let isMade = unsafe "value".withCString { name in
            var column = unsafe PGresAttDesc(
                name: UnsafeMutablePointer(mutating: name), tableid: 0, columnid: 0, format: 1,
                typid: type, typlen: -1, atttypmod: -1)
            return unsafe PQsetResultAttrs(result, 1, &column) != 0
        }
        var bytes = value.map(CChar.init(bitPattern:))
        guard isMade, unsafe PQsetvalue(result, 0, 0, &bytes, Int32(bytes.count)) != 0 else {
            unsafe PQclear(result)
            return nil
        }
        unsafe self.init(result)
    }
}
