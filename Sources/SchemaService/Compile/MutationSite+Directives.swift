import GraphQLExecution
import GraphQLLanguage
@_spi(Rooms) import RelayRecords

// Derives the plan for each directive.

extension MutationSite {
    func create() -> MutationPlan? {
        guard let type = directive.storedType("type") else { return nil }
        let list = directive.listField("into")
        if directive.directive.argument("into") != nil, list == nil { return nil }
        check(list, holds: type)
        let parent = parent(holding: list, record: type.id)
        let writes = writes(to: type, parent: parent, isNew: true)
        let given = Set(writes.map(\.key))
        let emptyLists = type.fields.filter {
            isLeaf($0) && $0.type.isNonNull && $0.type.listItem != nil && !given.contains($0.name)
        }.map(\.name)
        let timestamps = type.fields.filter {
            // A record must have its non-null timestamps from the start.
            $0.moment == .create || ($0.moment == .update && $0.type.isNonNull)
        }.map(\.name)
        requireNonNullFields(of: type, given: given.union(emptyLists).union(timestamps))

        var plan = MutationPlan(
            record: type.id, parent: parent.reference, edge: list?.edge, list: list,
            references: references([parent.reference], writes))
        plan.makeHandler = { [types] symbols in
            CreateMutation(
                type: type.name, writes: writes.map { $0.write(types, symbols) },
                emptyLists: emptyLists, timestamps: timestamps,
                list: list.map { MutatedList($0, symbols) },
                payload: PayloadSource(
                    parent: parent.reference?.finder(types, symbols),
                    list: list.flatMap { $0.edge == nil ? nil : symbols.name($0.name) },
                    isDeletion: false))
        }
        return plan
    }

    func update() -> MutationPlan? {
        guard let type = directive.storedType("type") else { return nil }
        let parent = parent(holding: nil, record: type.id)
        let record = subject(type)
        let writes = writes(to: type, parent: parent, isNew: false)
        let timestamps = type.fields.filter { $0.moment == .update }.map(\.name)
        var plan = MutationPlan(
            record: type.id, parent: parent.reference,
            references: references([record, parent.reference], writes), subject: "id")
        guard let record else { return plan }
        plan.makeHandler = { [types] symbols in
            UpdateMutation(
                type: type.name, record: record.finder(types, symbols),
                writes: writes.map { $0.write(types, symbols) }, timestamps: timestamps,
                payload: PayloadSource(
                    parent: parent.reference?.finder(types, symbols), list: nil, isDeletion: false))
        }
        return plan
    }

    func delete() -> MutationPlan? {
        guard let type = directive.storedType("type") else { return nil }
        let list = directive.listField("from")
        if directive.directive.argument("from") != nil, list == nil { return nil }
        check(list, holds: type)
        let parent = parent(holding: list, record: nil)
        let record = subject(type)
        rejectOthers(than: "id", parent: parent)
        var plan = MutationPlan(
            record: nil, parent: parent.reference, list: list,
            references: references([record, parent.reference], []), subject: "id")
        guard let record else { return plan }
        plan.makeHandler = { [types] symbols in
            DeleteMutation(
                record: record.finder(types, symbols), list: list.map { MutatedList($0, symbols) },
                payload: PayloadSource(
                    parent: parent.reference?.finder(types, symbols), list: nil, isDeletion: true))
        }
        return plan
    }

    func link(_ action: LinkMutation.Action) -> MutationPlan? {
        guard let list = directive.listField("field") else { return nil }
        let parent = reference("parent", to: list.owner.name, [list.owner.id])
        let child = reference(
            "child", to: schema[list.node].name, types.recordTypes(of: list.node))
        guard let parent, let child else { return nil }
        rejectOthers(than: child.input, parent: .named(parent))
        var plan = MutationPlan(
            record: list.node, parent: parent, edge: list.edge, hasEdge: action == .link,
            list: list, isAboutParent: true,
            references: references([parent, child], []), subject: child.input)
        plan.makeHandler = { [types] symbols in
            let parent = parent.finder(types, symbols)
            let hasEdge = action == .link && list.edge != nil
            return LinkMutation(
                action: action, parent: parent, child: child.finder(types, symbols),
                list: MutatedList(list, symbols),
                payload: PayloadSource(
                    parent: parent, list: hasEdge ? symbols.name(list.name) : nil,
                    isDeletion: false, changedList: symbols.name(list.name)))
        }
        return plan
    }

    func move() -> MutationPlan? {
        guard let list = directive.listField("field") else { return nil }
        let (node, records) = (schema[list.node].name, types.recordTypes(of: list.node))
        let parent = reference("parent", to: list.owner.name, [list.owner.id])
        let child = reference("child", to: node, records)
        let after = reference("after", to: node, records, .optional)
        guard let parent, let child, let after else { return nil }
        rejectOthers(than: child.input, after.input, parent: .named(parent))
        var plan = MutationPlan(
            record: list.node, parent: parent, edge: list.edge, list: list, isAboutParent: true,
            references: references([parent, child, after], []), subject: child.input)
        plan.makeHandler = { [types] symbols in
            let parent = parent.finder(types, symbols)
            return MoveMutation(
                parent: parent, child: child.finder(types, symbols),
                after: after.finder(types, symbols), list: MutatedList(list, symbols),
                payload: PayloadSource(
                    parent: parent, list: list.edge == nil ? nil : symbols.name(list.name),
                    isDeletion: false, changedList: symbols.name(list.name)))
        }
        return plan
    }

    // MARK: Checks

    private func check(_ list: ListField?, holds type: NamedType) {
        guard let list, !types.recordTypes(of: list.node).contains(type.id) else { return }
        directive.report(
            """
            "\(list.owner.name).\(list.name)" holds \(schema[list.node].name), not \
            \(type.name).
            """)
    }

    private func isLeaf(_ field: SchemaField) -> Bool {
        if case .leaf = types.kind(of: field) { true } else { false }
    }

    /// Checks that a new record gets its non-null scalars and links.
    private func requireNonNullFields(of type: NamedType, given: Set<String>) {
        for field in type.fields where field.type.isNonNull && !given.contains(field.name) {
            let needed: String
            switch types.kind(of: field) {
            case .leaf: needed = "\(field.name): \(schema.print(field.type))"
            case .link: needed = "\(field.name)Id: ID!"
            default: continue
            }
            directive.report(
                """
                Nothing fills "\(type.name).\(field.name)", which is \
                \(schema.print(field.type)). Write in \(input.name): \(needed)
                """)
        }
    }

    private func references(
        _ references: [RecordReference?], _ writes: [FieldWriteDefinition]
    ) -> [String: RecordReference] {
        var named: [String: RecordReference] = [:]
        for reference in references.compactMap({ $0 })
            + writes.compactMap({ $0.link ?? $0.links })
        {
            named[reference.input] = reference
        }
        return named
    }
}

extension MutatedList {
    init(_ list: ListField, _ symbols: Symbols) {
        self.init(owner: list.owner.name, key: list.name, name: symbols.name(list.name))
    }
}
