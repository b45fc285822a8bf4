import HTTPMessages
import WebSocketIO

/// A media type or a range of them, with its parameters, as Content-Type and Accept have them
/// (RFC 9110 §8.3.1, §12.5.1).
struct MediaType {
    /// `type/subtype`, in lower case; `*` stands for any.
    let name: String
    /// By name; names and values in lower case.
    let parameters: [String: String]

    init(_ text: String) {
        let parts = text.lowercased().split(separator: ";", omittingEmptySubsequences: false)
        name = parts.first.map { $0.trimmed } ?? ""
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() {
            guard let equals = part.firstIndex(of: "=") else { continue }
            let value = part[part.index(after: equals)...].trimmed
            parameters[part[..<equals].trimmed] = value.filter { $0 != "\"" }
        }
        self.parameters = parameters
    }

    /// The text is UTF-8, or does not say what it is (GraphQL over HTTP §Media Types: then it is).
    var isUTF8: Bool {
        let charset = parameters["charset"]
        return charset == nil || charset == "utf-8" || charset == "utf8"
    }

    /// The client's preference: 0 is not at all, 1 most. A weight that is not a number counts as 1.
    var quality: Double { parameters["q"].flatMap(Double.init).map { min(max($0, 0), 1) } ?? 1 }

    /// How closely this range describes a type; nil when it is not one of the range.
    func specificity(for type: String) -> Int? {
        if name == type { return 2 }
        if name == "*/*" { return 0 }
        guard name.hasSuffix("/*") else { return nil }
        return type.hasPrefix(name.dropLast()) ? 1 : nil
    }
}

extension HTTPHeaders {
    /// Whether the client would rather have one media type than another, which it gets otherwise.
    func prefers(_ type: String, to other: String) -> Bool {
        let ranges = list(in: "accept").map(MediaType.init)
        func quality(_ type: String) -> Double {
            ranges.max { ($0.specificity(for: type) ?? -1) < ($1.specificity(for: type) ?? -1) }
                .flatMap { $0.specificity(for: type) == nil ? nil : $0.quality } ?? 0
        }
        return quality(type) > quality(other)
    }
}

/// What a response may be labelled as (GraphQL over HTTP §Media Types).
enum ResponseMediaType: String, CaseIterable {
    // The order is that of preference where a client leaves the choice.
    case json = "application/json"
    case graphQLResponse = "application/graphql-response+json"
    /// Server-sent events, for those who name them (graphql-sse, distinct connections).
    case eventStream = "text/event-stream"

    /// The type that the client prefers; of equals the one it names first. Nil when it takes neither.
    ///
    /// A client that does not say gets the newer type (§Legacy Watershed).
    static func negotiated(_ headers: HTTPHeaders) -> ResponseMediaType? {
        let ranges = headers.list(in: "accept").map(MediaType.init)
        if ranges.isEmpty { return .graphQLResponse }
        var best: (type: ResponseMediaType, quality: Double, place: Int)?
        for type in allCases {
            guard let place = type.place(in: ranges) else { continue }
            let quality = ranges[place].quality
            if quality == 0 { continue }
            if let best, (best.quality, place) >= (quality, best.place) { continue }
            best = (type, quality, place)
        }
        return best?.type
    }

    /// Which of the ranges says the quality of this type: the one that describes it most closely.
    private func place(in ranges: [MediaType]) -> Int? {
        var best: (place: Int, specificity: Int)?
        for (place, range) in ranges.enumerated() where range.isUTF8 {
            guard let specificity = range.specificity(for: rawValue),
                specificity > best?.specificity ?? -1,
                // A client that takes anything does not mean a stream.
                self != .eventStream || range.name == rawValue
            else { continue }
            best = (place, specificity)
        }
        return best?.place
    }
}

extension Substring {
    /// Without blanks at both ends.
    var trimmed: String {
        String(
            drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
