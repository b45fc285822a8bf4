package import RelayArtifacts
package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// What to read: a fragment, the record it is read from, and the variables inside it.
package struct ReaderSelector: Hashable, Sendable {
    package let fragment: ReaderFragment
    package let dataID: DataID
    /// Those that the fragment can use; others would make equal selectors differ.
    package let variables: VariableData

    package init(_ fragment: ReaderFragment, dataID: DataID, variables: VariableData) {
        self.fragment = fragment
        self.dataID = dataID
        var used = VariableData()
        for definition in fragment.argumentDefinitions {
            used[definition.name] = variables[definition.name]
        }
        self.variables = used
    }

    /// The result of a whole operation.
    package init(_ operation: OperationDescriptor) {
        self.init(
            operation.request.node.fragment, dataID: operation.root,
            variables: operation.request.variables)
    }

    package static func == (left: ReaderSelector, right: ReaderSelector) -> Bool {
        left.fragment === right.fragment && left.dataID == right.dataID
            && left.variables == right.variables
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(fragment))
        hasher.combine(dataID)
        if !variables.isEmpty { hasher.combine(variables) }
    }
}

/// What a selector reads from one state of the store.
package struct SelectorSnapshot: Sendable {
    package let selector: ReaderSelector
    /// nil when the record was deleted or is unknown, or a `@required` field in it is null.
    package let data: DataNode?
    /// Whether a field was never fetched, or was collected.
    package let isMissingData: Bool
    /// Errors of the fields that were read, except those that are caught.
    package let errors: [FieldError]
    /// The first `@required` field that was null and is to be reported.
    package let required: RequiredFieldFailure?
    /// Where the data came from. Data that outlives this snapshot retains it.
    package let source: SeenRecords
    /// The sequence of the state.
    package let sequence: UInt64

    /// The records that the data came from, perhaps with repetitions.
    package var seen: ContiguousArray<SeenRecord> { source.records }

    /// Whether a reader would see a difference.
    package func isSame(as other: SelectorSnapshot) -> Bool {
        data === other.data && isMissingData == other.isMissingData && errors == other.errors
            && required == other.required
    }
}

/// An error that a server sent for a field, or that its value had the wrong type.
package struct FieldError: Error, Hashable, Sendable {
    /// Names and indexes from the selector's record to the field.
    package var path: [String]
    /// The errors as received: objects with `message` and perhaps `path`, `extensions`.
    package var errors: JSONValue

    package var message: String {
        errors.array?.first?["message"]?.string ?? "The field could not be resolved."
    }
}

extension FieldError {
    /// What `@catch` finds where a `@required(action: THROW)` field below it is null.
    init(_ failure: RequiredFieldFailure) {
        let place = failure.path.joined(separator: ".")
        self.init(
            path: failure.path,
            errors: [["message": .string("The required field \"\(place)\" is null.")]])
    }
}

/// A `@required` field that was null.
package struct RequiredFieldFailure: Hashable, Sendable {
    package var action: RequiredAction
    /// Names and indexes from the selector's record to the field.
    package var path: [String]
}
