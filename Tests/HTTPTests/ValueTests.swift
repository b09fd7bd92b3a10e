import Testing

@testable import HTTP

struct ValueTests {
    @Test(arguments: [
        "application/json", "APPLICATION/Json", "application/json; charset=utf-8",
        " application/json ;x=y", "application/json;",
    ])
    func `JSON is known by its media type`(text: String) {
        #expect(MediaType(text)?.isJSON == true)
    }

    @Test(arguments: [
        nil, "", "json", "application/", "/json", "application/json/x", "application/jsonp",
        "application/problem+json", "text/plain", "application/json, text/plain",
        "application /json", "application/js\u{F6}n",
        " \u{301}application/json", "application/json \u{301}",
    ])
    func `another media type is not JSON`(text: String?) {
        #expect(MediaType(text)?.isJSON != true)
    }

    @Test func `a header field is found whatever its case`() {
        let headers: HTTPHeaders = ["Accept": "a", "X-Many": "1", "x-many": "2", "Empty": ""]
        #expect(headers["accept"] == "a")
        #expect(headers["ACCEPT"] == "a")
        #expect(headers["accep"] == nil)
        #expect(headers["acceptx"] == nil)
        #expect(headers["x-many"] == "1")
        #expect(headers.all("X-MANY") == ["1", "2"])
        #expect(headers.all("none") == [])
        #expect(headers["empty"] == "")
        #expect(headers.count == 4)
        #expect(HTTPHeaders([("A", "1"), ("a", "2")]).all("a") == ["1", "2"])
    }

    @Test(arguments: [
        ("/a?x=1&x=2", "/a", ["x=1", "x=2"]),
        ("/a?", "/a", []),
        ("/a?&&x&=y&z=", "/a", ["x=", "=y", "z="]),
        ("/a?x=a+b%20c%2B", "/a", ["x=a+b c+"]),
        ("/a?x=1=2?3", "/a", ["x=1=2?3"]),
        ("http://h:80/a?x=1", "/a", ["x=1"]),
        ("HTTPS://h", "/", []),
        ("http://h?x=1", "/", ["x=1"]),
        ("*", "*", []),
        ("/%2F%00", "/%2F%00", []),
    ])
    func `a target falls into a path and a query`(
        target: String, path: String, query: [String]
    ) throws {
        let request = try #require(HTTPRequest(method: "GET", target: target))
        #expect(request.path == path)
        #expect(request.query.map { "\($0.name)=\($0.value)" } == query)
        #expect(request.target == target)
    }
}
