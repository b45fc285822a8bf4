import RelayJSON

/// What becomes of a mutation, as a test decides for itself.
enum AccessVerdict {
    /// Refused with one of these codes.
    case refused(Set<String>)
    /// The store afterwards, and the record that it is about.
    case done(AccessModel, String)
}

extension AccessModel {
    /// - Parameters:
    ///   - person: nil: whoever may do everything.
    ///   - newID: that of a record that is created.
    func verdict(
        on mutation: AccessMutation, by person: Person?, _ generator: AccessGenerator,
        newID: String
    ) -> AccessVerdict {
        let rules = generator.rules
        let gate = rules.mutations[mutation.name]
        let denied: Set = [person?.id == nil ? "UNAUTHENTICATED" : "FORBIDDEN"]
        if let person, let gate, !holds(gate, person, nil) { return .refused(denied) }
        let seen = person.map { left(for: $0, rules) } ?? self
        let asked = gate == nil ? person : nil
        func isDenied(_ action: String, _ id: String, in model: AccessModel) -> Bool {
            asked.map { !model.may($0, action, id, rules) } ?? false
        }
        func named(_ input: String, _ type: String) -> Record? {
            mutation.given(input)?.string.flatMap {
                seen.find($0, type: type, unique: AccessGenerator.unique)
            }
        }
        let type = mutation.type
        var after = self
        switch mutation.kind {
        case "add":
            var problems: Set<String> = []
            let parentType = generator.parents[type]
            let parent = parentType.flatMap { named("parentId", $0) }
            if mutation.given("parentId") != nil, parent == nil { problems.insert("NOT_FOUND") }
            var record = Record(id: newID, type: type, fields: [:])
            problems.formUnion(set(&record, by: mutation, generator, named))
            let isTaken = problems.remove("CONFLICT") != nil
            if !problems.isEmpty { return .refused(problems) }
            after.records.append(record)
            if let parent { after.link(newID, "conn", of: parent.id) }
            if isDenied("create", newID, in: after) { return .refused(denied) }
            return isTaken ? .refused(["CONFLICT"]) : .done(after, newID)
        case "set":
            guard let id = named("id", type)?.id, let place = place(of: id) else {
                return .refused(["NOT_FOUND"])
            }
            if isDenied("update", id, in: self) { return .refused(denied) }
            var problems = set(&after.records[place], by: mutation, generator, named)
            // Only who may do it learns that a value is taken.
            let isTaken = problems.remove("CONFLICT") != nil
            if !problems.isEmpty { return .refused(problems) }
            if isDenied("update", id, in: after) { return .refused(denied) }
            return isTaken ? .refused(["CONFLICT"]) : .done(after, id)
        case "del":
            guard let id = named("id", type)?.id, let place = place(of: id) else {
                return .refused(["NOT_FOUND"])
            }
            if isDenied("delete", id, in: self) { return .refused(denied) }
            after.records.remove(at: place)
            return .done(after, id)
        default:
            guard let parent = named("id", type),
                let child = named("childId", generator.target(type, "conn"))
            else { return .refused(["NOT_FOUND"]) }
            let neighbour = named("afterId", generator.target(type, "conn"))
            if neighbour == nil, mutation.given("afterId") ?? .null != .null {
                return .refused(["NOT_FOUND"])
            }
            if isDenied("update", parent.id, in: self) { return .refused(denied) }
            switch mutation.kind {
            case "put": after.link(child.id, "conn", of: parent.id)
            case "cut": after.unlink(child.id, "conn", of: parent.id)
            default:
                guard after.move(child.id, behind: neighbour?.id, "conn", of: parent.id) else {
                    return .refused(["NOT_FOUND"])
                }
            }
            if isDenied("update", parent.id, in: after) { return .refused(denied) }
            return .done(after, child.id)
        }
    }

    func place(of id: String) -> Int? { records.firstIndex { $0.id == id } }

    /// - Returns: what is wrong.
    private func set(
        _ record: inout Record, by mutation: AccessMutation, _ generator: AccessGenerator,
        _ named: (String, String) -> Record?
    ) -> Set<String> {
        var problems: Set<String> = []
        for (name, value) in mutation.input {
            switch name {
            case "name", "code":
                // Whoever has it, seen or not.
                let isTaken = records.contains { other in
                    guard other.type == record.type, other.id != record.id,
                        case .leaf(let known)? = other.fields[name]
                    else { return false }
                    return known == value && value != .null
                }
                if isTaken { problems.insert("CONFLICT") }
                record.fields[name] = .leaf(value)
            case "flag", "num": record.fields[name] = .leaf(value)
            case "ownerId", "otherId":
                let field = String(name.dropLast(2))
                guard value != .null else {
                    record.fields[field] = nil
                    continue
                }
                guard let linked = named(name, generator.target(record.type, field)) else {
                    problems.insert("NOT_FOUND")
                    continue
                }
                record.fields[field] = .link(linked.id)
            default: break
            }
        }
        return problems
    }

    private mutating func link(_ id: String, _ field: String, of parent: String) {
        guard let place = place(of: parent) else { return }
        var links: [String] = []
        if case .links(let known)? = records[place].fields[field] { links = known }
        if !links.contains(id) { records[place].fields[field] = .links(links + [id]) }
    }

    private mutating func unlink(_ id: String, _ field: String, of parent: String) {
        guard let place = place(of: parent), case .links(let links)? = records[place].fields[field]
        else { return }
        records[place].fields[field] = .links(links.filter { $0 != id })
    }

    /// - Returns: whether both are in the list.
    private mutating func move(
        _ id: String, behind neighbour: String?, _ field: String, of parent: String
    ) -> Bool {
        guard let place = place(of: parent), case .links(var links)? = records[place].fields[field],
            let from = links.firstIndex(of: id), neighbour.map(links.contains) ?? true
        else { return false }
        if neighbour == id { return true }
        links.remove(at: from)
        links.insert(id, at: neighbour.flatMap(links.firstIndex).map { $0 + 1 } ?? 0)
        records[place].fields[field] = .links(links)
        return true
    }
}
