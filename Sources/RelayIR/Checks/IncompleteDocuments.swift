package import GraphQLLanguage

extension RelayDocuments {
    /// What is wrong with documents if others, that belong to them, could not be read.
    ///
    /// Left out is what the others may explain: fragments that are unknown, and whatever may be in these. So is what
    /// is found only once everything is worked in, such as fields that cannot be merged.
    ///
    /// - Parameters:
    ///   - documents: as for ``init(_:schema:client:persist:)``.
    ///   - serverSchema: the server's.
    ///   - client: extensions of it.
    package static func errors(
        inIncomplete documents: [Document], schema serverSchema: Schema, client: [Source] = []
    ) -> [RelayDocumentError] {
        do throws(RelayDocumentErrors) {
            let schema = try Schema.forClients(serverSchema, client)
            guard let sources = SourceMap(documents.map(\.source)) else { return [] }
            let set = DocumentSet(documents, schema: schema)
            let gaps = Gaps(set)
            let issues = set.issues(documents).filter { !gaps.explain($0) }
            return RelayDocumentErrors(issues, in: sources).errors
        } catch {
            return error.errors
        }
    }
}

/// The places where fragments are spread that nobody knows.
private struct Gaps {
    /// Those of the spreads themselves.
    private var spreads: Set<Int> = []
    /// Fields that select one, by all places of one name: what they seem to lack may be in there.
    private var fields: Set<Int> = []
    /// Variables that may be used in one.
    private var variables: Set<Int> = []

    init(_ documents: DocumentSet) {
        /// By the name of the fragment.
        var spreadsInFragments: [String: [String]] = [:]
        var unknown: Set<String> = []
        for fragment in documents.fragments {
            spreadsInFragments[fragment.name.value, default: []] += collect(
                fragment.selectionSet, in: [], documents)
        }
        for operation in documents.operations {
            var waiting = collect(operation.selectionSet, in: [], documents)
            var reached: Set<String> = []
            while let name = waiting.popLast() {
                if !reached.insert(name).inserted { continue }
                if documents.fragment(named: name) == nil { unknown.insert(name) }
                waiting += spreadsInFragments[name] ?? []
            }
            if unknown.isDisjoint(with: reached) { continue }
            variables.formUnion(operation.variables.map(\.location))
        }
    }

    /// - Parameter fields: the one that the selections are of, if any.
    /// - Returns: the names of all fragments that are spread.
    private mutating func collect(
        _ selectionSet: SelectionSet, in fields: Set<Int>, _ documents: DocumentSet
    ) -> [String] {
        var places: [String: Set<Int>] = [:]
        selectionSet.collectPlaces(&places)
        return collect(selectionSet, in: fields, of: places, documents)
    }

    /// - Parameter places: those of the fields here and in inline fragments, by their names in the response.
    private mutating func collect(
        _ selectionSet: SelectionSet, in fields: Set<Int>, of places: [String: Set<Int>],
        _ documents: DocumentSet
    ) -> [String] {
        var names: [String] = []
        for selection in selectionSet.selections {
            switch selection {
            case .field(let field):
                guard let inner = field.selectionSet else { continue }
                names += collect(inner, in: places[field.responseName] ?? [], documents)
            case .inlineFragment(let fragment):
                names += collect(fragment.selectionSet, in: fields, of: places, documents)
            case .fragmentSpread(let spread):
                names.append(spread.name.value)
                guard documents.fragment(named: spread.name.value) == nil else { continue }
                spreads.insert(spread.name.location)
                self.fields.formUnion(fields)
            }
        }
        return names
    }

    func explain(_ issue: DocumentIssue) -> Bool {
        guard let location = issue.locations.first else { return false }
        let message = issue.message
        return spreads.contains(location) && message.hasPrefix("Unknown fragment ")
            || variables.contains(location) && message.contains(" is never used")
            || fields.contains(location) && message.hasPrefix("Expected field ")
                && message.contains(" to select ")
    }
}

extension SelectionSet {
    fileprivate func collectPlaces(_ places: inout [String: Set<Int>]) {
        for selection in selections {
            switch selection {
            case .field(let field): places[field.responseName, default: []].insert(field.location)
            case .inlineFragment(let fragment): fragment.selectionSet.collectPlaces(&places)
            case .fragmentSpread: break
            }
        }
    }
}
