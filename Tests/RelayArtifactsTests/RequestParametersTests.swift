import RelayArtifacts
import Testing

@Suite struct RequestParametersTests {
    @Test(arguments: [
        ("query Q @live { a }", true), ("query Q($a: Int = 1)@live{ a }", true),
        ("query Q @other @live(throttle: 1) { a }", true),
        ("query Q { a @liveness b @live2 @alive live }", false), ("{ a(mail: \"a@b\") }", false),
        ("query Q @", false), ("query Q @live", true),
    ])
    func aQueryWithTheDirectiveIsLive(_ text: String, _ isLive: Bool) {
        let parameters = RequestParameters(name: "Q", operationKind: .query, text: text)
        #expect(parameters.isLive == isLive)
    }

    @Test func ofAPersistedQueryItIsNotKnown() {
        for text in [nil, ""] {
            let parameters = RequestParameters(
                name: "Q", operationKind: .query, text: text, id: "q")
            #expect(parameters.isLive == nil)
        }
    }
}
