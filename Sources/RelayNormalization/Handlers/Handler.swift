public import RelayArtifacts
@_spi(Rooms) public import RelayRecords

/// Looks at a field once a payload that has it is normalized, and keeps a derived value next to the field: what
/// `@connection`, `@appendNode`, `@deleteRecord` and the like do.
public protocol Handler: Sendable {
    /// Called for each field that names the handler, once its payload is in the store; and again for each part of the
    /// field that `@defer` or `@stream` brings later.
    ///
    /// For such a part it is called twice: with the records that the result is read from, and with those of the store.
    /// So it must write the same both times. A record that it creates needs an id derived from the payload; one from
    /// `create(typeName:)` would have one id in the result and another in the store.
    ///
    /// Misuse, such as writing a record that was deleted, fails the response as it does in an updater: none of the
    /// response is then written.
    func update(store: inout any RecordSourceProxy, fieldPayload: HandleFieldPayload)
}

/// Finds the handler that a directive names.
public protocol HandlerProvider: Sendable {
    /// - Returns: nil for an unknown handle; the field is then left alone.
    func handler(for handle: String) -> (any Handler)?
}

/// The field that a handler is called for.
public struct HandleFieldPayload: Sendable {
    /// The record that has the field.
    public var dataID: DataID
    /// The key under which the record keeps the field itself.
    public var fieldKey: String
    /// The key under which the record keeps what the handler makes of it.
    public var handleKey: String
    /// The name of the handler.
    public var handle: String
    /// The field's arguments.
    public var args: VariableData
    /// The directive's own arguments, such as `connections`.
    public var handleArgs: VariableData
    /// What has arrived of the field now; nil: the field itself, with everything selected on it.
    package var part: FieldPart?
    /// The response that brought it; nil: a response that came whole.
    package var response: PartedResponse?

    /// A field with a handler.
    /// - Parameters:
    ///   - dataID: the record that has the field.
    ///   - fieldKey: the key under which the record keeps the field itself.
    ///   - handleKey: the key under which the record keeps what the handler makes of it.
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
    /// Its identity, unique among all responses to a store, past and future.
    package struct ID: Hashable, Sendable {
        /// How many events the store's history had before it, and how many such responses this process has had.
        let sequence, number: UInt64

        package init(sequence: UInt64, number: UInt64) {
            self.sequence = sequence
            self.number = number
        }

        var text: String { "\(sequence).\(number)" }
    }

    package let id: ID
    let memory = ConnectionMemory()
    /// The records as the response has them: what its parts have brought, without what others have written since it
    /// began. nil: the store's.
    package var own: Snapshot?

    package init(id: ID) { self.id = id }
}

/// What has arrived of a field that has deferred or streamed parts. Members are named like the record's fields.
package enum FieldPart: Hashable, Sendable {
    /// The field itself, with only these members of its object.
    case beginning(Set<String>)
    /// Later: these members of the field's object.
    case members(Set<String>)
    /// Members of an object one level below: the field's member, or an element of its list.
    case object(in: String, index: Int?)
    /// Items of a list: the field's member; nil: the field itself.
    case items(Range<Int>, of: String?)
}

/// The handlers of Relay's own directives.
public struct DefaultHandlerProvider: HandlerProvider {
    /// Relay's own handlers only.
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
