import GraphQLLanguage

/// What cannot be merged in fragments that no operation spreads, whatever operation will do so.
///
/// Each that no other one spreads is looked at by itself, with the arguments that it gives to those that it spreads. What
/// its own arguments are is not known, and some values of them may be equal: so it says nothing of arguments of fields
/// that depend on them.
struct UnspreadFragments {
    private let documents: DocumentSet
    private let fragments: [String: TypedFragment]
    /// In the order of the documents.
    private let roots: [TypedFragment]

    /// - Parameters:
    ///   - fragments: all, in the order of the documents.
    ///   - spread: the names of those that operations spread, and of those that these spread.
    init(_ fragments: [TypedFragment], _ spread: Set<String>, in documents: DocumentSet) {
        self.documents = documents
        self.fragments = Dictionary(
            fragments.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let unspread = fragments.filter { !spread.contains($0.name) }
        let inner = Set(unspread.flatMap { $0.selections.spreadNames })
        roots = unspread.filter { !inner.contains($0.name) }
    }

    func issues(limits: ValidationLimits) -> [DocumentIssue] {
        roots.flatMap { root in
            var arguments = FragmentArguments(fragments, in: documents)
            let open = arguments.opened(root)
            let all = [open] + arguments.specialized.sorted { $0.key < $1.key }.map(\.value)
            let unsure = Set(all.flatMap { $0.selections.unsureArguments })
            let sure = all.map { fragment in
                var fragment = fragment
                fragment.selections = fragment.selections.mapped { field in
                    let name = field.responseName
                    field.arguments.removeAll {
                        unsure.contains(FieldArgument(field: name, argument: $0.name.value))
                    }
                }
                return fragment
            }
            return MergeRule.issues([], sure, documents.schema, limits: limits)
        }
    }
}

/// An argument of all fields with one response name.
private struct FieldArgument: Hashable {
    var field: String
    var argument: String
}

extension [TypedSelection] {
    /// The fragments that are spread here, not those that these spread.
    fileprivate var spreadNames: [String] {
        flatMap { selection in
            switch selection {
            case .field(let field): field.selections?.spreadNames ?? []
            case .inlineFragment(let fragment): fragment.selections.spreadNames
            case .spread(let spread): [spread.name]
            }
        }
    }

    /// Those that depend on an argument of the fragment around.
    fileprivate var unsureArguments: [FieldArgument] {
        flatMap { selection -> [FieldArgument] in
            switch selection {
            case .field(let field):
                let unsure = field.arguments.filter {
                    $0.value.variables.contains(where: FragmentArguments.isOpen)
                }
                return unsure.map {
                    FieldArgument(field: field.responseName, argument: $0.name.value)
                } + (field.selections?.unsureArguments ?? [])
            case .inlineFragment(let fragment): return fragment.selections.unsureArguments
            case .spread: return []
            }
        }
    }
}
