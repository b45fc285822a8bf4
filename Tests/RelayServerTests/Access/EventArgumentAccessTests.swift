import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import StoreEngine

/// What the arguments of an event subscription tell of the input of a mutation.
@Suite(.bounded)
struct EventArgumentAccessTests {
    private static let schema = """
        interface Node { id: ID! }
        type Person implements Node @access(read: { any: [{ field: { id: "$viewer" } }, { claim: { roles: "admin" } }] }) {
          id: ID!
          name: String
          login: String @unique
          email: String @unique @access(read: { field: { id: "$viewer" } })
        }
        type Folder implements Node @access(read: { any: [{ field: { owner: "$viewer" } }, { claim: { roles: "reader" } }] } update: { viewer: true }) {
          id: ID!
          owner: Person
          issues: [Issue!]
          secrets: [Issue!] @access(read: { field: { owner: "$viewer" } })
        }
        type Issue implements Node @access(read: { viewer: true } update: { viewer: true }) {
          id: ID!
          title: String
          watchers: [Person!] @access(read: { claim: { roles: "admin" } })
          followers: [Person!]
          tags: [String!]
          folder: Folder @access(read: { claim: { roles: "admin" } })
        }
        type Query { node(id: ID!): Node }
        type Mutation {
          updateIssue(input: UpdateIssueInput!): IssuePayload @update(type: "Issue")
          updatePerson(input: UpdatePersonInput!): PersonPayload @update(type: "Person")
          deletePerson(input: DeletePersonInput!): DeletedPayload @delete(type: "Person")
          moveIssue(input: MoveInput!): MovedPayload
          file(input: FileInput!): FilePayload @link(field: "Folder.issues", parent: "folderId", child: "issueId")
          hide(input: FileInput!): FilePayload @link(field: "Folder.secrets", parent: "folderId", child: "issueId")
          take(input: FileInput!): FilePayload @unlink(field: "Folder.issues", parent: "folderId", child: "issueId")
          order(input: OrderInput!): FilePayload @move(field: "Folder.issues", parent: "folderId", child: "issueId", after: "afterId")
          orderSecrets(input: OrderInput!): FilePayload @move(field: "Folder.secrets", parent: "folderId", child: "issueId", after: "afterId")
        }
        input UpdateIssueInput { id: ID! title: String watcherIds: [ID!] followerIds: [ID!] tags: [String!] }
        input UpdatePersonInput { id: ID! login: String email: String clientMutationId: String }
        input DeletePersonInput { id: ID! clientMutationId: String }
        type PersonPayload { person: Person clientMutationId: String }
        type DeletedPayload { deletedPersonId: ID clientMutationId: String }
        input MoveInput { issueId: ID! personId: ID to: PlaceInput deletesPerson: Boolean }
        input PlaceInput { people: [ID!] within: PlaceInput }
        input FileInput { folderId: ID! issueId: ID! }
        input OrderInput { folderId: ID! issueId: ID! afterId: ID }
        type IssuePayload { issue: Issue }
        type MovedPayload { issue: Issue }
        type FilePayload { folder: Folder issue: Issue }
        type Subscription {
          issueUpdated(title: String, watcherIds: [ID!], followerIds: [ID!], tags: [String!]): IssuePayload @on(mutations: ["updateIssue"])
          issueMoved(personId: ID, to: PlaceInput): MovedPayload @on(mutations: ["moveIssue"])
          personUpdated(id: ID): PersonPayload @on(mutations: ["updatePerson"])
          personDeleted(id: ID): DeletedPayload @on(mutations: ["deletePerson"])
          filed(folderId: ID): FilePayload @on(mutations: ["file", "take"])
          hidden: FilePayload @on(mutations: ["hide"])
          ordered(afterId: ID): FilePayload @on(mutations: ["order", "orderSecrets"])
        }
        """

    private static let seed = """
        {"id":"ann","type":"Person","fields":{"name":"Ann","login":"ann-login"}}
        {"id":"bob","type":"Person","fields":{"name":"Bob","login":"bob-login","email":"bob@example.org"}}
        {"id":"i","type":"Issue","fields":{"title":"One"}}
        {"id":"j","type":"Issue","fields":{"title":"Two"}}
        {"id":"f","type":"Folder","fields":{"owner":{"ref":"ann"}}}
        {"id":"g","type":"Folder","fields":{"owner":{"ref":"ann"},"issues":{"refs":["i","j"]},"secrets":{"refs":["i","j"]}}}
        """

