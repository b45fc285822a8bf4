import GraphQLExecution
import HTTPMessages
import Logging
import RelayJSON
import RelayRecords
import StoreEngine
import WebSocketIO

/// GraphQL over HTTP.
extension Front {
    func respondToGraphQL(_ http: HTTPRequest, _ responder: HTTPResponder) {
        if http.method == "OPTIONS" {
            // Before anything else: a browser's preflight request carries no token.
            responder.respond(
                origins.answer(toOptions: http, methods: "GET, HEAD, POST, OPTIONS"))
            return
        }
        let headers = origins.headers(for: http)
        var ofAnswers = headers
        if !authentication.isOpen, http.method != "POST" {
            // It depends on who asks, and no cache may give it to somebody else.
            ofAnswers.append("cache-control", "no-store")
            ofAnswers.append("vary", "authorization, cookie")
        }
        let answer: @Sendable (HTTPResponse) -> Void = { [service, ofAnswers] response in
            var response = response
            response.headers.append(ofAnswers)
            // A client that retries should reach another server, or none.
            response.endsConnection = service.isStopping
            responder.respond(response)
        }
        do throws(GraphQLOverHTTP.Refusal) {
            let exchange = try GraphQLOverHTTP(http)
            let (identity, until) = try viewer(of: http, exchange)
            // Parsing and executing take their time elsewhere; the loop's thread only moves bytes.
            Task.detached {
                if exchange.wantsEventStream {
                    self.stream(exchange, identity, until, responder, headers, answer)
                } else {
                    self.execute(exchange, identity, answer)
                }
            }
        } catch {
            answer(error.response)
        }
    }

    /// Who asks; nil if nobody may ask without a valid token.
    func identity(of http: HTTPRequest) -> (Identity, until: Int64?)? {
        let decision = authentication.orNobody(
            authentication.decide(headers: http.headers),
            mayBeNobody: hosts.admitsWithoutToken(http))
        if case .admitted(let identity, let until) = decision {
            return (identity, until)
        }
        logger.debug("A request has no valid token.", metadata: ["peer": "\(http.peerAddress)"])
        return nil
    }

    func viewer(
        of http: HTTPRequest, _ exchange: GraphQLOverHTTP
    ) throws(GraphQLOverHTTP.Refusal) -> (Identity, until: Int64?) {
        if let known = identity(of: http) { return known }
        let error = ExecutionError(Authentication.refusal, code: .unauthenticated)
        throw exchange.refusal(401, error, headers: Authentication.challenge)
    }

    private func execute(
        _ exchange: GraphQLOverHTTP, _ identity: Identity,
        _ answer: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        do throws(GraphQLOverHTTP.Refusal) {
            let request = try exchange.request(from: identity)
            let operation: PreparedOperation
            do throws(ExecutionErrors) {
                operation = try service.prepare(request)
            } catch {
                return answer(exchange.response(.refused(error.errors)))
            }
            try exchange.check(operation)
            service.execute(operation, request) { answer(exchange.response($0)) }
        } catch {
            answer(error.response)
        }
    }

    // MARK: Server-sent events

    /// Errors in the operation itself are sent in the stream: a browser that gets another status shows its
    /// page nothing (graphql-sse §Distinct connections mode).
    private func stream(
        _ exchange: GraphQLOverHTTP, _ identity: Identity, _ until: Int64?,
        _ responder: HTTPResponder,
        _ headers: HTTPHeaders, _ refuse: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        do throws(GraphQLOverHTTP.Refusal) {
            let request = try exchange.request(from: identity)
            let prepared: Result<PreparedOperation, ExecutionErrors> = Result {
                () throws(ExecutionErrors) in try service.prepare(request)
            }
            if case .success(let operation) = prepared { try exchange.check(operation) }
            let stream = EventStream(
                on: loop, resumeCursor: request.resumeCursor, limit: limits.streamQueueBytes
            ) { [service, progress] stream in
                service.unsubscribe(stream)
                progress.remove(stream)
            }
            progress.add(stream)
            guard stream.start(responder, headers: headers) else { return progress.remove(stream) }
            if let until, case .success(let operation) = prepared, operation.isStream {
                stream.endWithToken(at: until)
            }
            do throws(ExecutionErrors) {
                let operation = try prepared.get()
                if operation.isStream {
                    try service.subscribe(operation, request, sink: stream)
                } else {
                    service.execute(operation, request) { stream.finish($0) }
                }
            } catch {
                stream.finish(.refused(error.errors))
            }
        } catch {
            refuse(error.response)
        }
    }
}
