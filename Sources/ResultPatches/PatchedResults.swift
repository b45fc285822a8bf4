package import RelayArtifacts
import RelayJSON

/// The results of one stream whose server sends patches of records in place of whole results
/// (`extensions.relay.records`, docs/websocket.md): made whole again, as the server would have sent them.
///
/// It keeps the records of the last result as the server sees them; they are not the store's, which others change
/// too.
///
/// 1. A result made from a patch has the same data as the whole result would have had.
/// 2. If that is uncertain, the patch is a ``Outcome/misfit``: records that the patch changes and the result does
///    not show, or vice versa, are a sign that the server interprets the operation differently from its nodes. So
///    is a whole result that cannot be rebuilt from its own records.
package struct PatchedResults {
    package enum Outcome: Equatable {
        /// A response to be delivered.
        /// - Parameter isWorthAsking: false if whole results would be smaller, or patches could not be used.
        case response([UInt8], isWorthAsking: Bool)
        /// A patch from which no result can be made. The patches after it cannot be used either, until a whole result arrives.
        case misfit
    }

    /// After this many consecutive messages that would have been smaller as whole results, patches cost more than they
    /// save: each event of an event stream has a result of its own, and its patch contains all of it. Whole results
    /// without records count as well, because they are sent in place of patches; other whole results neither count nor
    /// interrupt.
    private static let costlyMessageLimit = 3

    private let normalizer: RecordNormalizer
    private let plan: ResultPlan
    /// The records of the last result.
    private var records = ResultRecords()
    /// The records are not what the server takes them to be.
    private var areRecordsWrong = false
    /// The records are all of the last result: none, if it had no data.
    private var isBaseKnown = false
    private var costlyMessageCount = 0
    /// The cursor of the last response, if the server sends cursors.
    package private(set) var cursor: String?

    /// - Parameter variables: including defaults of those not given.
    package init(_ operation: NormalizationOperation, variables: VariableData) {
        normalizer = RecordNormalizer(operation, variables: variables)
        plan = ResultPlan([operation.selections], variables)
    }

    /// The next message of the stream.
    package mutating func receive(_ bytes: [UInt8]) -> Outcome {
        guard let message = StreamMessage(bytes) else {
            return .response(bytes, isWorthAsking: true)
        }
        if let patch = message.patch {
            guard !areRecordsWrong, let response = response(to: message, patch) else {
                areRecordsWrong = true
                return .misfit
            }
            cursor = message.cursor ?? cursor
            return .response(response, isWorthAsking: arePatchesCheap)
        }
        cursor = message.cursor ?? cursor
        // Servers without cursors have no patches either.
        if message.cursor != nil, let data = message.result {
            guard let made = normalizer.records(of: data) else {
                // The next live result is whole; the patch of an event is made from nothing anyway.
                (records, areRecordsWrong, isBaseKnown) = (ResultRecords(), false, false)
                costlyMessageCount += 1
                return .response(bytes, isWorthAsking: arePatchesCheap)
            }
            (records, isBaseKnown) = (made, true)
            areRecordsWrong = !canMakeAgain(data)
            return .response(bytes, isWorthAsking: !areRecordsWrong)
        }
        return .response(bytes, isWorthAsking: true)
    }

    private var arePatchesCheap: Bool { costlyMessageCount < Self.costlyMessageLimit }

    /// Whether a whole result can be made of its records again.
    private func canMakeAgain(_ data: JSONValue) -> Bool {
        do throws(PatchMismatch) {
            var writer = ResultWriter(records)
            try writer.write(plan)
            return (try? JSONValue(parsing: writer.json.bytes)) == data
        } catch {
            return false
        }
    }

    /// The response that the server would have sent in place of a patch.
    private mutating func response(to message: StreamMessage, _ patch: JSONObject) -> [UInt8]? {
        do throws(PatchMismatch) {
            try records.apply(patch)
            guard isBaseKnown || records.records[ResultRecords.rootID] != nil else {
                throw PatchMismatch()
            }
            isBaseKnown = true
            var writer = ResultWriter(records, patch: patch)
            writer.json.raw("{\"data\":")
            try writer.write(plan)
            message.writeRest(to: &writer.json)
            let saysAll = writer.isToldWholly && !patch.contains { $0.value.isNull }
            let isCostly = saysAll && message.size >= writer.json.count
            // Of no data nothing could be smaller, whatever patches are worth otherwise.
            if records.records[ResultRecords.rootID] != nil {
                costlyMessageCount = isCostly ? costlyMessageCount + 1 : 0
            }
            // Whatever the next event does not show again is useless to it.
            if saysAll { records.keepOnly { patch[$0.text] != nil } }
            return writer.json.bytes
        } catch {
            return nil
        }
    }
}

extension ResultRecords {
    fileprivate mutating func keepOnly(_ isKept: (ExactText) -> Bool) {
        if records.keys.allSatisfy(isKept) { return }
        records = records.filter { isKept($0.key) }
    }
}

/// A message of a stream.
private struct StreamMessage {
    let size: Int
    private let members: JSONObject

    init?(_ bytes: [UInt8]) {
        guard let members = (try? JSONValue(parsing: bytes))?.object else { return nil }
        self.members = members
        size = bytes.count
    }

    private var relay: JSONObject? { members["extensions"]?["relay"]?.object }

    var cursor: String? { relay?["cursor"]?.string }
    var patch: JSONObject? { relay?["records"]?.object }

    /// The data, if this is a result: not a part of one, and not a notice about how the stream resumes.
    var result: JSONValue? {
        guard let data = members["data"], members["hasNext"] == nil, members["path"] == nil,
            !data.isNull || members["errors"] != nil
        else { return nil }
        return data
    }

    /// What follows the data, without the patch.
    func writeRest(to json: inout JSONWriter) {
        for (name, value) in members where name != "data" {
            var value = value
            if name == "extensions", var extensions = value.object, var relay {
                relay["records"] = nil
                relay["left"] = nil
                extensions["relay"] = .object(relay)
                value = .object(extensions)
            }
            json.raw(UInt8(ascii: ","))
            json.write(name)
            json.raw(UInt8(ascii: ":"))
            json.write(value)
        }
        json.raw(UInt8(ascii: "}"))
    }
}
