public import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// Looks at a field once a payload with it has been normalized, and keeps what it makes of it next to the
/// field: what `@connection`, `@appendNode`, `@deleteRecord` and the like do.
public protocol Handler: Sendable {
    /// Called for each field that names the handler, when its payload is in the store; and again for each part of the
    /// field that `@defer` or `@stream` brings later.
    ///
    /// For such a part it is called twice: with the records that the result is read from, and with those of the
    /// store. So it must write the same both times. A record that it makes needs an id that follows from the payload;
    /// one from `create(typeName:)` would have one id in the result and another in the store.
    ///
    /// What it does wrong, such as writing a record that was deleted, fails the response as in an updater: nothing of
    /// the response is written then.
    func update(store: inout any RecordSourceProxy, fieldPayload: HandleFieldPayload)
}

/// Finds the handler that a directive names.
public protocol HandlerProvider: Sendable {
    /// - Returns: nil for an unknown handle; the field is then left as it is.
    func handler(for handle: String) -> (any Handler)?
}

/// The field that a handler is called for.
public struct HandleFieldPayload: Sendable {
    /// The record that has the field.
    public var dataID: DataID
    /// Where the record keeps the field itself.
    public var fieldKey: String
    /// Where the record keeps what the handler makes of it.
    public var handleKey: String
    /// The name of the handler.
    public var handle: String
    /// The field's arguments.
    public var args: VariableData
    /// The directive's own arguments, such as `connections`.
    public var handleArgs: VariableData
    /// What has come of the field now; nil: the field itself, with all that is selected of it.
    package var part: FieldPart?
    /// What it has come with; nil: a response that came whole.
    package var response: PartedResponse?

    /// A field with a handler.
    /// - Parameters:
    ///   - dataID: the record that has the field.
    ///   - fieldKey: where the record keeps the field itself.
    ///   - handleKey: where the record keeps what the handler makes of it.
    ///   - handle: the name of the handler.
    ///   - args: the field's arguments.
    ///   - handleArgs: the directive's own arguments, such as `connections`.
    public init(
        dataID: DataID, fieldKey: String, handleKey: String, handle: String,
        args: VariableData = [:], handleArgs: VariableData = [:]
    ) {
        self.dataID = dataID
        self.fieldKey = fieldKey
        self.handleKey = handleKey
        self.handle = handle
        self.args = args
        self.handleArgs = handleArgs
    }
}

/// A response that comes in parts, while others may write the same records.
package struct PartedResponse: Sendable {
    /// Its name, which no other response to a store has or will have.
    package struct ID: Hashable, Sendable {
        /// The events in the store's history before it, and how many such responses this process has had.
        let sequence, number: UInt64

        var text: String { "\(sequence).\(number)" }
    }

    let id: ID
    let memory = ConnectionMemory()
    /// The records as the response has them: what its parts have brought, without what others have written since it began.
    /// nil: the store's.
    var own: Snapshot?
}

/// What has come of a field of which something is deferred or streamed. Members have the names of the records' fields.
package enum FieldPart: Hashable, Sendable {
    /// The field itself, with these members of its object and no others.
    case beginning(Set<String>)
    /// Later: these members of the field's object.
    case members(Set<String>)
    /// Members of an object one level below: of the field's member, or of an element of its list.
    case object(in: String, index: Int?)
    /// Items of a list: of the field's member, or nil: of the field itself.
    case items(Range<Int>, of: String?)
}

/// The handlers of Relay's own directives.
public struct DefaultHandlerProvider: HandlerProvider {
    /// Relay's own handlers, and no others.
    public init() {}

    /// The handler of one of Relay's directives; nil for any other.
    public func handler(for handle: String) -> (any Handler)? {
        switch handle {
        case "connection": ConnectionHandler.default
        case "deleteRecord": DeleteRecordHandler()
        case "deleteEdge": DeleteEdgeHandler()
        case "appendEdge": EdgeHandler(place: .end)
        case "prependEdge": EdgeHandler(place: .start)
        case "appendNode": NodeHandler(place: .end)
        case "prependNode": NodeHandler(place: .start)
        default: nil
        }
    }
}
