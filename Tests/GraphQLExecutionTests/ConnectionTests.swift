import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import GraphQLExecution

@Suite struct ConnectionTests {
    private func page(_ service: TestService, _ arguments: String) throws -> JSONValue {
        let query = """
            { author(name: "Ada") { books(\(arguments)) {
              edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
            } } }
            """
        let response = try JSONValue(parsing: service.answer(query))
        #expect(response["errors"] == nil)
        return response["data"]?["author"]?["books"] ?? .null
    }

    /// The ids of a page, then `<` and `>` for pages before and behind it.
    private func summary(_ service: TestService, _ arguments: String) throws -> String {
        let page = try page(service, arguments)
        let ids = (page["edges"]?.array ?? []).compactMap { $0["node"]?["id"]?.string }
        let info = page["pageInfo"]
        return (info?["hasPreviousPage"] == true ? "< " : "") + ids.joined(separator: " ")
            + (info?["hasNextPage"] == true ? " >" : "")
    }

    private func cursor(_ service: TestService, _ id: String) throws -> String {
        let edges = try page(service, "first: 100")["edges"]?.array ?? []
        let edge = edges.first { $0["node"]?["id"]?.string == id }
        return try #require(edge?["cursor"]?.string)
    }

    @Test func pagesAreCutAsTheSpecificationSays() throws {
        let service = try TestService.withBooks()
        let b1 = try cursor(service, "b1")
        let b3 = try cursor(service, "b3")
        let expected = [
            ("first: 100", "b0 b1 b2 b3 b4"), ("first: 2", "b0 b1 >"),
            ("first: 5", "b0 b1 b2 b3 b4"),
            ("first: 0", " >"), ("last: 2", "< b3 b4"), ("last: 5", "b0 b1 b2 b3 b4"),
            ("first: 2, after: \"\(b1)\"", "< b2 b3 >"),
            ("first: 9, after: \"\(b1)\"", "< b2 b3 b4"),
            ("last: 2, before: \"\(b3)\"", "< b1 b2 >"),
            ("last: 9, before: \"\(b3)\"", "b0 b1 b2 >"),
            ("first: 9, after: \"\(b1)\", before: \"\(b3)\"", "< b2 >"),
            ("first: 3, last: 1", "< b2 >"), ("first: 1, out: true", "b1 >"),
            ("first: 2, out: true", "b1 b3"), ("last: 1, out: false", "< b4"),
            ("first: 9, out: null", "b0 b1 b2 b3 b4"),
        ]
        for (arguments, pages) in expected {
            #expect(try summary(service, arguments) == pages, "\(arguments)")
        }
    }

    /// A cursor is read again for each element of the list around it.
    @Test func aTextThatIsLongerThanAnyCursorIsNone() {
        let largest = ConnectionCursor(.max)
        var writer = JSONWriter()
        largest.write(to: &writer)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(ConnectionCursor(text) == largest)
        // `p0…07` with ever more zeros.
        #expect(ConnectionCursor("cDAwMDAwMDc") == ConnectionCursor(7))
        for zeros in [18, 19, 1_000] {
            let text = "p\(String(repeating: "0", count: zeros))7"
            let cursor = ConnectionCursor(Base64URL.encode(Array(text.utf8)))
            #expect(cursor == (zeros == 18 ? ConnectionCursor(7) : nil))
        }
    }

    @Test func cursorsStayTheSameWhileEdgesComeAndGo() throws {
        var service = try TestService.withBooks()
        let b2 = try cursor(service, "b2")
        service.write("Author", "ada", ["books": .remove("b0")])
        service.write("Author", "ada", ["books": .remove("b2")])
        service.write("Author", "ada", ["books": .append("b0")])
        #expect(try summary(service, "first: 9, after: \"\(b2)\"") == "< b3 b4 b0")
        #expect(try summary(service, "last: 9, before: \"\(b2)\"") == "b1 >")
    }

    static let farPositions = [
        "0", "4", "5", "4294967295", "4294967296", "9223372036854775806", "9223372036854775807",
    ]

    @Test(arguments: farPositions)
    func aCursorMayNameAnyPosition(_ digits: String) throws {
        let position = try #require(Int(digits))
        let cursor = Base64URL.encode(Array("p\(digits)".utf8))
        let ids = (0..<5).map { "b\($0)" }
        let behind = ids.enumerated().filter { $0.offset > position }.map(\.element)
        let before = ids.enumerated().filter { $0.offset < position }.map(\.element)
        func pages(_ service: TestService) throws -> [String] {
            try ["first: 9, after", "last: 9, after", "first: 9, before", "last: 9, before"].map {
                try summary(service, "\($0): \"\(cursor)\"")
            }
        }
        var service = try TestService.withBooks()
        let after = "< " + behind.joined(separator: " ")
        let end = before.joined(separator: " ") + (position < 5 ? " >" : "")
        #expect(try pages(service) == [after, after, end, end])
        // A list that is packed looks places up in another way.
        for _ in 0..<70 {
            service.write("Author", "ada", ["books": .append("b0")])
            service.write("Author", "ada", ["books": .splice(start: 5, deleted: .max, [])])
        }
        #expect(try pages(service).count == 4)
    }

    static let noPositions = [
        "", "-1", "+1", "9223372036854775808", "18446744073709551615", "1e3", " 1", "0x10", "1.0",
        String(repeating: "9", count: 400),
    ]

    @Test(arguments: noPositions)
    func aPositionThatNoListCanHaveIsNoCursor(_ digits: String) throws {
        let cursor = Base64URL.encode(Array("p\(digits)".utf8))
        let service = try TestService.withBooks()
        for argument in ["after", "before"] {
            let query = """
                { author(name: "Ada") { books(\(argument): "\(cursor)") { edges { cursor } } } }
                """
            let response = try JSONValue(parsing: service.answer(query))
            #expect(response["data"] == ["author": ["books": .null]])
            let code = response["errors"]?.array?.first?["extensions"]?["code"]
            #expect(code == "BAD_USER_INPUT")
        }
    }

    @Test func pageInformationHasTheCursorsOfItsEdges() throws {
        let service = try TestService.withBooks()
        let page = try page(service, "first: 2")
        let edges = try #require(page["edges"]?.array)
        #expect(page["pageInfo"]?["startCursor"] == edges.first?["cursor"])
        #expect(page["pageInfo"]?["endCursor"] == edges.last?["cursor"])
        #expect(try self.page(service, "first: 0")["pageInfo"]?["startCursor"] == .null)
    }

    @Test(arguments: [
        ("first: -1", "Argument \"first\" must be a non-negative integer, not -1."),
        ("last: -2", "Argument \"last\" must be a non-negative integer, not -2."),
        ("after: \"junk\"", "Argument \"after\" is not a cursor of this connection: \"junk\"."),
    ])
    func badArgumentsAreErrorsOfTheField(arguments: String, message: String) throws {
        let service = try TestService.withBooks()
        let query = "{ author(name: \"Ada\") { books(\(arguments)) { pageInfo { hasNextPage } } } }"
        let response = try JSONValue(parsing: service.answer(query))
        let error = response["errors"]?.array?.first
        #expect(error?["message"]?.string == message)
        #expect(error?["path"] == ["author", "books"])
        #expect(error?["extensions"]?["code"] == "BAD_USER_INPUT")
    }
}
