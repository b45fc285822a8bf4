import Testing

@testable import GraphQLLanguage

@Suite struct SuggestionsTests {
    @Test func nearNamesComeNearestFirst() {
        #expect(suggestions(for: "abc", among: ["a", "ab", "abc"]) == ["abc", "ab", "a"])
        #expect(
            suggestions(for: "GraphQl", among: ["graphics", "SQL", "GraphQL", "quarks"]) == [
                "GraphQL", "graphics",
            ])
    }

    @Test func distantNamesAreLeftOut() {
        #expect(suggestions(for: "input", among: ["far away", "x"]).isEmpty)
        #expect(suggestions(for: "", among: ["a"]) == ["a"])
        #expect(suggestions(for: "a", among: []).isEmpty)
    }

    @Test func aDifferenceInCaseOrASwapCountsOnce() {
        #expect(suggestions(for: "verylongstring", among: ["VERYLONGSTRING"]) == ["VERYLONGSTRING"])
        #expect(suggestions(for: "ab", among: ["ba", "cd"]) == ["ba"])
    }

    @Test func equallyNearNamesAreInNaturalOrder() {
        #expect(
            suggestions(for: "abcde", among: ["abcde10", "abcde02"]) == ["abcde02", "abcde10"])
        #expect(naturallyPrecedes("a2", "a10"))
        #expect(!naturallyPrecedes("a10", "a2"))
        #expect(naturallyPrecedes("a", "a1"))
        #expect(!naturallyPrecedes("a1", "a1"))
    }

    @Test func messagesNameFiveAtMost() {
        #expect(didYouMean([]) == "")
        #expect(didYouMean(["a"]) == " Did you mean \"a\"?")
        #expect(didYouMean(["a", "b"]) == " Did you mean \"a\" or \"b\"?")
        #expect(
            didYouMean(["a", "b", "c"], "the letter")
                == " Did you mean the letter \"a\", \"b\", or \"c\"?")
        #expect(
            didYouMean(["a", "b", "c", "d", "e", "f"])
                == " Did you mean \"a\", \"b\", \"c\", \"d\", or \"e\"?")
    }
}
