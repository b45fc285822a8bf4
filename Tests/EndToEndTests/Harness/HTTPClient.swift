/// A plain HTTP/1.1 client over one connection that is kept alive.
final class HTTPClient: Sendable {
    struct Reply: Sendable {
        let status: Int
        /// Names in lower case.
        let headers: [String: String]
        let body: String
    }

    private let connection: RawConnection
    private let port: Int

    init(port: Int) throws {
        self.port = port
        connection = try RawConnection(port: port)
    }

    /// POSTs `body` to /graphql as JSON.
    func post(_ body: String, headers: [String: String] = [:]) throws -> Reply {
        let headers = ["content-type": "application/json"].merging(headers) { $1 }
        return try request("POST", "/graphql", headers: headers, body: body)
    }

    func get(_ path: String) throws -> Reply { try request("GET", path) }

    private func request(
        _ method: String, _ path: String, headers: [String: String] = [:], body: String = ""
    ) throws -> Reply {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if method == "POST" { head += "content-length: \(body.utf8.count)\r\n" }
        try connection.send(Array((head + "\r\n" + body).utf8))
        return try reply()
    }

    private func reply() throws -> Reply {
        let lines = try connection.receive(through: "\r\n\r\n").split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw Failure("This is no status line: \(lines.first ?? "")")
        }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw Failure("This is no header: \(line)") }
            headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        guard let length = headers["content-length"].flatMap({ Int($0) }) else {
            throw Failure("The reply does not say how long it is: \(headers)")
        }
        let body = try connection.receive(count: length)
        return Reply(
            status: status, headers: headers, body: String(decoding: body, as: UTF8.self))
    }
}
