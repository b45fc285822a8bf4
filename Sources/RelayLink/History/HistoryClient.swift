import HTTPMessages
package import RelayJSON
package import WebSocketIO

/// Asks a server about its history (`/log/…`, docs/http.md): the lines that `relay log list`, `relay blame` and others
/// print for the log's directory.
///
///     let history = HistoryClient(address, token: token, on: loop)
///     let writes = try await history.blame(record: "VG9kbzox", field: "text")
package struct HistoryClient: Sendable {
    /// Lines for programs, or for people.
    package enum LineForm: String, Sendable {
        case json = "application/x-ndjson"
        case text = "text/plain"
    }

    /// What is asked for: a page's name, such as `events`, and its parameters.
    package struct Question: Sendable {
        package var name: String
        package var parameters: [(name: String, value: String)]
        package var form = LineForm.json

        package init(
            _ name: String, _ parameters: [(name: String, value: String)] = [],
            form: LineForm = .json
        ) {
            self.name = name
            self.parameters = parameters
            self.form = form
        }

        fileprivate var query: String {
            parameters.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }
                .joined(separator: "&")
        }
    }

    /// Some of the lines, and where the others are.
    package struct Page: Sendable {
        /// Each with its end.
        package let bytes: [UInt8]
        /// The first and the last event that there were.
        package let firstEvent: UInt64?
        package let lastEvent: UInt64?
        /// The query of the next page; nil at the end.
        fileprivate let next: String?

        package var isLast: Bool { next == nil }

        /// The lines. What a terminal would obey is escaped: the server may be anybody's.
        package var lines: [String] {
            bytes.split(separator: UInt8(ascii: "\n")).map {
                String(decoding: $0, as: UTF8.self).printable
            }
        }
    }

    /// The most lines that a server puts on a page.
    package static let maximumLines = 10_000
    /// Pages without a line, one after the other: each may have been searched for seconds.
    private static let maximumEmptyPages = 10_000

    private let address: ServerAddress
    private let token: String?
    private let options: HTTPClient.Options
    private let loop: IOLoop

    /// - Parameters:
    ///   - address: the server's, as for GraphQL: `ws://HOST:PORT/graphql`.
    ///   - ca: certificates in PEM to check the server against; nil means the system's.
    package init(
        _ address: ServerAddress, token: String? = nil, ca: String? = nil, on loop: IOLoop
    ) {
        self.address = address
        self.token = token
        self.loop = loop
        var options = HTTPClient.Options(authorityFile: ca)
        // The server may have others to answer first.
        options.timeout = .seconds(120)
        self.options = options
    }

    /// Who wrote a record or one of its fields, the newest writes first: lines of `relay blame --json`.
    /// - Parameter limit: no more than so many.
    /// - Throws: ``HistoryRefusal``, `IOError`, and what is wrong with the answer.
    package func blame(
        record: String, field: String? = nil, limit: Int = 100
    ) async throws -> [JSONValue] {
        var parameters = [(name: "record", value: record)]
        if let field { parameters.append(("field", field)) }
        return try await lines(of: Question("blame", parameters), limit: limit)
    }

    /// The lines of an answer, parsed.
    package func lines(of question: Question, limit: Int) async throws -> [JSONValue] {
        var values: [JSONValue] = []
        var question = question
        question.parameters.append(("limit", String(min(max(limit, 1), Self.maximumLines))))
        try await forEachPage(of: question) { page in
            for line in page.lines where values.count < limit {
                values.append(try JSONValue(parsing: line))
            }
            return values.count < limit
        }
        return values
    }

    /// Fetches page after page.
    /// - Parameter take: returns false when it has enough.
    /// - Returns: the last page.
    @discardableResult
    package func forEachPage(
        of question: Question, _ take: (Page) throws -> Bool
    ) async throws -> Page {
        var query = question.query
        var emptyCount = 0
        var lineCount = 0
        while true {
            let page: Page
            do {
                page = try await self.page(question, query)
            } catch var refusal as HistoryRefusal {
                refusal.lineCount = lineCount
                throw refusal
            }
            lineCount += page.bytes.count { $0 == UInt8(ascii: "\n") }
            guard try take(page), let next = page.next else { return page }
            emptyCount = page.bytes.isEmpty ? emptyCount + 1 : 0
            // A server that leads nowhere would be asked for ever; a search may find nothing for many pages.
            guard next != query, emptyCount < Self.maximumEmptyPages else {
                throw HistoryRefusal(
                    status: 200, description: "\(address) does not say where its history goes on.")
            }
            query = next
        }
    }

    private func page(_ question: Question, _ query: String) async throws -> Page {
        var address = address
        address.path = path(of: question.name) + (query.isEmpty ? "" : "?\(query)")
        var headers: HTTPHeaders = ["accept": question.form.rawValue]
        if let token { headers.append("authorization", "Bearer \(token)") }
        let response = try await HTTPClient.send(
            to: address, headers: headers, options, on: loop)
        guard response.status == 200 else {
            throw HistoryRefusal(refusing: response, address)
        }
        let link = response.headers["link"]
        let next = link.flatMap(Self.query)
        // A page of another program has other lines, and leads elsewhere.
        let type = response.headers["content-type"]?.prefix { $0 != ";" }
        guard type.map(String.init) == question.form.rawValue,
            response.headers["relay-last-event"] != nil, link == nil || next != nil
        else {
            throw HistoryRefusal(
                status: 200,
                description: "\(address) does not answer as a relay server does about its history.")
        }
        return Page(
            bytes: response.body,
            firstEvent: response.headers["relay-first-event"].flatMap { UInt64($0) },
            lastEvent: response.headers["relay-last-event"].flatMap { UInt64($0) },
            next: next)
    }

    /// Beside the path of GraphQL, which a proxy may have moved.
    private func path(of name: String) -> String {
        var base = address.path.prefix { $0 != "?" }
        if base.hasSuffix("/graphql") { base = base.dropLast("/graphql".count) }
        while base.last == "/" { base.removeLast() }
        return base + "/log/" + name
    }

    /// The query of `<…?QUERY>; rel="next"` (RFC 8288).
    private static func query(ofNext link: String) -> String? {
        guard link.first == "<", let end = link.firstIndex(of: ">"),
            link[end...].contains("rel=\"next\""), let mark = link.firstIndex(of: "?"), mark < end
        else { return nil }
        return String(link[link.index(after: mark)..<end])
    }
}

