import RelayJSON

/// Writes a whole result from its records, and checks at the same time that a patch meant exactly this result.
struct ResultWriter: ~Copyable {
    /// A result too large for any message is a mistake, or an attack: a patch can put one record in a
    /// great many places.
    static let largestResultBytes = 64 << 20

    private let records: ResultRecords
    /// Keys from the patch, by record, that have not been written yet.
    private var untold: [ExactText: Set<ExactText>]
    private let told: Set<ExactText>
    /// Records of the patch that have not been written.
    private var unwritten: Set<ExactText>
    /// Whether everything that was written is in the patch.
    private(set) var isToldWholly = true
    /// The output; the maker of a response also writes before and after the result.
    var json = JSONWriter()

    /// - Parameter patch: what has changed since the last result; nil if that is not to be checked.
    init(_ records: ResultRecords, patch: JSONObject? = nil) {
        self.records = records
        var untold: [ExactText: Set<ExactText>] = [:]
        for (id, fields) in patch ?? [:] {
            guard let fields = fields.object else { continue }
            let keys = fields.lazy.filter { $0.value["unset"] == nil }.map { ExactText($0.key) }
            untold[ExactText(id)] = Set(keys).subtracting([ResultRecords.typeKey])
        }
        self.untold = untold
        told = Set(untold.keys)
        unwritten = told
    }

    /// Writes the value of `data`.
    /// - Throws: if a record or a field is missing, or if the patch changed something that the result does not show.
    mutating func write(_ plan: ResultPlan) throws(PatchMismatch) {
        if records.records[ResultRecords.rootID] == nil {
            json.writeNull()
        } else {
            try write(ResultRecords.rootID, plan)
        }
        guard untold.values.allSatisfy(\.isEmpty), unwritten.isEmpty else { throw PatchMismatch() }
    }

    private mutating func write(_ id: ExactText, _ plan: ResultPlan) throws(PatchMismatch) {
        guard let record = records.records[id], json.count <= Self.largestResultBytes else {
            throw PatchMismatch()
        }
        let isTold = told.contains(id)
        if isTold { unwritten.remove(id) } else { isToldWholly = false }
        json.raw(UInt8(ascii: "{"))
        var isFirst = true
        let type = plan.concreteType ?? record[ResultRecords.typeKey]?.string
        for field in plan.fields(of: type) {
            // Of every selected field there is a value in the result, so also in the record.
            guard let value = record[ExactText(field.key)] else { throw PatchMismatch() }
            if isTold { untold[id]?.remove(ExactText(field.key)) }
            if !isFirst { json.raw(UInt8(ascii: ",")) }
            isFirst = false
            json.raw(field.quoted)
            switch field.content {
            case .leaf: json.write(value["value"] ?? value)
            case .object(let plan): try write(link: value, plan)
            case .list(let plan): try write(links: value, plan)
            }
        }
        json.raw(UInt8(ascii: "}"))
    }

    private mutating func write(link value: JSONValue, _ plan: ResultPlan) throws(PatchMismatch) {
        if value.isNull { return json.writeNull() }
        guard let id = value["ref"]?.string else { throw PatchMismatch() }
        try write(ExactText(id), plan)
    }

    private mutating func write(links value: JSONValue, _ plan: ResultPlan) throws(PatchMismatch) {
        if value.isNull { return json.writeNull() }
        guard let links = value["refs"]?.array else { throw PatchMismatch() }
        json.raw(UInt8(ascii: "["))
        for (place, link) in links.enumerated() {
            if place > 0 { json.raw(UInt8(ascii: ",")) }
            switch link {
            case .null: json.writeNull()
            case .string(let id): try write(ExactText(id), plan)
            default: throw PatchMismatch()
            }
        }
        json.raw(UInt8(ascii: "]"))
    }
}
