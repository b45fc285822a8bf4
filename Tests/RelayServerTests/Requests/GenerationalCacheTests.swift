import Testing

@testable import StoreEngine

@Suite(.bounded)
struct GenerationalCacheTests {
    @Test func whatIsInUseStaysWhateverPassesThrough() {
        var cache = GenerationalCache<Int, String>(generationCost: 10)
        cache.insert("used", for: -1, cost: 1)
        for number in 0..<1_000 {
            cache.insert("passing", for: number, cost: 1)
            #expect(cache.find(-1) == "used")
            #expect(cache.count <= 20)
        }
        #expect(cache.find(0) == nil)
    }

    @Test func costsAreWhatIsBounded() {
        var cache = GenerationalCache<Int, String>(generationCost: 10)
        cache.insert("large", for: 1, cost: 8)
        cache.insert("large", for: 2, cost: 8)
        #expect(cache.find(1) == "large")  // the older generation
        cache.insert("large", for: 3, cost: 8)
        #expect(cache.find(2) == nil)
        cache.insert("too large", for: 4, cost: 11)
        #expect(cache.find(4) == nil)
    }

    @Test func aValueThatGrowsCostsWhatItHasCome() {
        var cache = GenerationalCache<Int, String>(generationCost: 10)
        cache.insert("grows", for: 1, cost: 4)
        cache.insert("older", for: 2, cost: 4)
        cache.grow(1, by: 5)
        #expect(cache.find(1) == "grows")
        // They are in two generations now, of which the next one that is as large ends the older.
        cache.insert("next", for: 3, cost: 9)
        #expect(cache.find(2) == nil)
        cache.grow(3, by: 2)
        #expect(cache.find(3) == nil, "nothing that costs more than a generation is kept")
        cache.grow(4, by: 1)
        #expect(cache.find(4) == nil)
    }

    @Test func aValueThatIsReplacedCostsOnce() {
        var cache = GenerationalCache<Int, Int>(generationCost: 10)
        cache.insert(0, for: 0, cost: 1)
        for number in 1...100 { cache.insert(number, for: 1, cost: 6) }
        #expect(cache.find(0) == 0)
        #expect(cache.find(1) == 100)
    }
}
