/// The parameters of a whole pipeline, encoded before anything is sent.
///
/// They are encoded first so that a value which cannot be sent leaves the connection untouched.
@safe struct EncodedCalls: ~Copyable {
    /// The maximum number of parameters of one statement in Postgres.
    static let parametersMax = 65_535
    /// The maximum size of one parameter; the server refuses values near 1 GiB.
    static let parameterBytesMax = 256 * 1024 * 1024
    /// The maximum size of all parameters of one pipeline.
    static let pipelineBytesMax = 1024 * 1024 * 1024
    /// The maximum memory kept for the next pipeline.
    private static let keptBytesMax = 4 * 1024 * 1024

    private var buffer = WireBuffer()
    private var offsets: [Int] = []
    private var values: [UnsafePointer<CChar>?] = unsafe []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []
    private(set) var types: [UInt32] = []
    private var firsts: [Int] = []

    init() {}

    /// Replaces the content with the parameters of these calls.
    mutating func encode(_ calls: [Call]) throws(PostgresError) {
        clear()
        for call in calls {
            firsts.append(types.count)
            guard call.parameters.count <= Self.parametersMax else {
                throw .unexpectedResult("statement \(call.statement.name) has too many parameters")
            }
            for parameter in call.parameters { try encode(parameter, of: call.statement) }
        }
        firsts.append(types.count)
        for offset in offsets {
            unsafe values.append(
                offset < 0
                    ? nil
                    : UnsafePointer((buffer.start + offset).assumingMemoryBound(to: CChar.self)))
        }
        while formats.count < types.count { formats.append(1) }
    }

    private mutating func encode(
        _ parameter: Parameter, of statement: Statement
    ) throws(PostgresError) {
        let offset = buffer.count
        try buffer.append(parameter)
        let length = buffer.count - offset
        guard length <= Self.parameterBytesMax, buffer.count <= Self.pipelineBytesMax else {
            throw .unexpectedResult("statement \(statement.name) has too large a parameter")
        }
        if case .null = parameter { offsets.append(-1) } else { offsets.append(offset) }
        lengths.append(Int32(truncatingIfNeeded: length))
        types.append(parameter.type)
    }

    private mutating func clear() {
        buffer.clear(keeping: Self.keptBytesMax)
        offsets.removeAll(keepingCapacity: true)
        unsafe values.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
        firsts.removeAll(keepingCapacity: true)
    }

    /// The types of one call's parameters; 0 where the parameter is null.
    func types(ofCall index: Int) -> ArraySlice<UInt32> {
        types[firsts[index]..<firsts[index + 1]]
    }

    /// Passes the arrays that libpq needs for one call to a body; they are valid only while it
    /// runs.
    func withParameters<Value>(
        ofCall index: Int,
        _ body: (
            _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>?,
            _ lengths: UnsafePointer<Int32>?, _ formats: UnsafePointer<Int32>?
        ) -> Value
    ) -> Value {
        let first = firsts[index]
        let count = Int32(firsts[index + 1] - first)
        return unsafe values.withUnsafeBufferPointer { values in
            unsafe lengths.withUnsafeBufferPointer { lengths in
                unsafe formats.withUnsafeBufferPointer { formats in
                    unsafe body(
                        count, values.baseAddress.map { unsafe $0 + first },
                        lengths.baseAddress.map { unsafe $0 + first }, formats.baseAddress)
                }
            }
        }
    }
}
