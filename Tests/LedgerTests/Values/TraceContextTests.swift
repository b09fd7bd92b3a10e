import Ledger
import Testing

/// The field `traceparent` of W3C Trace Context.
@Suite struct TraceContextTests {
    private static let example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `the example of the specification is read and written`() throws {
        let trace = try #require(TraceContext(Self.example))
        #expect(trace.traceText == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(trace.spanText == "00f067aa0ba902b7" && trace.flags == 1)
        #expect(trace.text == Self.example)
    }

    @Test func `a child is another span of the same trace`() throws {
        let child = try #require(TraceContext(Self.example)?.child(0xB))
        #expect(child.text == "00-4bf92f3577b34da6a3ce929d0e0e4736-000000000000000b-01")
        #expect(TraceContext(Self.example)?.child(0) == nil)
    }

    @Test(arguments: [
        "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
        "0-04bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-0",
    ])
    func `an invalid value is no context`(text: String) {
        #expect(TraceContext(text) == nil)
    }

    @Test(arguments: ["", "-what-the-future-brings"])
    func `a later version is read as the present one`(more: String) {
        let text = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fd\(more)"
        #expect(TraceContext(text)?.text == Self.example)
    }
}
