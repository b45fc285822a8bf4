public import Logging
public import Publishing
@_spi(Rooms) import RelayStore

extension Environment {
    /// What happens to operations and to the store, as it happens, from now on. At most 1,024 events
    /// wait; beyond that the oldest is dropped.
    public var events: AsyncStream<ExecutionEvent> { log.stream(limit: 1_024) }

    /// The same as a publisher. A subscriber without demand misses events.
    public var eventPublisher: AnyPublisher<ExecutionEvent, Never> {
        Deferred { [log] in
            let events = PassthroughSubject<ExecutionEvent, Never>()
            let subject = Transfer(value: events)
            let listening = log.listen { subject.value.send($0) }
            return events.handleEvents(receiveCancel: { listening.cancel() })
        }.eraseToAnyPublisher()
    }

    /// Writes events to a logger (swift-log): failures as errors or warnings, everything else at `level`.
    ///
    ///     let logging = environment.log(to: Logger(label: "todo"))
    ///
    /// - Returns: what ends the logging; keep it.
    public func log(to logger: Logger, level: Logger.Level = .debug) -> AnyCancellable {
        let listening = log.listen { event in
            let level = event.level ?? level
            guard logger.logLevel <= level else { return }
            logger.log(level: level, "\(event.name.rawValue)", metadata: event.metadata)
        }
        return AnyCancellable { listening.cancel() }
    }
}

extension ExecutionEvent {
    /// nil: nothing out of the ordinary.
    fileprivate var level: Logger.Level? {
        switch name {
        case .networkError, .executeError, .missingRequiredFieldThrow: .error
        case .networkInfo, .missingRequiredFieldLog, .fieldPayloadError, .storeSnapshotKept,
            .logOverflow, .executeOptimisticError:
            .warning
        default: nil
        }
    }

    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        if let operation { metadata["operation"] = "\(operation)" }
        if let transactionID { metadata["transaction"] = "\(transactionID)" }
        if let path { metadata["path"] = "\(path.joined(separator: "."))" }
        if let count { metadata["count"] = "\(count)" }
        if let error { metadata["error"] = "\(error)" }
        return metadata
    }
}
