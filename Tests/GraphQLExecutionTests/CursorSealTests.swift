import BoundedTesting
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import GraphQLExecution

@Suite struct CursorSealTests {
    private static let seal = CursorSeal(key: Array("the key of tests".utf8))

    /// Ada with `b0` to `b4`, and Bob with some of the same books, asked by somebody whose cursors are sealed.
    private func library(_ seal: CursorSeal? = seal) throws -> TestService {
        var service = try TestService.withBooks()
        service.write("Author", "bob", ["name": .string("Bob"), "books": .links(["b0", "b3"])])
        service.cursorSeal = seal
        return service
    }

    /// The ids of a page, and their cursors; nil if the arguments are refused, as a wrong cursor is.
    private func page(
        _ service: TestService, _ arguments: String, of author: String = "Ada"
    ) throws -> (ids: [String], cursors: [String])? {
        let query = """
            { author(name: "\(author)") { books(\(arguments)) {
              edges { cursor node { id } } pageInfo { startCursor endCursor } } } }
            """
        let response = try JSONValue(parsing: service.answer(query))
        guard let page = response["data"]?["author"]?["books"], page != .null else {
            let error = response["errors"]?.array?.first
            let message = error?["message"]?.string ?? ""
            #expect(error?["extensions"]?["code"] == "BAD_USER_INPUT")
            #expect(message.contains("is not a cursor of this connection: "), "\(message)")
            return nil
        }
        #expect(response["errors"] == nil)
        let edges = page["edges"]?.array ?? []
        let cursors = edges.compactMap { $0["cursor"]?.string }
        #expect(page["pageInfo"]?["startCursor"]?.string == cursors.first)
        #expect(page["pageInfo"]?["endCursor"]?.string == cursors.last)
        return (edges.compactMap { $0["node"]?["id"]?.string }, cursors)
    }

    private func cursors(_ service: TestService, of author: String = "Ada") throws -> [String] {
        let page = try page(service, "first: 100", of: author)
        return try #require(page).cursors
    }

    private func isAccepted(
        _ cursor: String, _ service: TestService, of author: String = "Ada"
    ) throws -> Bool {
        let after = try page(service, "first: 1, after: \"\(cursor)\"", of: author)
        let before = try page(service, "last: 1, before: \"\(cursor)\"", of: author)
        #expect((after == nil) == (before == nil))
        return after != nil
    }

    // MARK: Good ones

    @Test func pagesAreThoseOfPlainCursors() throws {
        var (sealed, plain) = (try library(), try library(nil))
        let changes: [FieldValue] = [
            .remove("b2"), .append("b2"), .remove("b0"), .remove("b1"), .append("b0"),
        ]
        for change in changes {
            let (texts, numbers) = (try cursors(sealed), try cursors(plain))
            #expect(texts.count == numbers.count)
            for (text, number) in zip(texts, numbers) {
                for arguments in [
                    "first: 2, after", "last: 2, after", "first: 2, before", "last: 2, before",
                ] {
                    let page = try page(sealed, "\(arguments): \"\(text)\"")
                    let expected = try self.page(plain, "\(arguments): \"\(number)\"")
                    #expect(page != nil && page?.ids == expected?.ids, "\(arguments), \(change)")
                }
            }
            sealed.write("Author", "ada", ["books": change])
            plain.write("Author", "ada", ["books": change])
        }
    }

    @Test func aCursorOutlivesItsEdge() throws {
        var service = try library()
        let b2 = try cursors(service)[2]
        for id in ["b0", "b2"] { service.write("Author", "ada", ["books": .remove(DataID(id))]) }
        #expect(try page(service, "first: 9, after: \"\(b2)\"")?.ids == ["b3", "b4"])
        #expect(try page(service, "last: 9, before: \"\(b2)\"")?.ids == ["b1"])
    }

    @Test func theSameLinkHasTheSameCursorInEachPageAndExecution() throws {
        let service = try library()
        let all = try cursors(service)
        #expect(Set(all).count == 5)
        #expect(try cursors(service) == all)
        #expect(try page(service, "last: 2")?.cursors == all.suffix(2))
        #expect(try page(service, "first: 9, out: true")?.cursors == [all[1], all[3]])
        // Somebody else's server, or this one after its next start.
        #expect(try cursors(library(CursorSeal(key: Array("the key of tests".utf8)))) == all)
        // Connections in each other: a list's mark is that of its own owner.
        let nested = try JSONValue(
            parsing: service.answer(
                """
                { author(name: "Bob") { books(first: 2) { edges { cursor
                  node { author { books(first: 1, after: "\(all[0])") { edges { cursor } } } } } } } }
                """))
        let edges = nested["data"]?["author"]?["books"]?["edges"]?.array ?? []
        #expect(try edges.map { $0["cursor"]?.string } == cursors(service, of: "Bob"))
        for edge in edges {
            let inner = edge["node"]?["author"]?["books"]?["edges"]?.array ?? []
            #expect(inner.map { $0["cursor"]?.string } == [all[1]])
        }
    }

