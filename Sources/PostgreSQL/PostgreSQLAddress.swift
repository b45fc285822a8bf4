/// Where a database is, and as whom: `postgres://USER@HOST:PORT/DATABASE?…`, as libpq reads it.
///
/// All of libpq's parameters may follow the question mark, such as `sslmode=verify-full`, and what is not said comes
/// from its environment variables (`PGPASSWORD`, …) and its password file. Several hosts may be given. Parameters
/// that are ours are taken out by name (``PostgreSQLAddress/init(parsing:taking:)``).
///
/// As text it has no password.
package struct PostgreSQLAddress: Sendable, CustomStringConvertible {
    /// The values of parameters that are not libpq's.
    package let ownParameters: [String: String]
    /// The same without password and without parameters of any kind.
    package let description: String
    let parameters: [Parameter]
    private let passwords: [String]

    struct Parameter: Sendable {
        let keyword: String
        let value: String
    }

    private static let schemes = ["postgres://", "postgresql://"]

    /// Whether a text is meant as such an address.
    package static func isOne(_ text: some StringProtocol) -> Bool {
        schemes.contains { text.hasPrefix($0) }
    }

    /// - Parameter own: names of parameters that libpq does not know.
    /// - Throws: `badAddress`; `noLibrary`.
    package init(parsing text: String, taking own: Set<String> = []) throws(PostgreSQLError) {
        guard Self.isOne(text) else {
            throw .badAddress("it begins with neither postgres:// nor postgresql://")
        }
        var ownParameters: [String: String] = [:]
        var base = text[...]
        var kept: [Substring] = []
        if let question = text.firstIndex(of: "?") {
            base = text[..<question]
            for part in text[text.index(after: question)...].split(separator: "&") {
                let name = part.prefix { $0 != "=" }
                guard own.contains(String(name)) else {
                    kept.append(part)
                    continue
                }
                ownParameters[String(name)] = String(part.dropFirst(name.count + 1))
            }
        }
        let rest = kept.isEmpty ? String(base) : base + "?" + kept.joined(separator: "&")
        let parameters = try Self.parameters(of: rest)
        self.parameters = parameters
        self.ownParameters = ownParameters
        let secrets = ["password", "sslpassword"]
        // The longest first: one may be a part of the other.
        passwords = parameters.filter { secrets.contains($0.keyword) && !$0.value.isEmpty }
            .map(\.value).sorted { $0.count > $1.count }
        description = Self.text(of: parameters)
    }

    private static func parameters(of text: String) throws(PostgreSQLError) -> [Parameter] {
        let library = try LibPQ.shared.get()
        var fault: UnsafeMutablePointer<CChar>?
        guard let options = library.parse(text, &fault) else {
            defer { library.freeMemory(fault) }
            // What libpq says may repeat any part of the text, and so a password.
            let isSecret = text.contains("@") || text.contains("password")
            let reason = fault.map { String(cString: $0) } ?? "no reason is known"
            throw .badAddress(
                isSecret ? "libpq cannot parse it" : reason.trimmed.replacing("\n", with: "; "))
        }
        defer { library.freeOptions(options) }
        var parameters: [Parameter] = []
        var option = LibPQ.Option(options)
        while let keyword = option.keyword {
            if let value = option.value {
                parameters.append(
                    Parameter(
                        keyword: String(cString: keyword), value: String(cString: value)))
            }
            option = option.next
        }
        return parameters
    }

    private static func text(of parameters: [Parameter]) -> String {
        func value(_ keyword: String) -> String? {
            parameters.first { $0.keyword == keyword }?.value
        }
        let user = value("user").map { $0 + "@" } ?? ""
        let ports = value("port")?.split(separator: ",").map { ":" + $0 } ?? []
        let hosts = (value("host") ?? value("hostaddr") ?? "").split(
            separator: ",", omittingEmptySubsequences: false)
        let places = hosts.enumerated().map { index, host in
            host + (ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : "")
        }
        return "postgres://" + user + places.joined(separator: ",") + "/" + (value("dbname") ?? "")
    }

    /// The parameters for each of the servers that are named, in their order. libpq could try them all, but does not
    /// give one up that says nothing (see `PostgreSQLConnection`).
    var hosts: [[Parameter]] {
        func values(_ keyword: String) -> [Substring]? {
            parameters.first { $0.keyword == keyword }?.value
                .split(separator: ",", omittingEmptySubsequences: false)
        }
        let count = (values("hostaddr") ?? values("host"))?.count ?? 1
        let lists = ["host", "hostaddr", "port"].compactMap { keyword in
            values(keyword).map { (keyword, values: $0) }
        }
        // Of lists that do not go together libpq says so. One port is that of all.
        guard count > 1,
            lists.allSatisfy({ keyword, values in
                values.count == count || keyword == "port" && values.count == 1
            })
        else { return [parameters] }
        let others = parameters.filter { parameter in
            !lists.contains { $0.0 == parameter.keyword }
        }
        return (0..<count).map { index in
            others
                + lists.map { keyword, values in
                    Parameter(keyword: keyword, value: String(values[min(index, values.count - 1)]))
                }
        }
    }

    /// What libpq says, for an error: one line without the passwords.
    func withoutPassword(_ text: String) -> String {
        var text = text.trimmed.replacing("\n", with: "; ")
        while text.hasSuffix(".") { text.removeLast() }
        return passwords.reduce(text) { $0.replacing($1, with: "…") }
    }
}

extension StringProtocol {
    /// Without white space at both ends.
    var trimmed: String {
        let kept = drop { $0.isWhitespace }
        return String(kept.reversed().drop { $0.isWhitespace }.reversed())
    }
}
