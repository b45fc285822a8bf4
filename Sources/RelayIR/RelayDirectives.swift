/// Relay's own directives: they control compilation and are not sent to the server.
enum RelayDirectives {
    static let names: Set<String> = [
        "arguments", "argumentDefinitions", "connection", "refetchable", "required", "catch",
        "throwOnFieldError", "relay", "appendNode", "prependNode", "appendEdge", "prependEdge",
        "deleteEdge", "deleteRecord", rawResponseType, testOperation,
    ]

    /// Generates a type of the whole response, for optimistic ones.
    static let rawResponseType = "raw_response_type"

    /// Keeps the types of leaves with the operation, for mocks.
    static let testOperation = "relay_test_operation"

    /// Those that pass a field of a payload to a handler.
    static let handles: Set<String> = [
        "appendNode", "prependNode", "appendEdge", "prependEdge", "deleteEdge", "deleteRecord",
    ]

    /// The id of a record as the client knows it: can be selected anywhere, read only.
    static let recordIDField = "__id"
}
