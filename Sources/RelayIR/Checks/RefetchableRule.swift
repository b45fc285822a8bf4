import GraphQLLanguage

/// A `@refetchable` fragment is on a record that a query can find again, and its query has a name of its own.
struct RefetchableRule {
    private let fragment: TypedFragment
    private let directive: Directive
    private let context: RuleContext

    static func check(_ fragment: TypedFragment, _ context: RuleContext) {
        guard let directive = fragment.definition.directives.named("refetchable") else { return }
        RefetchableRule(fragment: fragment, directive: directive, context: context).check()
    }

    private func check() {
        if fragment.definition.directives.named("relay")?.argument("plural")?.bool == true {
            report("it is read from a list of records, with @relay(plural: true).")
        }
        guard let path = context.schema.refetchPath(of: fragment.type) else {
            return report("\"\(fragment.type.name)\" is neither Query nor Viewer nor a Node.")
        }
        checkVariables(path)
        checkConnections()
    }

    private func report(_ problem: String, at location: Int? = nil) {
        context.report(sentence(problem), at: location ?? directive.location)
    }

    private func sentence(_ problem: String) -> String {
        "Cannot refetch fragment \"\(fragment.name)\": " + problem
    }

    /// Each variable of the query has one value: that for the fragment, or that for a fragment spread in it, which
    /// is read with what the operation gave it.
    private func checkVariables(_ path: [String]) {
        let declared = context.documents.variables(of: fragment.definition).map(\.name.value)
        if path == ["node"], declared.contains("id") {
            report("its own variable \"$id\" has the name of the one for the record.")
        }
        var usage = FragmentVariables(context.documents, context.fragments, following: .all)
        usage.collect(fragment)
        if path == ["node"], usage.names.contains("id") {
            report(
                "it uses the operation's variable \"$id\", which is that for the record in its query."
            )
        }
        for name in declared where usage.names.contains(name) {
            report(
                "a fragment that it spreads uses the operation's variable \"$\(name)\", and its own "
                    + "has the same name.")
        }
    }

    /// Its pages are those of one connection, whose place in the data is known.
    private func checkConnections() {
        var search = ConnectionSearch(context)
        search.visit(fragment.selections, [], inList: false)
        guard let first = search.found.first else { return }
        for other in search.found where other.path != first.path {
            return report(
                "it has two connections, and its query can fetch pages of one.",
                at: other.field.location)
        }
        for other in search.found where other.page != first.page {
            return context.report(
                sentence(
                    "connection \"\(first.field.responseName)\" is selected twice, and different variables "
                        + "say which page."), at: first.field.location, other.field.location)
        }
        if first.isInList {
            return report(
                "connection \"\(first.field.responseName)\" is in a list of records.",
                at: first.field.location)
        }
        let arguments = first.field.arguments
        for (count, cursor) in [("first", "after"), ("last", "before")] {
            guard arguments.contains(where: { $0.name.value == count }) else { continue }
            for name in [count, cursor] {
                let value = arguments.first { $0.name.value == name }?.value
                guard value?.variable == nil else { continue }
                report(
                    "argument \"\(name)\" of connection \"\(first.field.responseName)\" must be a "
                        + "variable, which says what page is fetched.",
                    at: value?.location ?? first.field.location)
            }
        }
    }

    /// Names of operations are unique, written or generated, and no fragment has them: types are named after both.
    static func checkNames(_ context: RuleContext) {
        var known: [String: Int] = [:]
        for operation in context.documents.operations {
            guard let name = operation.name, known[name.value] == nil else { continue }
            known[name.value] = name.location
        }
        for fragment in context.documents.fragments {
            guard let value = fragment.directives.named("refetchable")?.argument("queryName"),
                let name = value.string
            else { continue }
            if !name.isGraphQLName {
                context.report(
                    "Expected \"queryName\" of @refetchable to be a name, not \"\(name)\".",
                    at: value.location)
            }
            if let other = context.documents.fragment(named: name) {
                context.report(
                    "Expected \"queryName\" of @refetchable to be a name of its own: \"\(name)\" is a "
                        + "fragment.", at: value.location, other.name.location)
            }
            if let other = known[name] {
                context.report(
                    "There can be only one operation named \"\(name)\".", at: other, value.location)
            } else {
                known[name] = value.location
            }
        }
    }
}

/// The connections that a fragment itself reads.
private struct ConnectionSearch {
    struct Found {
        let field: TypedField
        /// The response names that lead to it.
        let path: [String]
        let isInList: Bool

        /// The arguments that say which page.
        var page: String {
            field.arguments.filter { ConnectionDirective.pagingArguments.contains($0.name.value) }
                .key
        }
    }

    private let context: RuleContext
    private(set) var found: [Found] = []
    private var unmasked: Set<String> = []

    init(_ context: RuleContext) { self.context = context }

    mutating func visit(_ selections: [TypedSelection], _ path: [String], inList: Bool) {
        for selection in selections {
            switch selection {
            case .field(let field):
                let path = path + [field.responseName]
                if field.directives.named("connection") != nil {
                    found.append(Found(field: field, path: path, isInList: inList))
                }
                guard let inner = field.selections else { continue }
                visit(inner, path, inList: inList || field.definition.type.listItem != nil)
            case .inlineFragment(let fragment):
                visit(
                    fragment.selections, path + [fragment.alias].compactMap(\.self), inList: inList)
            case .spread(let spread):
                guard spread.isUnmasked, unmasked.insert(spread.name).inserted,
                    let fragment = context.fragments[spread.name]
                else { continue }
                visit(fragment.selections, path, inList: inList)
            }
        }
    }
}
