import GraphQLLanguage
import Testing

@Suite struct SourceMapTests {
    @Test func everyLocationIsInOneDocument() throws {
        var map = SourceMap()
        let sources = ["ab", "", "\nc"].map { map.add(Source($0, name: $0)) }
        #expect(map.sources.map(\.base) == [0, 3, 4])
        for source in sources {
            for location in source.locations {
                #expect(map.source(of: location) === source)
            }
        }
        #expect(map.source(of: -1) == nil)
        #expect(map.source(of: 7) == nil)
        let place = try #require(map.place(of: 5))
        #expect(place.source.name == "\nc")
        #expect([place.location.line, place.location.column] == [2, 1])
    }

    @Test func documentsThatOverlapAreRefused() {
        let first = Source("query")
        #expect(SourceMap([first.starting(at: 6), first])?.sources.map(\.base) == [0, 6])
        // The end of a document is a location of it, too.
        #expect(SourceMap([first, first.starting(at: 5)]) == nil)
        #expect(SourceMap([first, first]) == nil)
    }
}
