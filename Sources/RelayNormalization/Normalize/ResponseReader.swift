import RelayJSON
@_spi(Rooms) import RelayRecords

/// Reads a response around its data: errors, extensions and incremental parts.
struct ResponseReader {
    private(set) var normalizer: Normalizer
    private(set) var summary = ResponseSummary()
    private let plan: NormalizationPlan
    private let root: RecordIndex
    /// Errors sent by the server; they are put on their fields once all data has been read.
    private var fieldErrors: [JSONValue] = []

    /// Lists into which this message has put items, in their current state.
    private var spliced: [Normalizer.RecordField: LinkList] = [:]
    /// Whether the response is known to be part of another.
    private let isPart: Bool
    /// Where parts and errors belong, in order, if known; nil: still to be found.
    private var known: ResponsePlaces?
    /// Where the parts and errors read so far belong.
    private(set) var places = ResponsePlaces()

    /// The response turns out to be part of another after its data was taken for the whole.
    struct PathBehindData: Error {}

    init(
        _ normalizer: Normalizer, _ plan: NormalizationPlan, root: RecordIndex,
        isPart: Bool = false, places: ResponsePlaces? = nil
    ) {
        self.isPart = isPart
        known = places
        self.normalizer = normalizer
        self.plan = plan
        self.root = root
    }

    mutating func read() throws {
        guard try normalizer.reader.peek() == .object else {
            throw InvalidResponse(description: "A GraphQL response is an object; this one is not.")
        }
        try payload(isWhole: true)
        try normalizer.reader.finish()
        for error in fieldErrors {
            let place =
                if known == nil { normalizer.place(of: error, plan, root) } else {
                    known?.errors.popFirst() ?? nil
                }
            places.errors.append(place)
            if let place { normalizer.put(error, at: place, isOfPart: summary.isPart) }
        }
        normalizer.settleErrors()
        summary.errors += normalizer.errors
    }

    /// One payload: the response itself, or an element of its `incremental` list.
    private mutating func payload(isWhole: Bool) throws {
        let start = normalizer.reader
        var isIncremental = !isWhole || isPart
        var members = PartMembers()
        // Read after the data that its parts belong to: members of an object have no order.
        var incremental: JSONReader?
        try normalizer.reader.beginObject()
        while let key = try normalizer.reader.nextKey() {
            if isWhole { members.insert(key, isNull: try normalizer.reader.peek() == .null) }
            if key == "data" {
                if isIncremental { try normalizer.reader.skipValue() } else { try data() }
            } else if key == "errors" {
                try errors()
            } else if key == "extensions" {
                let value = try normalizer.reader.readValue()
                if !value.isNull { summary.extensions = value }
            } else if key == "hasNext" {
                summary.hasNext = try normalizer.reader.readValue() == .bool(true)
            } else if key == "incremental", isWhole, try normalizer.reader.peek() != .null {
                incremental = normalizer.reader
                try normalizer.reader.skipValue()
            } else if key == "path" || key == "label", isWhole,
                try normalizer.reader.peek() != .null
            {
                // The older form: one payload is one part.
                if summary.hasData, !isIncremental { throw PathBehindData() }
                isIncremental = true
                try normalizer.reader.skipValue()
            } else {
                try normalizer.reader.skipValue()
            }
        }
        if isWhole { summary.isPart = isIncremental || members.isPart }
        let end = normalizer.reader
        if isIncremental {
            normalizer.reader = start
            try part()
        }
        if let incremental {
            normalizer.reader = incremental
            try parts()
        }
        normalizer.reader = end
    }

    private mutating func data() throws {
        switch try normalizer.reader.peek() {
        case .object:
            summary.hasData = true
            try normalizer.object(into: root, plan, .none)
        case .null:
            try normalizer.reader.readNull()
            summary.dataIsNull = true
        default:
            throw InvalidResponse(description: "\"data\" of a response is an object or null.")
        }
    }

    private mutating func errors() throws {
        switch try normalizer.reader.readValue() {
        case .array(let errors):
            summary.errors += errors
            fieldErrors += errors
        case .null: break
        case let value:
            // Something went wrong, whatever it was: such a response is not a success.
            refuse("The \"errors\" of the response are no list, but \(value.text).")
        }
    }

    // MARK: Incremental delivery

