public import RelayArtifacts
package import RelayJSON

/// Somebody who uses a server, as authentication names them.
public struct Viewer: Sendable {
    /// Never empty. Ids are equal if their bytes are.
    public let id: String
    /// What else is known of the viewer, by name: strings, numbers, booleans, and lists of these. Rules take lists for
    /// sets, so they are sorted, without repetitions, and equal numbers are the same.
    package let claimValues: JSONObject
    /// Until when this is known, in microseconds since 1970; nil: as long as the client is connected. It is no part of who
    /// the viewer is.
    public let expiresAt: Int64?

    /// What else is known of the viewer, by name: strings, numbers, booleans, and lists of these, which are sorted.
    public var claims: VariableData { VariableData(claimValues) }

    /// - Parameters:
    ///   - id: not empty.
    ///   - expiresAt: when the session or token ends, in microseconds since 1970; nil: it does not.
    public init(id: String, claims: VariableData = VariableData(), expiresAt: Int64? = nil) {
        self.init(id: id, claimValues: claims.json, expiresAt: expiresAt)
    }

    package init(id: String, claimValues: JSONObject, expiresAt: Int64? = nil) {
        self.id = id
        self.claimValues = JSONObject(
            claimValues.members.map { ($0.key, $0.value.canonical.asSet) })
        self.expiresAt = expiresAt
    }

    private init(_ viewer: Viewer, keeping claims: Set<String>) {
        id = viewer.id
        claimValues = JSONObject(
            viewer.claimValues.members.filter { claims.contains($0.key) }
                .map { ($0.key, $0.value) })
        expiresAt = nil
    }

    fileprivate func keeping(claims: Set<String>) -> Viewer {
        Viewer(self, keeping: claims)
    }
}

extension Viewer: Hashable {
    public static func == (left: Viewer, right: Viewer) -> Bool {
        left.id.isSame(as: right.id) && left.claimValues == right.claimValues
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(ExactText(id)) }
}

/// Who sends a request.
package enum Identity: Sendable, Hashable {
    /// Everything is allowed: no authentication is configured, or the token has no name, or whoever asks can read the
    /// directory anyway.
    case unrestricted
    /// Somebody without a token.
    case nobody
    case viewer(Viewer)

    /// The same with these claims only. Others may differ from one token of a viewer to the next.
    package func keeping(claims: Set<String>) -> Identity {
        viewer.map { .viewer($0.keeping(claims: claims)) } ?? self
    }

    /// Who sent a mutation that is in the log, without claims.
    package init(logged: String?) {
        self =
            switch logged {
            case nil: .unrestricted
            case ""?: .nobody
            case let id?: .viewer(Viewer(id: id))
            }
    }

    package var viewer: Viewer? { if case .viewer(let viewer) = self { viewer } else { nil } }

    package var viewerID: String? { viewer?.id }

    /// What the log keeps, and what mutation ids belong to: no id is empty, so that is nobody's.
    package var logged: String? {
        switch self {
        case .unrestricted: nil
        case .nobody: ""
        case .viewer(let viewer): viewer.id
        }
    }
}

extension JSONValue {
    /// A list sorted, without repetitions.
    fileprivate var asSet: JSONValue {
        guard case .array(let elements) = self, elements.count > 1 else { return self }
        let sorted = elements.map { (text: $0.text, element: $0) }
            .sorted { $0.text < $1.text }
        let first = sorted.enumerated().filter { $0 == 0 || sorted[$0 - 1].text != $1.text }
        return .array(first.map(\.element.element))
    }
}
