package import GraphQLLanguage

/// How what is written in a Swift file must be called, so that its generated types can be found and never
/// meet those of another file: an operation `<FileName>` with its kind behind it, a fragment `<FileName>`
/// with `_` and the name of what it is of.
package enum DocumentNames {
    /// - Parameter file: the name of the Swift file, without its ending.
    /// - Throws: every name that breaks the rule, with its place.
    package static func check(_ document: Document, file: String) throws(RelayDocumentErrors) {
        var errors: [DocumentError] = []
        for operation in document.operations {
            let expected = file + operation.operation.suffix
            let name = operation.name?.value
            if name == expected { continue }
            errors.append(
                DocumentError(
                    "Expected the \(operation.operation.rawValue) in \(file).swift to be named "
                        + "\"\(expected)\", not \(name.map { "\"\($0)\"" } ?? "to have no name").",
                    locations: [
                        document.source.location(
                            at: operation.name?.location ?? operation.location)
                    ]))
        }
        for fragment in document.fragments where !fragment.name.value.hasPrefix(file + "_") {
            errors.append(
                DocumentError(
                    "Expected the name of the fragment in \(file).swift to begin with "
                        + "\"\(file)_\", not \"\(fragment.name.value)\".",
                    locations: [document.source.location(at: fragment.name.location)]))
        }
        if !errors.isEmpty { throw RelayDocumentErrors(errors) }
    }
}

extension OperationType {
    fileprivate var suffix: String {
        switch self {
        case .query: "Query"
        case .mutation: "Mutation"
        case .subscription: "Subscription"
        }
    }
}