    /// The parts in one message.
    private mutating func parts() throws {
        guard try normalizer.reader.peek() == .array else {
            return refuse("The \"incremental\" of the response is no list.")
        }
        try normalizer.reader.beginArray()
        while try normalizer.reader.nextElement() {
            if try normalizer.reader.peek() == .object {
                try payload(isWhole: false)
            } else {
                try normalizer.reader.skipValue()
            }
        }
    }

    /// A deferred or streamed part; its path says where it belongs.
    private mutating func part() throws {
        var path: [JSONValue]?
        var look = normalizer.reader
        try look.beginObject()
        var content: (key: String, reader: JSONReader)?
        while let key = try look.nextKey() {
            if key == "path" {
                path = try look.readValue().array
            } else if key == "data" || key == "items" {
                content = (key.string, look)
                try look.skipValue()
            } else {
                try look.skipValue()
            }
        }
        guard let content else { return }
        normalizer.reader = content.reader
        let kind = try normalizer.reader.peek()
        let place = known?.parts.popFirst() ?? find(path, isList: content.key == "items", kind)
        places.parts.append(place)
        defer { normalizer.partPath = [] }
        switch place {
        case .object(let place, let path, let handled):
            // Others may have deleted it meanwhile. It stays deleted; what the part says about other records counts.
            if known != nil, normalizer.snapshot.type(of: place.record) == nil {
                normalizer.deleted = place.record
            }
            defer { normalizer.deleted = nil }
            summary.hasData = true
            normalizer.partPath = path
            try normalizer.object(into: place.record, place.plan, .none)
            normalizer.handle(handled)
        case .items(let stream):
            summary.hasData = true
            normalizer.partPath = stream.path
            let field = Normalizer.RecordField(record: stream.record, key: stream.key)
            let list = normalizer.list(stream.key, of: stream.record)
            // Once established, this holds for the other parts of the message too.
            let isSame = list.map { spliced[field] === $0 } ?? false || stream.list == list
            var items: [RecordIndex?] = []
            if kind == .array {
                try normalizer.reader.beginArray()
                while try normalizer.reader.nextElement() {
                    items.append(try item(items.count, of: stream, isLinked: isSame))
                }
            } else {
                items = [kind == .null ? nil : try item(0, of: stream, isLinked: isSame)]
            }
            if isSame { splice(items, into: stream) }
            // Handlers are called in any case: another response may have brought the same.
            normalizer.handle(stream.handled(count: items.count))
        case .nothing: break
        case .unknown:
            refuse("A part of the response has no \"path\" that says where it belongs.")
        case .nowhere:
            refuse(
                "A part of the response belongs where the response has no such place.", at: path)
        }
    }

    /// Where a part belongs.
    /// - Parameters:
    ///   - isList: whether it has `items`; the path is then that of the first item. Before servers had those, an item
    ///     came alone, at its place.
    ///   - kind: the kind of its payload.
    private func find(_ path: [JSONValue]?, isList: Bool, _ kind: JSONReader.Kind) -> PartPlace {
        // A part that could not be delivered; its errors say why. A missing item keeps its place; for an item that is
        // there, this is a deferred part of it.
        if kind == .null {
            guard !isList, let path, normalizer.locate(path[...], plan, root) == nil,
                let stream = stream(path)
            else { return .nothing }
            return .items(stream)
        }
        guard let path else { return .unknown }
        if isList { return kind == .array ? stream(path).map { .items($0) } ?? .nowhere : .nowhere }
        guard kind == .object else { return .nowhere }
        if let place = normalizer.locate(path[...], plan, root) {
            let handled = normalizer.handled(at: path[...], plan, root) { member in
                let index = path.last?.int.map { Int(clamping: $0) }
                return member.map { .object(in: $0, index: index) } ?? .members(members(of: place))
            }
            return .object(place, path, handled)
        }
        return stream(path).map { .items($0) } ?? .nowhere
    }

    /// The record's names for the members of the next object, at a place.
    private func members(of place: Normalizer.Place) -> Set<String> {
        var (object, names) = (normalizer.reader, Set<String>())
        do throws(JSONError) {
            try object.beginObject()
            while let key = try object.nextKey() {
                names.insert(normalizer.name(key.string, of: place))
                try object.skipValue()
            }
        } catch {}
        return names
    }