/// Why a server does not tell about its history.
package struct HistoryRefusal: Error, CustomStringConvertible, Sendable {
    /// Of the answer.
    package let status: Int
    /// A sentence, as the server has put it.
    package let description: String
    /// The lines on the pages before it.
    package fileprivate(set) var lineCount = 0

    /// Whether the answer needs what damage of the log hides.
    package var isDamage: Bool { status == 500 }

    fileprivate init(status: Int, description: String) {
        self.status = status
        self.description = description
    }

    fileprivate init(refusing response: HTTPResponse, _ address: ServerAddress) {
        status = response.status
        // A page of another program, or of a proxy, says nothing to people.
        description =
            Self.sentence(in: response)?.printable
            ?? "\(address) answered \(address.path) with status \(response.status)."
    }

    /// `{"errors": [{"message": …}]}`, or plain text.
    private static func sentence(in response: HTTPResponse) -> String? {
        let body = response.body.prefix(4_096)
        let type = response.headers["content-type"]?.prefix { $0 != ";" }
        if type == "application/json" {
            return (try? JSONValue(parsing: body))?["errors"]?.array?.first?["message"]?.string
        }
        guard type == "text/plain" else { return nil }
        return String(decoding: body, as: UTF8.self).split(separator: "\n").first.map(String.init)
    }
}
