import RelayTerminal
import Testing
import TodoFixtures

@MainActor @Suite(.bounded, .timeLimit(.minutes(2)))
struct PreviewTests {
    private let evaluations = Evaluations()

    @Test func aViewIsShownWithAPayload() {
        let pilot = Pilot {
            TodoScreen(.networkOnly, evaluations)
                .previewPayload(UserQuery(id: "me"), Payloads.page(0..<2, of: 2))
        }
        #expect(pilot.text == "- todo 0\n- todo 1" && pilot.frameCount == 1)
    }

    @Test func severalPayloadsAreOfOneStore() {
        let todo: [String: Any] = [
            "data": [
                "node": ["__typename": "Todo", "id": "t0", "text": "todo 0", "complete": true]
            ]
        ]
        let pilot = Pilot {
            Group {
                TodoScreen(.networkOnly, evaluations)
                QueryPreview(TodoQuery(id: "t0")) { data in
                    Text(data.node?.asTodo?.text ?? "none")
                }
            }
            .previewPayload(UserQuery(id: "me"), Payloads.page(0..<1, of: 1))
            .previewPayload(TodoQuery(id: "t0"), todo)
        }
        #expect(pilot.text == "x todo 0\ntodo 0")
    }

    @Test func whatHasNoPayloadIsLoading() {
        let pilot = Pilot {
            TodoScreen(.networkOnly, evaluations).previewPayload(
                TodoQuery(id: "t0"), #"{"data":{"node":null}}"#)
        }
        #expect(pilot.text == "loading")
    }

    @Test func aPayloadThatIsNoResponseSaysWhy() {
        let pilot = Pilot {
            TodoScreen(.networkOnly, evaluations)
                .previewPayload(UserQuery(id: "me"), "{")
        }
        #expect(pilot.text.hasPrefix("failed: "))
    }
}
