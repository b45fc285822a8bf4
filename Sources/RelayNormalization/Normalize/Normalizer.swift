import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords

/// Turns the data of a response into rows, directly from its bytes.
///
/// An object's record is found first (by its `id`, or its position), then its members are matched with the selection in
/// order, nested objects in between. The server may send anything: a value of the wrong shape becomes a field error
/// with its path, and the other fields still count.
struct Normalizer {
    /// A field that a handler wants to look at.
    struct Handled {
        let record: RecordIndex
        let handle: NormalizationHandle
        /// What has arrived of the field; nil: the field itself, with everything selected on it.
        var part: FieldPart?
    }

    /// A step of a path in the response.
    enum PathStep {
        case member(Member)
        case index(Int)
    }

    var snapshot: Snapshot
    private(set) var changes = ChangeSet()
    private(set) var handled: [Handled] = []
    /// Records that were written, changed or not, if that is wanted.
    var looked: TouchedRecords?
    /// Errors found in the data itself.
    private(set) var errors: [JSONValue] = []
    var reader: JSONReader
    var path: [PathStep] = []
    /// The path of the response part being read.
    var partPath: [JSONValue] = []
    /// A record that is read but not written: it was deleted and must not come back.
    var deleted: RecordIndex?
    /// Errors of list elements that this response has something to say about.
    var elementErrors: [RecordField: FieldErrors] = [:]
    /// Errors of fields that have no value because of them, if this response has something to say about them.
    var failures: [RecordField: FieldErrors] = [:]
    /// The lists last compared for each field: the one an error was located in, and the one the field holds.
    var compared: [RecordField: (list: LinkList?, current: LinkList?, isSame: Bool)] = [:]
    private var stages: ContiguousArray<RowStage> = []
    private var depth = 0
    /// Objects of fields with handlers that lack selected members: the depth and slot of the field, and the members
    /// they do have.
    private var beginnings: [(depth: Int, place: Int, names: Set<String>)] = []
    /// Buffer for building ids.
    private var idBuffer: ContiguousArray<UInt8> = []
    private var builder = RowBuilder()
    let symbols: Symbols

    init(_ snapshot: Snapshot, reader: JSONReader) {
        self.snapshot = snapshot
        self.reader = reader
        symbols = snapshot.symbols
    }

    // MARK: Objects

    /// Normalizes the next object into a record.
    /// - Parameter identity: what ``identify(_:)`` found in it.
    mutating func object(
        into record: RecordIndex, _ plan: NormalizationPlan, _ identity: Identity
    ) throws(JSONError) {
        looked?.insert(record)
        let flat = selection(of: plan, identity, record)
        if depth == stages.count { stages.append(RowStage()) }
        let stage = stages[depth]
        depth += 1
        defer { depth -= 1 }
        stage.begin(flat.fields.count)
        try reader.beginObject()
        if let typename = flat.typename, reader.takeKey(typename.quoted) {
            try reader.skipValue()
        }
        var expected = 0
        while true {
            if expected < flat.fields.count, reader.takeKey(flat.fields[expected].member.quoted) {
                try field(expected, of: flat, record, stage)
                expected += 1
                continue
            }
            guard let key = try reader.nextKey() else { break }
            if let place = key.withContent({ flat.place(of: $0) }) {
                try field(place, of: flat, record, stage)
                expected = place + 1
            } else {
                try reader.skipValue()
            }
        }
        commit(stage, to: record, flat)
        if record == deleted { return }
        for (handle, place) in zip(flat.handles, flat.handlePlaces) {
            // If it was deferred or left out, there is nothing to look at yet.
            if let place, stage.tag(place) == .absent { continue }
            let beginning = beginnings.first { $0.depth == depth && $0.place == place }
            handled.append(
                Handled(
                    record: record, handle: handle,
                    part: beginning.map { .beginning($0.names) }))
        }
        if !flat.handles.isEmpty { beginnings.removeAll { $0.depth == depth } }
        for key in flat.discriminators { learn(flat.type, has: key) }
    }

