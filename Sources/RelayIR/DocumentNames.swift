package import GraphQLLanguage

/// How definitions in a Swift file must be named, so that their generated types can be found and do not
/// conflict with those of another file: an operation `<FileName>` followed by its kind, a fragment
/// `<FileName>` followed by `_` and the name of what it reads.
package enum DocumentNames {
    /// - Parameter file: the name of the Swift file, without its extension.
    /// - Throws: every name that breaks the rule, with its location.
    package static func check(_ document: Document, file: String) throws(RelayDocumentErrors) {
        var errors: [RelayDocumentError] = []
        for operation in document.operations {
            let expected = file + operation.operation.suffix
            let name = operation.name?.value
            if name == expected { continue }
            errors.append(
                RelayDocumentError(
                    "Expected the \(operation.operation.rawValue) in \(file).swift to be named "
                        + "\"\(expected)\", not \(name.map { "\"\($0)\"" } ?? "to have no name").",
                    at: [document.place(of: operation.name?.location ?? operation.location)]))
        }
        for fragment in document.fragments where !fragment.name.value.hasPrefix(file + "_") {
            errors.append(
                RelayDocumentError(
                    "Expected the name of the fragment in \(file).swift to begin with "
                        + "\"\(file)_\", not \"\(fragment.name.value)\".",
                    at: [document.place(of: fragment.name.location)]))
        }
        if !errors.isEmpty { throw RelayDocumentErrors(errors) }
    }
}

extension Document {
    fileprivate func place(of location: Int) -> SourcePlace {
        SourcePlace(source: source, location: source.location(at: location))
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
