import Foundation
import OpenCombine
import Testing
import TodoFixtures

@testable import Relay
@testable import RelayNormalization
@_spi(Rooms) @testable import RelayStore

/// What people read when something fails.
@Suite struct ErrorTextTests {
    private let environment = MockEnvironment()

    private struct Sentence: LocalizedError { var errorDescription: String? { "It broke." } }
    private struct Words: Error, CustomStringConvertible { var description: String { "it broke" } }

    @Test func sentencesEndOnce() {
        let error = Relay.ResponseError(operation: "Q", cause: Sentence())
        #expect(
            "\(error)"
                == "The response to operation Q was not applied. It broke. The store is unchanged.")
        #expect(error.localizedDescription == "\(error)")
        #expect(
            "\(Relay.ResponseError(operation: "Q", cause: Words()))"
                == "The response to operation Q was not applied. it broke. The store is unchanged.")
    }

    @Test func aResponseWithoutDataSaysWhy() {
        func text(_ payload: String) -> String {
            do {
                try environment.cachePayload(TodoQuery(id: "a"), payload)
                return "no error"
            } catch {
                return "\(error)"
            }
        }
        #expect(
            text(#"{"data":null,"errors":[{"message":"No such user."},{"message":"and more"}]}"#)
                == "The response has no data: No such user; and more.")
        #expect(
            text(#"{"data":null}"#) == "The response has no data, and no errors that say why.")
    }

    @Test func printedErrorsAreSentencesToo() {
        #expect(
            "\(NoMockRequestError())"
                == "No request is waiting: nothing was executed, or it was already answered or cancelled."
        )
        #expect(
            "\(NoEnvironmentError())"
                == "There is no Relay environment here: set one with CurrentEnvironment.use(_:), or for views with "
                + "relayEnvironment(_:).")
        #expect("\(GraphQLError(message: "no"))" == "no")
        let read = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        environment.mostRecent?.resolve(#"{"errors":[{"message":"no"}]}"#)
        #expect(read.error.map { "\($0)" } == "Operation TodoQuery failed: no")
    }

    /// Apps show the latter.
    @Test func whatAStoreThrowsReadsTheSamePrintedAndLocalized() throws {
        func thrown(_ updater: StoreUpdater) throws -> any Error {
            try #require(throws: (any Error).self) { try environment.commitUpdate(updater) }
        }
        let unread = InvalidResponse(description: "It is no response.")
        let errors: [(error: any Error, text: String)] = [
            (
                try thrown { _ in throw HandlerError("A todo needs a text.", code: "BAD") },
                "A todo needs a text."
            ),
            (
                try thrown { [environment] _ in try environment.commitUpdate { _ in } },
                "\(StoreError.updateWithinUpdate)"
            ),
            (unread, "It is no response."), (UpdaterError(message: "It is gone."), "It is gone."),
        ]
        for (error, text) in errors {
            #expect("\(error)" == text)
            #expect(error.localizedDescription == text)
        }
    }
}
