import HTTPMessages
import JSONWebTokens
import RelayJSON
import WebSocketIO

/// Why keys were not fetched.
struct KeyURLError: Error, Equatable, Sendable {
    enum Reason: Equatable, Sendable {
        /// There was no whole answer.
        case noAnswer(IOError)
        case status(Int)
        /// Redirections are not followed: the address is what is trusted.
        case redirection(status: Int, to: String?)
        case encoding(String)
        case unusable(KeySetError)
    }

    let url: String
    let reason: Reason

    /// Whether it will most likely be the same later, unless somebody changes something: what answers is not what gives
    /// keys. A server that is down, or says so, may be back at once.
    var isLasting: Bool {
        switch reason {
        case .noAnswer(let error): [.tooLarge, .badCredentials, .stopped].contains(error.code)
        case .status(let status): !(500...599).contains(status) && ![408, 429].contains(status)
        case .redirection, .encoding, .unusable: true
        }
    }
}

extension KeyURLError: CustomStringConvertible {
    var description: String {
        switch reason {
        case .noAnswer(let error): "Could not fetch the keys from \(url). \(error)"
        case .status(let status):
            "Could not fetch the keys from \(url): it answered with HTTP status \(status)."
        case .redirection(let status, let target):
            "Could not fetch the keys from \(url): it answered with HTTP status \(status), which leads to "
                + "\(target.map(Self.quoted) ?? "nowhere"), and redirections are not followed."
        case .encoding(let name):
            "Could not fetch the keys from \(url): its answer is encoded as \(Self.quoted(name)), "
                + "which it was not asked for."
        case .unusable(let error): "Could not use the keys from \(url): \(error)"
        }
    }

    private static func quoted(_ text: String) -> String {
        JSONValue.string(text.shortened(to: 256)).text
    }
}

extension HTTPResponse {
    /// RFC 9111 §4.2.1: how long keys may be used before they are fetched again; nil if the answer does not say so.
    /// (`Expires` needs clocks that agree.)
    var freshness: Duration? {
        let directives = headers.list(in: "cache-control").map { $0.lowercased() }
        if directives.contains("no-store") || directives.contains("no-cache") { return .zero }
        let age = headers["age"].flatMap(Self.seconds) ?? 0
        for directive in directives {
            let parts = directive.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == "max-age" else { continue }
            // RFC 9111 §5.2: in quotes, too.
            let value = parts[1].filter { $0 != "\"" }
            if let seconds = Self.seconds(value) { return .seconds(max(seconds - age, 0)) }
        }
        return nil
    }

    /// RFC 9111 §1.2.2: what is too large is as good as 2^31.
    private static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return min(Int(text) ?? .max, 1 << 31)
    }
}