    private func selection(
        of plan: NormalizationPlan, _ identity: Identity, _ record: RecordIndex
    ) -> FlatSelection {
        let type =
            plan.concreteType ?? identity.type ?? snapshot.type(of: record) ?? symbols.name("")
        if let flat = plan.known(type) { return flat }
        let object = reader
        return plan.flat(type) { Self.object(object, has: $0) }
    }

    /// Whether the next object has a member: called only if a type is not known.
    private static func object(_ reader: JSONReader, has name: String) -> Bool {
        var object = reader
        do throws(JSONError) {
            try object.beginObject()
            while let key = try object.nextKey() {
                if key.withContent({ $0.elementsEqual(name.utf8) }) { return true }
                try object.skipValue()
            }
        } catch {}
        return false
    }

    /// Lets handlers look again at fields of which a part has arrived.
    mutating func handle(_ fields: [Handled]) {
        for field in fields {
            if let last = handled.last, last.record == field.record, last.handle === field.handle,
                case .items(let range, of: let name)? = last.part,
                case .items(let more, of: name)? = field.part, range.upperBound == more.lowerBound
            {
                handled[handled.count - 1].part = .items(
                    range.lowerBound..<more.upperBound, of: name)
            } else {
                handled.append(field)
            }
        }
    }

    // MARK: Fields

    @inline(__always)
    private mutating func field(
        _ place: Int, of flat: FlatSelection, _ record: RecordIndex, _ stage: RowStage
    ) throws(JSONError) {
        if flat.fields[place].kind == .scalar {
            try scalar(place, stage)
        } else {
            try links(place, of: flat, record, stage)
        }
    }

    private mutating func scalar(_ slot: Int, _ stage: RowStage) throws(JSONError) {
        switch try reader.peek() {
        case .string:
            let text = try reader.readString()
            if text.hasEscapes {
                text.withContent { stage.set(slot, .string, text: $0) }
            } else {
                stage.set(slot, .string, text: text.escaped)
            }
        case .number:
            switch try reader.readNumber() {
            case .int(let value): stage.set(slot, .int, word: UInt64(bitPattern: value))
            case .double(let value): stage.set(slot, .double, word: value.bitPattern)
            }
        case .bool:
            stage.set(slot, try reader.readBool() ? .true : .false)
        case .null:
            try reader.readNull()
            stage.set(slot, .null)
        case .array, .object:
            let start = reader
            let raw = try reader.skipValue()
            if raw.contains(where: { $0 <= 0x20 }) {
                // White space is insignificant: the same value must have the same bytes.
                var again = start
                let bytes = try again.readValue().bytes
                bytes.withUnsafeBufferPointer { stage.set(slot, .json, text: $0) }
            } else {
                stage.set(slot, .json, text: raw.bindMemory(to: UInt8.self))
            }
        }
    }

    private mutating func links(
        _ slot: Int, of flat: FlatSelection, _ record: RecordIndex, _ stage: RowStage
    ) throws(JSONError) {
        let field = flat.fields[slot]
        guard let child = field.child else { return }
        path.append(.member(field.member))
        defer { path.removeLast() }
        switch (try reader.peek(), field.kind) {
        case (.null, _):
            try reader.readNull()
            stage.set(slot, .null)
        case (.object, .linked):
            let linked = try self.linked(record, field.key, child, index: nil)
            if !flat.handles.isEmpty { noteBeginning(slot, linked, child) }
            stage.set(slot, .link, word: UInt64(linked.rawValue))
        case (.array, .plural):
            stage.set(slot, try plural(record, field, child))
        case (let kind, _):
            let expected = field.kind == .plural ? "a list" : "an object"
            try reader.skipValue()
            fail(slot, stage, "Expected \(expected), found \(kind.description).")
        }
    }

    /// Normalizes an object linked from a field, and returns its record.
    private mutating func linked(
        _ parent: RecordIndex, _ key: NameIndex, _ plan: NormalizationPlan, index: Int?
    ) throws(JSONError) -> RecordIndex {
        let identity = try identify(plan)
        let record: RecordIndex
        if let id = identity.id {
            record = id
        } else {
            record = clientRecord(
                parent, key, index: index, node: identity.node,
                hasNamedSiblings: plan.edgeNode != nil)
        }
        try object(into: record, plan, identity)
        return record
    }

