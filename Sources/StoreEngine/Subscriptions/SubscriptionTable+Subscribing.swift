import GraphQLExecution
import GraphQLLanguage
@_spi(Rooms) import RelayRecords
import ResultPatches
import SchemaService

/// How subscriptions start, resume and end.
extension SubscriptionTable {
    mutating func subscribe(_ prepared: PreparedSubscription) {
        let request = prepared.request
        let group: SubscriptionGroup
        do throws(ExecutionError) {
            group = try self.group(for: prepared)
        } catch {
            let field = prepared.operation.plan(for: prepared.variables).root.fields.first
            tell(request.sink, .failed([error.at(field)]))
            return
        }
        if group.patching != nil, !request.hasHadResult, case .events = group.trigger {
            group.newSinks.insert(ObjectIdentifier(request.sink))
        }
        switch request.start {
        case .now:
            break
        case .resume(let text):
            let cursor = StreamCursor(text).flatMap {
                identity.has($0, through: snapshot.sequence) ? $0 : nil
            }
            guard let cursor else {
                announce(request.sink, recovered: false, snapshot.sequence)
                break
            }
            if case .live = group.trigger {
                announce(request.sink, recovered: true, cursor.sequence)
                break
            }
            // If much was missed, catch-up happens elsewhere: paced, and executed once for equal
            // subscriptions.
            guard let missed = recent.missed(after: cursor.sequence),
                missed.commits.count <= Self.resumeLimit
            else { return send(request, behind: cursor.sequence, dropping: group) }
            announce(request.sink, recovered: true, cursor.sequence)
            if let (rest, told) = tell(request, missed, behind: cursor.sequence, group) {
                return send(rest, behind: told, dropping: group)
            }
        case .after(let sequence):
            // A pass over memory ends where the head was when it started. If much has arrived since, another
            // pass delivers it. Each pass gets further than the one before, so the loop always makes
            // progress.
            guard let missed = recent.missed(after: sequence),
                missed.commits.count <= Self.resumeLimit
            else { return send(request, behind: sequence, dropping: group) }
            if let (rest, told) = tell(request, missed, behind: sequence, group) {
                return send(rest, behind: told, dropping: group)
            }
        case .lost:
            announce(request.sink, recovered: false, snapshot.sequence)
        }
        assert(groupsBySink[ObjectIdentifier(request.sink)] == nil, "a sink is in one group")
        group.sinks.insert(request.sink)
        groupsBySink[ObjectIdentifier(request.sink)] = group.id
        if let result = group.lastResult {
            // The expected state may belong to an earlier durable state.
            let sequence = visible(to: group).sequence
            tell(request.sink, .latest(response(result, at: sequence)))
        }
        guard case .now = request.start else { return tell(request.sink, .caughtUp) }
        if case .events = group.trigger {
            tell(request.sink, .began(at: identity.cursor(snapshot.sequence).text))
        }
    }

    /// The first message of a resumed stream.
    private mutating func announce(
        _ sink: any SubscriptionSink, recovered: Bool, _ sequence: UInt64
    ) {
        let notes = RelayNotes(cursor: identity.cursor(sequence), recovered: recovered)
        output.append(.missed(Response(notes), to: sink))
    }

    /// Delivers the events that a subscription missed, while there is room.
    /// - Returns: if room ran out, the rest of the request, and the event up to which everything was
    ///   delivered.
    private mutating func tell(
        _ request: SubscriptionRequest,
        _ missed: (before: Snapshot, commits: ArraySlice<MutationCommit>), behind start: UInt64,
        _ group: SubscriptionGroup
    ) -> (rest: SubscriptionRequest, told: UInt64)? {
        var request = request
        var told = start
        var before = missed.before
        for commit in missed.commits {
            if request.sink.isFull { return (request.starting(.after(told)), told) }
            told = commit.snapshot.sequence
            defer { before = commit.snapshot }
            guard let result = event(self.told(commit, before: before), for: group) else {
                continue
            }
            group.newSinks.remove(ObjectIdentifier(request.sink))
            let response =
                if request.hasHadResult, let normalizer = group.patching {
                    Response(event: result, normalizer, notes(result, at: told))
                } else {
                    response(result, at: told)
                }
            request.hasHadResult = true
            output.append(.missed(response, to: request.sink))
        }
        return nil
    }

    private mutating func send(
        _ request: SubscriptionRequest, behind sequence: UInt64, dropping group: SubscriptionGroup
    ) {
        output.behind.append((request, sequence))
        group.newSinks.remove(ObjectIdentifier(request.sink))
        removeIfEmpty(group)
    }

    private mutating func group(
        for prepared: PreparedSubscription
    ) throws(ExecutionError) -> SubscriptionGroup {
        let request = prepared.request
        let key = SubscriptionGroup.Key(
            operation: ObjectIdentifier(prepared.operation), variables: prepared.variables,
            scope: service.scope(of: prepared.identity, prepared.operation),
            sendsRecords: request.sendsRecords, showsOptimistic: request.showsOptimistic)
        if let id = groupIDs[key], let known = groups[id] { return known }
        guard memory.hasRoom(for: prepared.identity, limit: memoryLimit) else {
            throw Self.memoryLimitError
        }
        let plan = prepared.operation.plan(for: prepared.variables)
        lastGroupID += 1
        let group = SubscriptionGroup(
            lastGroupID, key, prepared.identity, prepared.operation, plan, .live(Dependencies()),
            normalization: prepared.normalization)
        let question = try EventQuestion(
            plan, prepared.variables, identity: group.identity, on: snapshot, service)
        if let question {
            group.trigger = .events(question)
            for mutation in question.events.mutations {
                eventGroups[mutation, default: []].insert(group.id)
            }
        } else {
            _ = refresh(group)
        }
        memory.count(group)
        if memory.byteCount > memoryLimit {
            forget(group)
            throw Self.memoryLimitError
        }
        groups[group.id] = group
        groupIDs[key] = group.id
        return group
    }

    mutating func unsubscribe(_ sink: any SubscriptionSink) {
        guard let id = groupsBySink.removeValue(forKey: ObjectIdentifier(sink)),
            let group = groups[id]
        else { return }
        group.sinks.remove(sink)
        group.newSinks.remove(ObjectIdentifier(sink))
        removeIfEmpty(group)
    }

    private mutating func removeIfEmpty(_ group: SubscriptionGroup) {
        guard group.sinks.isEmpty else { return }
        groups[group.id] = nil
        groupIDs[group.key] = nil
        forget(group)
    }

    /// Ends all subscriptions of a group.
    mutating func end(_ group: SubscriptionGroup, _ error: ExecutionError) {
        let error = error.at(group.plan.root.fields.first)
        for sink in group.sinks.sinks {
            tell(sink, .failed([error]))
            unsubscribe(sink)
        }
    }

    static var memoryLimitError: ExecutionError {
        ExecutionError(
            """
            All subscriptions and live queries together need more memory than the server allows. This one \
            has ended.
            """, code: .overloaded)
    }

    /// Removes a group from the memory count and from the indexes that map commits to groups.
    private mutating func forget(_ group: SubscriptionGroup) {
        memory.remove(group)
        switch group.trigger {
        case .live(let dependencies):
            liveIndex.update(group.id, from: dependencies, to: Dependencies())
        case .events(let question):
            for mutation in question.events.mutations { eventGroups[mutation]?.remove(group.id) }
        }
    }
}
