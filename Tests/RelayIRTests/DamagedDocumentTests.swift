import BoundedTesting
import GraphQLLanguage
import RelayIR
import Testing

@Suite struct DamagedDocumentTests {
    /// Words are left out, doubled and exchanged: what results compiles, or says where it is wrong.
    @Test(arguments: ["todo", "tracker"])
    func aDamagedDocumentIsCompiledOrRefusedWithPlaces(_ name: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("Damaged documents of \(name) with seed \(seed).")
        var random = SeededGenerator(seed: seed)
        let schema = name == "todo" ? try ExampleSchema.todo() : try ExampleSchema.tracker()
        let words = try Fixture.text("\(name).graphql").split(
            separator: " ", omittingEmptySubsequences: true)
        var outcomes: [String: Int] = [:]
        for _ in 0..<60 {
            var damaged = words
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: damaged.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: damaged.remove(at: place)
                case 1: damaged.insert(damaged[place], at: place)
                default: damaged.swapAt(place, Int.random(in: damaged.indices, using: &random))
                }
            }
            let source = Source(damaged.joined(separator: " "))
            do throws(RelayDocumentErrors) {
                _ = try RelayDocuments(RelayDocuments.parse([source]), schema: schema)
                outcomes["compiled", default: 0] += 1
            } catch {
                #expect(!error.errors.isEmpty)
                for error in error.errors {
                    #expect(!error.places.isEmpty, "seed \(seed): \(error)")
                    #expect(!SourceExcerpt.excerpts(of: error.places).isEmpty)
                }
                outcomes["refused", default: 0] += 1
            }
        }
        #expect(outcomes["refused", default: 0] > 0, "seed \(seed)")
    }
}