    /// Notes which members the field's object that was just read has, if it lacks any.
    private mutating func noteBeginning(
        _ place: Int, _ record: RecordIndex, _ plan: NormalizationPlan
    ) {
        beginnings.removeAll { $0.depth == depth && $0.place == place }
        let fields = selection(of: Place(record: record, plan: plan)).fields
        // It stays there until the next object at its depth is read.
        let stage = stages[depth]
        let given = fields.indices.filter { stage.hasGiven($0) }
        if given.count == fields.count { return }
        let names = Set(given.map { symbols.nameString(fields[$0].key) })
        beginnings.append((depth, place, names))
    }

    private mutating func plural(
        _ parent: RecordIndex, _ field: FlatSelection.Field, _ plan: NormalizationPlan
    ) throws(JSONError) -> LinkList {
        var links: ContiguousArray<RecordIndex?> = []
        try reader.beginArray()
        while try reader.nextElement() {
            path.append(.index(links.count))
            links.append(try element(parent, field.key, plan, index: links.count))
            path.removeLast()
        }
        return LinkList(links)
    }

    /// Normalizes one more object of a list, at an index: `@stream`.
    /// - Parameter isLinked: whether the list is to link it. If not, an object identified only by its index is left
    ///   out: its record is that of the object which another list has there.
    mutating func item(
        of parent: RecordIndex, _ key: NameIndex, _ plan: NormalizationPlan, index: Int,
        isLinked: Bool
    ) throws(JSONError) -> RecordIndex? {
        if !isLinked, try reader.peek() == .object {
            let identity = try identify(plan)
            if identity.id == nil, identity.node == nil {
                try reader.skipValue()
                return nil
            }
        }
        path.append(.index(index))
        defer { path.removeLast() }
        return try element(parent, key, plan, index: index)
    }

    /// Normalizes the next list element; nil if it is not an object.
    private mutating func element(
        _ parent: RecordIndex, _ key: NameIndex, _ plan: NormalizationPlan, index: Int
    ) throws(JSONError) -> RecordIndex? {
        switch try reader.peek() {
        case .null:
            try reader.readNull()
            return nil
        case .object:
            return try linked(parent, key, plan, index: index)
        case let kind:
            try reader.skipValue()
            errors.append(error("Expected an object, found \(kind.description)."))
            return nil
        }
    }

    // MARK: Ids

    /// The record of an object without an id of its own: see ``DataID/clientID(storageKey:place:)``.
    /// - Parameter hasNamedSiblings: whether others in the list are named by their nodes; a bare index could be the id
    ///   of one of those.
    private mutating func clientRecord(
        _ parent: RecordIndex, _ key: NameIndex, index: Int?,
        node: UnsafeBufferPointer<UInt8>?, hasNamedSiblings: Bool
    ) -> RecordIndex {
        let parentID = symbols.id(parent)
        idBuffer.removeAll(keepingCapacity: true)
        if !parentID.starts(with: Self.clientPrefix) {
            idBuffer.append(contentsOf: Self.clientPrefix)
        }
        idBuffer.append(contentsOf: parentID)
        idBuffer.append(UInt8(ascii: ":"))
        idBuffer.append(contentsOf: symbols.nameText(key))
        if let index {
            idBuffer.append(UInt8(ascii: ":"))
            if let node {
                idBuffer.append(contentsOf: node)
            } else {
                if hasNamedSiblings { idBuffer.append(UInt8(ascii: "#")) }
                idBuffer.append(contentsOf: String(index).utf8)
            }
        }
        return idBuffer.withUnsafeBufferPointer { symbols.record($0) }
    }

    private static let clientPrefix = ContiguousArray("client:".utf8)

    // MARK: Errors

    private mutating func fail(_ slot: Int, _ stage: RowStage, _ message: String) {
        let error = error(message)
        errors.append(error)
        JSONValue.array([error]).bytes.withUnsafeBufferPointer {
            stage.set(slot, .failed, text: $0)
        }
    }

