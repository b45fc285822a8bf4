import RelayArtifacts
import RelayJSON

/// What a program expects a mutation to answer, as JSON.
struct ExpectedAnswer: Sendable {
    /// Or what the program gave that JSON does not have.
    private let json: Result<JSONObject, any Error>

    /// What a literal dictionary has.
    init(_ dictionary: [String: Any]) {
        json = Result { try JSONValue(any: dictionary).object ?? JSONObject() }
    }

    /// What a value of a generated type has.
    init(typed: some VariableDataConvertible) {
        let json = typed.variableData.json
        self.json = Result {
            try JSONValue.object(json).requireFinite(at: "")
            return json
        }
    }

    /// The bytes of a response with this data.
    ///
    /// - Throws: an ``OptimisticResponseError`` for what no response could contain, and for what the operation does not
    ///   select.
    func bytes(for operation: OperationDescriptor) throws -> [UInt8] {
        let json = try json.get()
        try OptimisticResponseCheck.check(json, of: operation.request.node)
        return JSONValue.object(["data": .object(json)]).bytes
    }
}
