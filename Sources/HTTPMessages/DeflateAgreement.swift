/// What client and server agree on about permessage-deflate. RFC 7692 §7.1. A pure value.
package struct DeflateAgreement: Equatable {
    /// How far back the server's messages refer, as a power of two, if it is said: 8 to 15.
    package var serverMaxWindowBits: Int?
    /// How far back the client's messages refer, likewise.
    package var clientMaxWindowBits: Int?
    /// Whether the server's messages refer to earlier ones.
    package var serverKeepsContext = true
    /// Whether the client's messages refer to earlier ones.
    package var clientKeepsContext = true

    /// What is meant where nothing is said.
    package static let usualWindowBits = 15

    // MARK: - A server's side

    /// The first of a client's offers that can be accepted, in its order of preference; nil if there is none.
    ///
    /// - Parameter extensions: the values of the `Sec-WebSocket-Extensions` fields.
    package init?(offers extensions: [String]) {
        for offer in extensions.flatMap(ExtensionOffer.offers(in:)) {
            if offer.name == "permessage-deflate", let agreement = DeflateAgreement(offer) {
                self = agreement
                return
            }
        }
        return nil
    }

    /// Nil when the offer has to be declined (§7.1: a parameter that is unknown, comes twice, or has a value that it
    /// may not have).
    private init?(_ offer: ExtensionOffer) {
        // We ask clients for it: a window of 32 KB for each connection is more than all the rest of it.
        clientKeepsContext = false
        var seen: Set<String> = []
        for (name, value) in offer.parameters {
            guard seen.insert(name).inserted else { return nil }
            switch (name, value) {
            case ("server_no_context_takeover", nil): serverKeepsContext = false
            case ("client_no_context_takeover", nil): break
            case ("server_max_window_bits", let value?):
                guard let bits = Self.windowBits(value) else { return nil }
                serverMaxWindowBits = bits
            // What the client may send we can read, whatever its window.
            case ("client_max_window_bits", nil): break
            case ("client_max_window_bits", let value?):
                guard Self.windowBits(value) != nil else { return nil }
            default: return nil
            }
        }
        // zlib compresses for no window as small as 256 bytes.
        if serverMaxWindowBits == 8 { return nil }
    }

    /// §7.1.2: a number from 8 to 15, without leading zeros.
    private static func windowBits(_ value: String) -> Int? {
        guard value.first != "0", value.allSatisfy(\.isASCIIDigit), let bits = Int(value),
            (8...15).contains(bits)
        else { return nil }
        return bits
    }

    /// The value of the answer's field.
    package var answer: String {
        var answer = "permessage-deflate"
        if !serverKeepsContext { answer += "; server_no_context_takeover" }
        if !clientKeepsContext { answer += "; client_no_context_takeover" }
        // §7.1.2.1: who asks for it wants to hear it, also when it is what is usual.
        if let bits = serverMaxWindowBits { answer += "; server_max_window_bits=\(bits)" }
        return answer
    }

    // MARK: - A client's side

    /// The value of the field with which our clients offer compression: the server may choose their window.
    package static let offer = "permessage-deflate; client_max_window_bits"

    /// What a server's answer to `offer` says; nil when it is none to it (§7.1: then the connection is failed).
    ///
    /// - Parameter extensions: the values of the answer's `Sec-WebSocket-Extensions` fields.
    package init?(answer extensions: [String]) {
        let members = extensions.flatMap(ExtensionOffer.members(of:))
        guard members.count == 1, let answer = members[0], answer.name == "permessage-deflate"
        else {
            return nil
        }
        var seen: Set<String> = []
        for (name, value) in answer.parameters {
            guard seen.insert(name).inserted else { return nil }
            switch (name, value) {
            case ("server_no_context_takeover", nil): serverKeepsContext = false
            case ("client_no_context_takeover", nil): clientKeepsContext = false
            case ("server_max_window_bits", let value?):
                guard let bits = Self.windowBits(value) else { return nil }
                serverMaxWindowBits = bits
            case ("client_max_window_bits", let value?):
                guard let bits = Self.windowBits(value) else { return nil }
                clientMaxWindowBits = bits
            default: return nil
            }
        }
    }
}

/// One member of a `Sec-WebSocket-Extensions` field. RFC 6455 §9.1.
struct ExtensionOffer: Equatable {
    var name: String
    var parameters: [(name: String, value: String?)] = []

    static func == (left: ExtensionOffer, right: ExtensionOffer) -> Bool {
        left.name == right.name && left.parameters.elementsEqual(right.parameters, by: ==)
    }

    /// The members of a field, in order; those that are badly formed are left out.
    static func offers(in field: String) -> [ExtensionOffer] {
        members(of: field).compactMap { $0 }
    }

    /// The members of a field, in order; nil stands for one that is badly formed.
    static func members(of field: String) -> [ExtensionOffer?] {
        split(field[...], at: ",").map(ExtensionOffer.init)
    }

    private init?(_ text: Substring) {
        let parts = Self.split(text, at: ";")
        guard let name = parts.first, !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else {
            return nil
        }
        self.name = name.lowercased()
        for part in parts.dropFirst() {
            let equals = part.firstIndex(of: "=")
            let name = part[..<(equals ?? part.endIndex)].trimmingBlanks
            guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else { return nil }
            var value = equals.map { part[part.index(after: $0)...].trimmingBlanks }
            if let quoted = value, quoted.count >= 2, quoted.first == "\"", quoted.last == "\"" {
                value = quoted.dropFirst().dropLast()
            }
            if let value, value.isEmpty || !value.allSatisfy(\.isTokenCharacter) { return nil }
            parameters.append((name.lowercased(), value.map(String.init)))
        }
    }

    /// The parts between separators outside quotes, without surrounding blanks.
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var parts: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        for index in text.indices {
            if text[index] == "\"" { isQuoted.toggle() }
            if text[index] == separator, !isQuoted {
                parts.append(text[start..<index].trimmingBlanks)
                start = text.index(after: index)
            }
        }
        parts.append(text[start...].trimmingBlanks)
        return parts
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }

    /// RFC 9110 §5.6.2.
    fileprivate var isTokenCharacter: Bool {
        isASCII && (isLetter || isNumber || "!#$%&'*+-.^_`|~".contains(self))
    }
}