    private func error(_ message: String) -> JSONValue {
        let path = path.map { step -> JSONValue in
            switch step {
            case .member(let member): .string(String(decoding: member.name, as: UTF8.self))
            case .index(let index): .int(Int64(index))
            }
        }
        return ["message": .string(message), "path": .array(partPath + path)]
    }

    // MARK: Rows

    /// Writes the object's fields to its record; a row that would not change is kept.
    private mutating func commit(_ stage: RowStage, to record: RecordIndex, _ flat: FlatSelection) {
        guard let old = snapshot.rows.row(record) else { return create(record, stage, flat) }
        if symbols.mayHaveElementErrors {
            for slot in 0..<stage.count where stage.tag(slot) != .absent {
                renewElementErrors(of: flat.fields[slot].key, record, old)
            }
        }
        if old.shape === flat.shape {
            var isSame = true
            for slot in 0..<stage.count where stage.tag(slot) != .absent {
                if !stage.slot(slot, equals: old, slot) {
                    changes.change(flat.fields[slot].key, of: record)
                    isSame = false
                }
            }
            if isSame { return }
        }
        merge(stage, into: old, record, flat)
    }

    private mutating func create(_ record: RecordIndex, _ stage: RowStage, _ flat: FlatSelection) {
        if record == deleted { return }
        let row: Row
        if let shape = flat.shape {
            row = stage.row(shape, creation: snapshot.nextCreation)
        } else {
            builder.begin(nil, type: flat.type, shapes: symbols.shapes)
            for slot in 0..<stage.count where stage.tag(slot) != .absent {
                set(flat.fields[slot].key, slot, of: stage)
            }
            row = builder.finish(
                creation: snapshot.nextCreation, shapes: symbols.shapes)
        }
        snapshot.create(record, row)
        changes.create(record)
    }

    /// Copies a value from the stage.
    private mutating func set(_ key: NameIndex, _ slot: Int, of stage: RowStage) {
        let target = builder.slot(for: key, shapes: symbols.shapes)
        switch stage.tag(slot) {
        case .string, .json, .failed:
            builder.set(target, stage.tag(slot), text: stage.text(slot))
        case .links:
            if let list = stage.list(slot) { builder.set(target, list) }
        case let tag:
            builder.set(target, tag, word: stage.words[slot])
        }
    }

    /// The general case: the record also has other fields, or another type.
    private mutating func merge(
        _ stage: RowStage, into old: Row, _ record: RecordIndex, _ flat: FlatSelection
    ) {
        builder.begin(old, type: flat.type, shapes: symbols.shapes)
        var isSame = old.type == flat.type
        let isNoted = old.shape === flat.shape
        if !isSame { changes.create(record) }
        for slot in 0..<stage.count where stage.tag(slot) != .absent {
            let key = flat.fields[slot].key
            if let oldSlot = old.shape.slot(of: key), stage.slot(slot, equals: old, oldSlot) {
                continue
            }
            isSame = false
            if !isNoted { changes.change(key, of: record) }
            set(key, slot, of: stage)
        }
        if isSame { return }
        let new = builder.finish(creation: old.creation, shapes: symbols.shapes)
        snapshot.replace(record, old, by: new)
    }

    mutating func apply(_ writes: WriteSet) {
        snapshot.apply(writes, changes: &changes, looked: &looked)
    }

    /// Records that a type newer than the compiler's schema has an abstract one.
    private mutating func learn(_ type: NameIndex, has abstractKey: String) {
        let id = Snapshot.typeRecordID(symbols.nameString(type))
        if looked != nil {
            looked?.insert(symbols.record(Snapshot.typeRecordID(symbols.nameString(type)).rawValue))
        }
        if snapshot.type(type, has: abstractKey) { return }
        var writes = WriteSetWriter()
        writes.write(id, type: "__TypeSchema", fields: [(abstractKey, .bool(true))])
        apply(writes.writeSet)
    }
}

extension JSONReader.Kind {
    fileprivate var description: String {
        switch self {
        case .object: "an object"
        case .array: "a list"
        case .string: "a string"
        case .number: "a number"
        case .bool: "a boolean"
        case .null: "null"
        }
    }
}
