import ClientProgram
import Testing

/// What a program of another package is made of: generated types, and what is public.
@Suite(.bounded, .timeLimit(.minutes(10))) struct ClientProgramTests {
    @Test func aProgramThatSeesOnlyWhatIsPublicReadsItsList() async throws {
        try await ServedTodos.run { todos in
            let texts = try await ClientProgram.run(todos.url)
            #expect(texts.first == ["Taste JavaScript"])
            #expect(texts.all == ["Taste JavaScript", "Buy a unicorn"])
        }
    }
}
