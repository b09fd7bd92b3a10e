import Postgres
import Testing

/// Columns are read by the names that the statement gives them.
@Suite struct SelectListTests {
    @Test func `names have the positions of the selected columns`() {
        let list: SelectList = ["k.n", "count(*) AS total"] + ["i.mac", "cast(x AS text) AS note"]
        #expect(list.sql == "k.n, count(*) AS total, i.mac, cast(x AS text) AS note")
        #expect(list.count == 4)
        #expect([list["k.n"], list["total"], list["i.mac"], list["note"]] == [0, 1, 2, 3])
    }

    @Test func `two columns of one name are a mistake of the program`() async {
        await #expect(processExitsWith: .failure) { _ = SelectList(["a.mac", "b AS a.mac"]) }
    }

    @Test func `a column that is not selected is a mistake of the program`() async {
        await #expect(processExitsWith: .failure) { _ = SelectList(["a.mac"])["b.mac"] }
    }
}