    private static let ann = Identity("ann")
    private static let bob = Identity("bob")
    private static let admin = Identity.viewer(Viewer(id: "eve", claims: ["roles": ["admin"]]))

    private func engine(recentCommits: Int = 4_096) async throws -> EngineUnderTest {
        var handlers = Handlers()
        handlers.mutation("moveIssue") { records, variables in
            if variables.input?["deletesPerson"] == true,
                let person = variables.input?["personId"]?.stringValue
            {
                records.delete(dataID: DataID(person))
            }
            return variables.input?["issueId"]?.stringValue.map { DataID($0) }
        }
        return try await EngineUnderTest(
            sdl: Self.schema, handlers: handlers, seed: Self.seed, recentCommits: recentCommits)
    }

    /// Whether a subscription with the argument is told of a mutation with the input.
    private func isTold(_ argument: String, of input: String, _ identity: Identity) async throws
        -> Bool
    {
        try await isTold(
            "issueUpdated(\(argument)) { issue { id } }",
            when: "updateIssue(input: { id: \"i\" \(input) }) { issue { id } }", identity)
    }

    private func isTold(
        _ subscription: String, when mutation: String, _ identity: Identity,
        _ time: Time = .atOnce
    ) async throws -> Bool {
        try await told("subscription { \(subscription) }", of: mutation, [identity], time) == [true]
    }

    /// When a subscriber is told.
    enum Time: CaseIterable {
        case atOnce
        /// Right when it resumes.
        case resumed
        /// With others that have missed much.
        case resumedFromMemory, resumedFromLog
    }

