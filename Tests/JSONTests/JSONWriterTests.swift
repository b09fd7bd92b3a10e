import JSON
import Testing

/// The writer's structure: commas, lines, and the forms of strings.
@Suite struct JSONWriterTests {
    @Test func `members and elements are separated by commas, and a missing member is left out`() {
        let text = written { writer in
            writer.object { writer in
                writer.member("a", "x\n")
                writer.member("b", nil)
                writer.name("c")
                writer.array { writer in
                    writer.number(-1)
                    writer.flag(true)
                    writer.null()
                    writer.object { _ in }
                }
                writer.name("d")
                writer.base64([0xFB, 0xFF])
            }
        }
        #expect(text == #"{"a":"x\n","c":[-1,true,null,{}],"d":"+/8="}"#)
    }

    @Test func `an object of strings is sorted by name`() {
        #expect(written { $0.object(["b": "2", "a": "\""]) } == #"{"a":"\"","b":"2"}"#)
        #expect(written { $0.object([:]) } == "{}")
    }

    @Test func `lines are texts of their own`() {
        let text = written { writer in
            writer.line { $0.member("n", "1") }
            writer.line { $0.member("n", "2") }
        }
        #expect(text == "{\"n\":\"1\"}\n{\"n\":\"2\"}\n")
    }

    @Test func `elements may stand on lines of their own`() {
        let text = written { writer in
            writer.array { writer in
                for number in [1, 2] as [Int64] {
                    writer.lineBreak()
                    writer.number(number)
                }
            }
        }
        #expect(text == "[\n1,\n2]")
    }

    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
