import Dispatch
import Foundation
import Threads

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends what `URLSession.shared` is asked of a host of the documentation (`www.example.org`) to a service
/// on this machine, so that code of the documentation runs as it stands.
package enum Redirect {
    fileprivate static let ports = Lock<[String: Int]>([:])
    private static let registered: Void = { _ = URLProtocol.registerClass(Redirection.self) }()

    package static func host(_ host: String, to service: TodoService) {
        _ = registered
        ports.withLock { $0[host] = service.port }
    }
}

/// One redirected request.
private final class Redirection: URLProtocol {
    override static func canInit(with request: URLRequest) -> Bool { port(request) != nil }

    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    private static func port(_ request: URLRequest) -> Int? {
        guard let host = request.url?.host else { return nil }
        return Redirect.ports.withLock { $0[host] }
    }

    override func startLoading() {
        guard let port = Self.port(request),
            let url = URL(string: "http://127.0.0.1:\(port)\(request.url?.path ?? "")")
        else {
            client?.urlProtocol(self, didFailWithError: URLError(.badURL))
            return
        }
        var redirected = request
        redirected.url = url
        // Foundation says of no URLProtocol that it may cross threads, and calls its client from any.
        nonisolated(unsafe) let loading = self
        // All sessions share one queue, on which this method is called and on which a task is made.
        DispatchQueue.global().async { [redirected] in
            URLSession.shared.dataTask(with: redirected) { data, response, error in
                loading.finish(data, response, error)
            }.resume()
        }
    }

    private func finish(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        if let response {
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        }
        if let data { client?.urlProtocol(self, didLoad: data) }
        if let error {
            client?.urlProtocol(self, didFailWithError: error)
        } else {
            client?.urlProtocolDidFinishLoading(self)
        }
    }

    /// Nothing: what it asks of this machine is answered at once.
    override func stopLoading() {}
}