    /// Which of them are told, if all of them ask one server in this order.
    private func told(
        _ subscription: String, of mutation: String, _ identities: [Identity],
        _ time: Time = .atOnce
    ) async throws -> [Bool] {
        let engine = try await engine(recentCommits: time == .resumedFromLog ? 2 : 4_096)
        let start = JSONValue.string(engine.cursor(engine.service.snapshot.sequence))
        func subscribe(_ relay: JSONObject = [:]) throws -> [TestSink] {
            try identities.map { try engine.subscribe(subscription, as: $0, relay: relay) }
        }
        var sinks = time == .atOnce ? try subscribe() : []
        let answer = try await engine.run("mutation { \(mutation) }")
        #expect(answer.firstErrorCode == nil, "\(answer)")
        if time != .atOnce {
            for _ in 0..<(time == .resumed ? 1 : 40) {
                _ = try await engine.run(
                    #"mutation { take(input: { folderId: "f" issueId: "i" }) { issue { id } } }"#)
            }
            try await engine.everyPublication()
            sinks = try subscribe(["resume": start])
            try await eventually("all to have resumed") {
                engine.service.subscriptionCounts.subscriptions == sinks.count ? true : nil
            }
            _ = try await engine.run(
                "mutation { updateIssue(input: { id: \"i\" }) { issue { id } } }")
        }
        try await engine.everyPublication()
        return sinks.map { sink in
            engine.resultsSoFar(of: sink).contains { ($0["data"] ?? .null) != .null }
        }
    }

    /// The argument is named after the elements of a list, and the rule is the list's.
    @Test func anArgumentTellsNothingOfAListThatIsHidden() async throws {
        for argument in ["watcherIds: [\"bob\"]", "watcherIds: []"] {
            #expect(try await isTold(argument, of: argument, .unrestricted))
            #expect(try await isTold(argument, of: argument, Self.admin))
            #expect(try await !isTold(argument, of: argument, Self.bob))
        }
        #expect(try await isTold("title: \"Two\"", of: "title: \"Two\"", Self.bob))
    }

    /// Nor of records that are hidden in a list that is not.
    @Test func anArgumentTellsNothingOfHiddenElements() async throws {
        let argument = "followerIds: [\"bob\"]"
        for identity in [.unrestricted, Self.admin, Self.bob] {
            #expect(try await isTold(argument, of: argument, identity))
        }
        #expect(try await !isTold(argument, of: argument, Self.ann))
        let both = "followerIds: [\"bob\", \"ann\"]"
        #expect(try await isTold(both, of: both, Self.admin))
        #expect(try await !isTold(both, of: both, Self.bob))
    }

    /// By whatever name.
    @Test func elementsAreComparedByTheRecordsThatTheyName() async throws {
        for (asked, given) in [
            ("bob", "bob-login"), ("bob-login", "bob"), ("bob-login", "bob-login"),
        ] {
            let (asked, given) = ("followerIds: [\"\(asked)\"]", "followerIds: [\"\(given)\"]")
            #expect(try await isTold(asked, of: given, Self.bob), "\(asked) \(given)")
            #expect(try await !isTold(asked, of: given, Self.ann), "\(asked) \(given)")
        }
    }

    /// Also of a record that the mutation deletes or gives another name, by whatever name.
    @Test(
        arguments: [
            ("personDeleted", "deletePerson(input: { id: \"NAME\" }) { deletedPersonId }"),
            (
                "personUpdated",
                "updatePerson(input: { id: \"NAME\" login: \"robert\" }) { clientMutationId }"
            ),
        ], Time.allCases)
    func whoIsNotThereAnyMoreIsStillMeant(
        _ mutation: (event: String, text: String), _ time: Time
    ) async throws {
        for (asked, given) in [
            ("bob", "bob-login"), ("bob-login", "bob"), ("bob-login", "bob-login"), ("bob", "bob"),
        ] {
            let told = try await told(
                "subscription { \(mutation.event)(id: \"\(asked)\") { clientMutationId } }",
                of: mutation.text.replacing("NAME", with: given),
                [.unrestricted, Self.admin, Self.bob, Self.ann], time)
            #expect(told == [true, true, true, false], "\(asked) \(given)")
        }
    }

    /// By nothing that the subscriber may not read: he would learn whose it is.
    @Test(
        arguments: [
            "updatePerson(input: { id: \"bob\" email: \"b@example.org\" }) { clientMutationId }",
            "updatePerson(input: { id: \"bob\" login: \"robert\" }) { clientMutationId }",
            "deletePerson(input: { id: \"bob\" }) { clientMutationId }",
        ], Time.allCases)
    func noRecordIsMeantByAValueThatIsHidden(_ mutation: String, _ time: Time) async throws {
        let event = mutation.hasPrefix("update") ? "personUpdated" : "personDeleted"
        let told = try await told(
            "subscription { \(event)(id: \"bob@example.org\") { clientMutationId } }", of: mutation,
            [.unrestricted, Self.admin, Self.bob], time)
        #expect(told == [true, false, true])
    }

    /// Texts are no ids, whatever records there are.
    @Test func textsAreTextsOnly() async throws {
        for text in ["nothing", "bob", "ann", "ann-login"] {
            let tags = "tags: [\"\(text)\"]"
            #expect(try await isTold(tags, of: tags, Self.bob), "\(text)")
        }
    }

    /// Every id in the input of a mutation in Swift names a record, also one that it deletes.
    @Test func anIDInTheInputOfSwiftCodeTellsNothing() async throws {
        for argument in [
            "personId: \"ann\"", "to: { people: [\"bob\", \"ann\"] }",
            "to: { within: { people: [\"ann\"] } }",
        ] {
            for rest in ["", "deletesPerson: true"] {
                let mutation =
                    "moveIssue(input: { issueId: \"i\" \(argument) \(rest) }) { issue { id } }"
                let told = { (identity: Identity) async throws in
                    try await isTold(
                        "issueMoved(\(argument)) { issue { id } }", when: mutation, identity)
                }
                #expect(try await told(Self.admin), "\(argument) \(rest)")
                #expect(try await told(.unrestricted), "\(argument) \(rest)")
                #expect(try await !told(Self.bob), "\(argument) \(rest)")
            }
        }
    }

    /// What changes is the folder's list.
    @Test func whatIsPutIntoAHiddenListIsNotTold() async throws {
        for mutation in ["file", "take"] {
            let mutation = "\(mutation)(input: { folderId: \"f\" issueId: \"i\" }) { issue { id } }"
            for fields in ["issue { id }", "__typename"] {
                let told = try await told(
                    "subscription { filed { \(fields) } }", of: mutation,
                    [Self.bob, Self.ann, Self.admin])
                #expect(told == [false, true, false])
            }
        }
    }

    /// Who may not read the list is not told what comes into it.
    @Test func whatIsPutIntoAListThatIsHiddenIsNotTold() async throws {
        let reader = Identity.viewer(Viewer(id: "dan", claims: ["roles": "reader"]))
        let input = "(input: { folderId: \"f\" issueId: \"i\" }) { issue { id } }"
        let subscription = "subscription { NAME { issue { id } } }"
        #expect(
            try await told(
                subscription.replacing("NAME", with: "filed"), of: "file\(input)",
                [Self.ann, reader, .unrestricted]) == [true, true, true])
        #expect(
            try await told(
                subscription.replacing("NAME", with: "hidden"), of: "hide\(input)",
                [Self.ann, reader, .unrestricted]) == [true, false, true])
    }

    /// Nor how it is ordered; of the order, `afterId` names the record that it names.
    @Test func theOrderOfAListThatIsHiddenIsNotTold() async throws {
        let reader = Identity.viewer(Viewer(id: "dan", claims: ["roles": "reader"]))
        let all = [Self.ann, Self.bob, reader, .unrestricted]
        let input = #"(input: { folderId: "g", issueId: "i", afterId: "j" }) { issue { id } }"#
        for (mutation, expected) in [
            ("order", [true, false, true, true]), ("orderSecrets", [true, false, false, true]),
        ] {
            for subscription in ["ordered", #"ordered(afterId: "j")"#] {
                let text = "subscription { \(subscription) { issue { id } } }"
                #expect(try await told(text, of: mutation + input, all) == expected)
            }
            let other = #"subscription { ordered(afterId: "i") { issue { id } } }"#
            #expect(
                try await told(other, of: mutation + input, all) == [false, false, false, false])
        }
    }

    /// Who may change the record but not read its list does not learn what is in it.
    @Test func movingInAListThatIsHiddenDoesNotTellWhatIsInIt() async throws {
        let reader = Identity.viewer(Viewer(id: "dan", claims: ["roles": "reader"]))
        let engine = try await engine()
        func move(_ folder: String, _ after: String, _ identity: Identity) async throws -> JSONValue
        {
            try await engine.run(
                """
                mutation { orderSecrets(input: { folderId: "\(folder)", issueId: "i", afterId: "\(after)" }) {
                  folder { id } issue { id } } }
                """, as: identity)
        }
        let there = try await move("g", "j", reader)
        let notThere = try await move("f", "j", reader)
        #expect(there["data"] == ["orderSecrets": ["folder": ["id": "g"], "issue": ["id": "i"]]])
        #expect(
            notThere["data"] == ["orderSecrets": ["folder": ["id": "f"], "issue": ["id": "i"]]])
        #expect(notThere.firstErrorCode == nil)
        #expect(try await move("f", "j", Self.ann).firstErrorCode == "NOT_FOUND")
    }

    /// The issue has a field of that name, which may not be read; it has nothing to do with the list.
    @Test func anArgumentIsJudgedByTheFieldThatItSets() async throws {
        #expect(
            try await isTold(
                "filed(folderId: \"f\") { issue { id } }",
                when: "file(input: { folderId: \"f\" issueId: \"i\" }) { issue { id } }", Self.ann))
    }

    /// On one server as on one of their own: what decides for one does not decide for another.
    @Test func viewersDoNotShareWhatDecidesDifferently() async throws {
        let all = [Self.ann, Self.bob, Self.admin, .nobody, .unrestricted]
        let mutations = [
            "updateIssue(input: { id: \"i\" title: \"Two\" tags: [\"ann\"] watcherIds: [\"bob\"] followerIds: [\"bob\"] }) { issue { id } }",
            "moveIssue(input: { issueId: \"i\" personId: \"ann\" to: { people: [\"bob\"] } }) { issue { id } }",
            "file(input: { folderId: \"f\" issueId: \"i\" }) { issue { id } }",
        ]
        let subscriptions = [
            [
                "issueUpdated(followerIds: [\"bob\"])", "issueUpdated(watcherIds: [\"bob\"])",
                "issueUpdated(tags: [\"ann\"])", "issueUpdated",
            ],
            [
                "issueMoved(personId: \"ann\")", "issueMoved(to: { people: [\"bob\"] })",
                "issueMoved",
            ],
            ["filed"],
        ]
        for (mutation, subscriptions) in zip(mutations, subscriptions) {
            for subscription in subscriptions {
                let text = "subscription { \(subscription) { __typename } }"
                var alone: [Bool] = []
                for identity in all { alone += try await told(text, of: mutation, [identity]) }
                #expect(try await told(text, of: mutation, all) == alone, "\(subscription)")
                #expect(
                    try await told(text, of: mutation, all.reversed()) == alone.reversed(),
                    "\(subscription)")
            }
        }
    }
}