    @Test func allPositionsAreSealedInTextsOfOneLength() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed: \(seed)")
        var random = SeededGenerator(seed: seed)
        let sealer = CursorSealer(Self.seal)
        let symbols = Symbols()
        let marks = ["a", "ab", ""].flatMap { owner in
            ["b", "", "bb"].map {
                sealer.mark(of: symbols.name($0), of: symbols.record(owner), symbols)
            }
        }
        #expect(Set(marks).count == 9)
        var texts: Set<String> = []
        let far = (0..<200).map { _ in Int((random.next() >> 1) >> random.below(63)) }
        let positions = Set([0, 1, Int.max, Int(UInt32.max)] + far)
        for position in positions {
            for mark in marks {
                let text = Self.text(of: position, mark, sealer)
                texts.insert(text)
                #expect(text.utf8.count == CursorSealer.length && text.utf8.count <= 27)
                #expect(sealer.open(text, of: mark) == ConnectionCursor(position))
                #expect(ConnectionCursor(text) == nil)
                for other in marks where other != mark {
                    #expect(sealer.open(text, of: other) == nil)
                }
            }
        }
        #expect(texts.count == positions.count * marks.count)
    }

    // MARK: Bad ones

    @Test func aCursorOfAnotherListIsRefused() throws {
        let service = try library()
        let (ada, bob) = (try cursors(service), try cursors(service, of: "Bob"))
        #expect(Set(ada).isDisjoint(with: bob))
        for cursor in bob {
            #expect(try isAccepted(cursor, service, of: "Bob"))
            #expect(try !isAccepted(cursor, service))
        }
        for cursor in ada {
            #expect(try isAccepted(cursor, service))
            #expect(try !isAccepted(cursor, service, of: "Bob"))
        }
    }

    @Test func aCursorOfAnotherKeyIsRefused() throws {
        let others = try library(CursorSeal(key: Array("another key's 16".utf8)))
        for cursor in try cursors(others) {
            #expect(try isAccepted(cursor, others))
            #expect(try !isAccepted(cursor, library()))
        }
    }

    @Test func plainAndSealedCursorsAreNotMixed() throws {
        let (sealed, plain) = (try library(), try library(nil))
        for cursor in try cursors(plain) { #expect(try !isAccepted(cursor, sealed)) }
        for cursor in try cursors(sealed) { #expect(try !isAccepted(cursor, plain)) }
    }

    @Test func noPartOfACursorAndNothingLongerIsOne() throws {
        let service = try library()
        let cursor = try cursors(service)[1]
        for length in 0..<cursor.utf8.count {
            #expect(try !isAccepted(String(cursor.prefix(length)), service))
            #expect(try !isAccepted(String(cursor.suffix(length)), service))
        }
        for rest in ["A", "=", "AAAA", String(repeating: "A", count: 100_000)] {
            #expect(try !isAccepted(cursor + rest, service))
            #expect(try !isAccepted(rest + cursor, service))
        }
    }

    /// Each character in place of each, so that no bit of the text is without meaning.
    @Test func aChangedCursorIsRefused() throws {
        let service = try library()
        let sealer = CursorSealer(Self.seal)
        let symbols = service.draft.snapshot.symbols
        let ada = try #require(symbols.findRecord("ada"))
        let mark = sealer.mark(of: symbols.name("books"), of: ada, symbols)
        let cursor = try cursors(service)[1]
        #expect(sealer.open(cursor, of: mark) == ConnectionCursor(1))
        for place in 0..<cursor.utf8.count {
            for byte in 0...127 as ClosedRange<UInt8> {
                var changed = Array(cursor.utf8)
                changed[place] = byte
                let text = String(decoding: changed, as: UTF8.self)
                #expect((sealer.open(text, of: mark) != nil) == (text == cursor))
            }
        }
        var bytes = try #require(Base64URL.decode(cursor))
        for bit in 0..<bytes.count * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(try !isAccepted(Base64URL.encode(bytes), service))
            bytes[bit / 8] ^= 1 << (bit % 8)
        }
    }

    @Test func whatIsMadeUpIsRefused() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed: \(seed)")
        var random = SeededGenerator(seed: seed)
        let service = try library()
        for _ in 0..<500 {
            let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(try !isAccepted(Base64URL.encode([UInt8(ascii: "s")] + bytes), service))
        }
    }

    private static func text(
        of position: Int, _ mark: ListMark, _ sealer: CursorSealer
    ) -> String {
        var writer = JSONWriter()
        sealer.write(ConnectionCursor(position), of: mark, to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
