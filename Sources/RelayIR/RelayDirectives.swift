/// The directives that are ours: they steer compilation and are not sent to the server.
enum RelayDirectives {
    static let names: Set<String> = [
        "arguments", "argumentDefinitions", "connection", "refetchable", "required", "catch",
        "throwOnFieldError", "relay", "appendNode", "prependNode", "appendEdge", "prependEdge",
        "deleteEdge", "deleteRecord", testOperation,
    ]

    /// Has the types of leaves kept with the operation, for mocks.
    static let testOperation = "relay_test_operation"

    /// Those that hand a field of a payload to a handler.
    static let handles: Set<String> = [
        "appendNode", "prependNode", "appendEdge", "prependEdge", "deleteEdge", "deleteRecord",
    ]

    /// The id of a record as the client knows it: selectable everywhere, read only.
    static let recordIDField = "__id"
}
