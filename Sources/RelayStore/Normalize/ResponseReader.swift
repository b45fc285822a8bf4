import RelayJSON

/// Reads a response around its data: errors, extensions and incremental parts.
struct ResponseReader {
    private(set) var normalizer: Normalizer
    private(set) var summary = ResponseSummary()
    private let plan: NormalizationPlan
    private let root: RecordIndex
    /// Errors that the server sent; they are put beside the fields they are about when all data is in.
    private var fieldErrors: [JSONValue] = []

    /// Whether the response is known to be one part of another.
    private let isPart: Bool

    /// A response that turns out to be a part of another when its data has been taken for the whole.
    struct PathBehindData: Error {}

    init(
        _ normalizer: Normalizer, _ plan: NormalizationPlan, root: RecordIndex,
        isPart: Bool = false
    ) {
        self.isPart = isPart
        self.normalizer = normalizer
        self.plan = plan
        self.root = root
    }

    mutating func read() throws {
        guard try normalizer.reader.peek() == .object else {
            throw ResponseError(description: "A GraphQL response is an object; this one is not.")
        }
        try payload(isWhole: true)
        try normalizer.reader.finish()
        for error in fieldErrors { normalizer.place(error, plan, root) }
        summary.errors += normalizer.errors
    }

    /// One payload: the response itself, or an element of its `incremental` list.
    private mutating func payload(isWhole: Bool) throws {
        let start = normalizer.reader
        var isIncremental = !isWhole || isPart
        try normalizer.reader.beginObject()
        while let key = try normalizer.reader.nextKey() {
            if key == "data" {
                if isIncremental { try normalizer.reader.skipValue() } else { try data() }
            } else if key == "errors" {
                try errors()
            } else if key == "extensions" {
                let value = try normalizer.reader.readValue()
                if !value.isNull { summary.extensions = value }
            } else if key == "hasNext" {
                summary.hasNext = try normalizer.reader.readValue() == .bool(true)
            } else if key == "incremental", isWhole, try normalizer.reader.peek() == .array {
                try normalizer.reader.beginArray()
                while try normalizer.reader.nextElement() {
                    if try normalizer.reader.peek() == .object {
                        try payload(isWhole: false)
                    } else {
                        try normalizer.reader.skipValue()
                    }
                }
            } else if key == "path", isWhole {
                // The older form: one payload is one part.
                if summary.hasData, !isIncremental { throw PathBehindData() }
                isIncremental = true
                try normalizer.reader.skipValue()
            } else {
                try normalizer.reader.skipValue()
            }
        }
        if isIncremental {
            let end = normalizer.reader
            normalizer.reader = start
            try part()
            normalizer.reader = end
        }
    }

    private mutating func data() throws {
        switch try normalizer.reader.peek() {
        case .object:
            summary.hasData = true
            try normalizer.object(into: root, plan, .none)
        case .null:
            try normalizer.reader.readNull()
        default:
            throw ResponseError(description: "\"data\" of a response is an object or null.")
        }
    }

    private mutating func errors() throws {
        guard case .array(let errors) = try normalizer.reader.readValue() else { return }
        summary.errors += errors
        fieldErrors += errors
    }

    // MARK: Incremental delivery

    /// A part that was deferred or streamed; it says by its path where it belongs.
    private mutating func part() throws {
        var path: [JSONValue] = []
        var look = normalizer.reader
        try look.beginObject()
        var content: (key: String, reader: JSONReader)?
        while let key = try look.nextKey() {
            if key == "path" {
                path = try look.readValue().array ?? []
            } else if key == "data" || key == "items" {
                content = (key.string, look)
                try look.skipValue()
            } else {
                try look.skipValue()
            }
        }
        guard let content else { return }
        normalizer.reader = content.reader
        if content.key == "items" {
            try items(path)
        } else if try normalizer.reader.peek() == .object,
            let place = normalizer.locate(path[...], plan, root)
        {
            summary.hasData = true
            try normalizer.object(into: place.record, place.plan, .none)
        }
    }

    /// A place in a list that no list has: numbers beyond are a mistake of the server's.
    private static let itemLimit: Int64 = 1 << 32

    /// `items` of a list whose path ends with the index of the first of them.
    private mutating func items(_ path: [JSONValue]) throws {
        guard let first = path.last?.int, (0..<Self.itemLimit).contains(first),
            try normalizer.reader.peek() == .array,
            case .string(let name)? = path.dropLast().last,
            let place = normalizer.locate(path.dropLast(2), plan, root),
            let field = normalizer.field(name, of: place), let child = field.child,
            field.kind == .plural
        else { return }
        summary.hasData = true
        var items: [RecordIndex?] = []
        try normalizer.reader.beginArray()
        while try normalizer.reader.nextElement() {
            items.append(
                try normalizer.item(
                    of: place.record, field.key, child, index: Int(first) + items.count))
        }
        normalizer.splice(items, into: field.key, of: place.record, at: Int(first))
    }
}