    /// The list whose path, followed by an index, this is.
    /// - Returns: nil also if it would leave a gap: the items of a stream come in order.
    private func stream(_ path: [JSONValue]) -> PartPlace.Stream? {
        guard let first = path.last?.int, case .string(let name)? = path.dropLast().last,
            let place = normalizer.locate(path.dropLast(2), plan, root),
            let field = normalizer.field(name, of: place), let child = field.child,
            field.kind == .plural,
            case let list = normalizer.list(field.key, of: place.record),
            first >= 0, first <= Int64(list?.count ?? 0)
        else { return nil }
        let handled = normalizer.handled(at: path.dropLast(), plan, root) {
            .items(Int(first)..<Int(first), of: $0)
        }
        return PartPlace.Stream(
            record: place.record, key: field.key, plan: child, list: list, first: Int(first),
            path: path.dropLast(), handled: handled)
    }

    private mutating func splice(_ items: [RecordIndex?], into stream: PartPlace.Stream) {
        normalizer.splice(items, into: stream.key, of: stream.record, at: stream.first)
        let field = Normalizer.RecordField(record: stream.record, key: stream.key)
        spliced[field] = normalizer.list(stream.key, of: stream.record)
    }

    /// - Parameter isLinked: whether its list is the one that the response began.
    private mutating func item(
        _ number: Int, of stream: PartPlace.Stream, isLinked: Bool
    ) throws -> RecordIndex? {
        try normalizer.item(
            of: stream.record, stream.key, stream.plan, index: stream.first + number,
            isLinked: isLinked)
    }

    private mutating func refuse(_ message: String, at path: [JSONValue]? = nil) {
        var error: JSONObject = ["message": .string(message)]
        if let path { error["path"] = .array(path) }
        summary.errors.append(.object(error))
    }
}

/// Where the contents of one response belong: what was found by its own paths is not looked up again in records that
/// others write too.
package struct ResponsePlaces {
    var parts: ArraySlice<PartPlace> = []
    /// nil for an error that belongs to no field.
    var errors: ArraySlice<Normalizer.ErrorPlace?> = []
}

/// Where a part of a response belongs.
enum PartPlace {
    /// A list that is streamed, from an index on.
    struct Stream {
        let record: RecordIndex
        let key: NameIndex
        let plan: NormalizationPlan
        /// The list before; nil if there is none.
        let list: LinkList?
        let first: Int
        /// Its path in the response.
        let path: [JSONValue]
        /// The fields with handlers that it belongs to, each with an empty range of items.
        let handled: [Normalizer.Handled]

        func handled(count: Int) -> [Normalizer.Handled] {
            handled.map { field in
                guard case .items(_, of: let member)? = field.part else { return field }
                return Normalizer.Handled(
                    record: field.record, handle: field.handle,
                    part: .items(first..<first + count, of: member))
            }
        }
    }

    /// An existing object, at a path of the response; and the fields with handlers that it belongs to.
    case object(Normalizer.Place, [JSONValue], [Normalizer.Handled])
    /// Items of a list, or a single one.
    case items(Stream)
    /// Nothing arrived that has a place.
    case nothing
    /// It does not say where it belongs.
    case unknown
    /// There is no such place.
    case nowhere
}

/// The members of a response that make it part of an earlier one.
private struct PartMembers {
    private var hasData = false
    private var saysHowItGoesOn = false
    private var namesItsPlace = false

    mutating func insert(_ key: JSONString, isNull: Bool) {
        if key == "data" {
            hasData = true
        } else if key == "hasNext" || key == "incremental" {
            saysHowItGoesOn = true
        } else if key == "path" || key == "label", !isNull {
            namesItsPlace = true
        }
    }

    var isPart: Bool { namesItsPlace || (saysHowItGoesOn && !hasData) }
}

extension ResponseSummary {
    /// Whether a response is part of the previous one: what `@defer` and `@stream` left out, or notice that nothing
    /// more follows. Used for streams, in which a new response and a part of the last one look alike.
    package static func isPart(_ response: [UInt8]) -> Bool {
        response.withUnsafeBytes { bytes in
            guard bytes.hasMember(hasNext) else { return false }
            var members = PartMembers()
            var reader = JSONReader(bytes)
            do throws(JSONError) {
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    members.insert(key, isNull: try reader.peek() == .null)
                    try reader.skipValue()
                }
            } catch {
                return false
            }
            return members.isPart
        }
    }

    /// The end of `"hasNext"`, without which no response has parts.
    private static let hasNext = Array("hasNext\"".utf8)
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes contain the given eight.
    fileprivate func hasMember(_ text: [UInt8]) -> Bool {
        let word = text.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        var offset = 0
        while offset + 8 <= count {
            if loadUnaligned(fromByteOffset: offset, as: UInt64.self) == word { return true }
            offset += 1
        }
        return false
    }
}
