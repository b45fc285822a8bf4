import OpenCombine
import RelayArtifacts
@_spi(Rooms) import RelayStore
import Testing
import TodoFixtures

@testable import Relay

/// Handlers that a program brings along.
@Suite(.bounded) struct HandlerTests {
    private let network = MockNetwork()

    private struct Handlers: HandlerProvider, Handler {
        let body: @Sendable (inout any RecordSourceProxy, HandleFieldPayload) -> Void

        func handler(for handle: String) -> (any Handler)? { self }

        func update(store: inout any RecordSourceProxy, fieldPayload: HandleFieldPayload) {
            body(&store, fieldPayload)
        }
    }

    /// What a handler does wrong is told, and not swallowed; as in updaters, nothing is written then.
    @Test(arguments: ["deleted", "NaN", "root"])
    func whatAHandlerDoesWrongFailsTheResponse(_ mistake: String) throws {
        let environment = Environment(
            network: network, store: Store(),
            handlerProvider: Handlers { store, payload in
                switch mistake {
                case "deleted":
                    let parent = store[payload.dataID]
                    store.delete(dataID: payload.dataID)
                    parent?["text"] = "x"
                case "NaN": store[payload.dataID]?["number"] = Double.nan
                default: store.delete(dataID: .rootID)
                }
            })
        let result = Collected(environment.publisher(of: UserQuery()))
        network.requests.last?.resolve(Payloads.user(["a"]))
        let error = try #require(result.error as? ResponseError)
        #expect(error.operation == "UserQuery" && error.cause is UpdaterError)
        #expect(result.values.isEmpty && environment.store.snapshot.existing("U") == nil)
    }

    /// What the server says is no mistake of the program's.
    @Test func aServerCannotHaveTheRootDeleted() {
        let environment = Environment(network: network, store: Store())
        let result = Collected(
            environment.commitMutation(DeleteTodoMutation(variables: .init(id: "a"))))
        network.requests.last?.resolve(
            #"{"data":{"removeTodo":{"deletedTodoId":"client:root"}}}"#)
        #expect(result.isFinished)
    }
}
