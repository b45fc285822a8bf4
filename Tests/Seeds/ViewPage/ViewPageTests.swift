import Foundation
import RelayTerminal
import Testing

/// `ToDoItem.swift` beside this file has the page's view to the letter, but for its imports; `ChangeTodoStatus.swift` its
/// mutation. The compiler has generated their types.
@MainActor @Suite(.bounded, .timeLimit(.minutes(2)))
struct ViewPageTests {
    private struct Screen: View {
        @Query<ItemQuery> var query

        var body: some View {
            if let item = query.get(.init(id: "a")).data?.item {
                ToDoItem(item: .init(item))
            }
        }
    }

    @Test func theViewShowsItsItemAndChangesIt() throws {
        let environment = MockEnvironment()
        environment.mockResponse(
            ItemQuery(id: "a"),
            #"{"data":{"item":{"id":"a","text":"Write","complete":false}}}"#)
        let pilot = Pilot { Screen().relayEnvironment(environment) }
        let open = pilot.text
        #expect(open.hasSuffix("Write"))
        pilot.press(.enter)
        let request = try #require(environment.mostRecent)
        #expect(request.variables.description == #"{input:{complete:true,id:"a"}}"#)
        // The button is disabled while the mutation is in flight.
        pilot.press(.enter)
        #expect(environment.mockNetwork.requests.count == 1)
        request.resolve(
            Data(#"{"data":{"changeTodoStatus":{"todo":{"id":"a","complete":true}}}}"#.utf8))
        #expect(pilot.text != open && pilot.text.hasSuffix("Write"))
        pilot.press(.enter)
        #expect(
            environment.mostRecent?.variables.description == #"{input:{complete:false,id:"a"}}"#)
    }

    /// With the page's convenience, the answer is shown before it is there.
    private struct ConvenientItem: View {
        @Fragment<ToDoItem_item> var todo
        @Mutation<ChangeTodoStatusMutation> var changeStatus
        let id: String

        var body: some View {
            if let todo {
                Button("\(todo.complete ? "done" : "open") \(todo.text)") {
                    changeStatus.commit(
                        id: id,
                        complete: !todo.complete
                    )
                }
            }
        }
    }

    @Test func theConvenienceOfTheMutatorIsThereForViews() throws {
        let pilot = Pilot {
            QueryPreview(ItemQuery(id: "a")) { data in
                if let item = data.item { ConvenientItem(todo: .init(item), id: item.id) }
            }
            .previewPayload(
                ItemQuery(id: "a"), ["data": ["item": ["id": "a", "text": "x", "complete": false]]])
        }
        #expect(pilot.text == "open x")
        pilot.press(.enter)
        #expect(pilot.text == "done x")
    }
}
