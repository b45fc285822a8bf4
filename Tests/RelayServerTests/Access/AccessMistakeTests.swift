import Testing

@testable import SchemaService

/// Everything wrong with rules is said when a schema is read.
@Suite(.bounded)
struct AccessMistakeTests {
    private static func mistakes(
        onType access: String = "@access(read: { viewer: true })", field: String = "",
        root: String = "", more: String = ""
    ) -> [String] {
        let schema = """
            interface Node { id: ID! }
            type Person implements Node @access(read: { viewer: true }) { id: ID! login: String @unique }
            type Team implements Node @access(read: { viewer: true }) { id: ID! lead: Person parent: Team members: [Person!] }
            type Issue implements Node \(access) {
              id: ID! title: String open: Boolean count: Int owner: Person team: Team any: Node labels: [String!]
              \(field)
            }
            type Query { node(id: ID!): Node issues: [Issue!] @list(type: "Issue") \(root) }
            \(more)
            """
        do throws(SchemaMistakes) {
            _ = try ServiceSchema(schema)
            return []
        } catch {
            // Without their places.
            return error.mistakes.map { $0.summary.replacing(/^\d+:\d+: (@access: )?/, with: "") }
        }
    }

    @Test(arguments: [
        (
            #"{ all: { viewer: true } }"#,
            #""all" is a list of rules. Write: { all: [{ … }, { … }] }"#
        ),
        (
            #"{ any: [] }"#,
            #""any" is a list of rules. Write: { any: [{ … }, { … }] }"#
        ),
        (
            #"{ claim: ["a"] }"#,
            #""claim" is an object. Write: { claim: { name: "value" } }"#
        ),
        (
            #"{ claim: { a: ["b"] } }"#,
            #"Claim "a" is compared with one text, number or boolean, and equals it or contains it."#
        ),
        (
            #"{ claim: { a: "$viewer" } }"#,
            #"Claim "a" must be compared with a literal value: "$viewer" can be used in { field: … } only."#
        ),
        (
            #"{ claim: { a: null } }"#,
            #"Claim "a" is compared with one text, number or boolean, and equals it or contains it."#
        ),
        (
            #"{ field: "owner" }"#,
            #""field" is an object. Write: { field: { name: value } }"#
        ),
        (
            #"{ field: { any: { id: "a" } } }"#,
            #""Issue.any" leads to records of several types, which may have different fields. Write an access check instead: { handler: "…" }"#
        ),
        (
            #"{ field: { count: "$viewer" } }"#,
            #""Issue.count" is Int, and a viewer's id is a text."#
        ),
        (
            #"{ field: { open: "$viewer" } }"#,
            #""Issue.open" is Boolean, and a viewer's id is a text."#
        ),
        (
            #"{ field: { open: "yes" } }"#,
            #""Issue.open" is Boolean, and "yes" is none of its values."#
        ),
        (
            #"{ field: { owner: 1.5 } }"#,
            #""Issue.owner" is Person, and 1.5 is none of its values."#
        ),
        (
            #"{ field: { owner: "$claim." } }"#,
            #""$claim." stands for nothing. There are "$viewer" and "$claim.NAME"."#
        ),
        (
            #"{ field: { owner: "$me" } }"#,
            #""$me" stands for nothing. There are "$viewer" and "$claim.NAME"."#
        ),
        (
            #"{ field: { ownr: null } }"#,
            #""Issue" has no field "ownr". Did you mean "owner"?"#
        ),
        (
            #"{ field: { team: { led: "$viewer" } } }"#,
            #""Team" has no field "led". Did you mean "lead" or "id"?"#
        ),
        (
            #"{ field: { team: { members: { login: "a" } } } }"#,
            #""Team.members" is [Person!], and a rule goes on only behind a link to one record."#
        ),
        (
            #"{ field: { team: { parent: { parent: { id: "a" } } } } }"#,
            #"A rule follows at most 2 links. Write an access check instead: { handler: "…" }"#
        ),
        (
            #"{ field: { title: 1 } }"#,
            #""Issue.title" is String, and 1 is none of its values."#
        ),
        (
            #"{ field: { title: { a: 1 } } }"#,
            #""Issue.title" is String, and a rule goes on only behind a link to one record."#
        ),
        (
            #"{ handler: "Issue.read" }"#,
            #"No access check is registered as "Issue.read". Register it with handlers.access("Issue.read") { viewer, record in … }"#
        ),
        (
            #"{ handler: true }"#,
            #""handler" is a name. Write: { handler: "Issue.read" }"#
        ),
        (
            #"{ not: { claim: { a: "$claim.b" } } }"#,
            #"Claim "a" must be compared with a literal value: "$claim.b" can be used in { field: … } only."#
        ),
        (
            #"{ vewer: true }"#,
            #"There is no rule "vewer". Did you mean "viewer"?"#
        ),
        (
            #"{ viewer: false }"#,
            #""viewer" can only be true: somebody is logged in. Its opposite is { not: { viewer: true } }."#
        ),
        (
            #"{ viewer: true, claim: { a: 1 } }"#,
            #"A rule of "Issue" is an object with one member: all, any, not, claim, viewer, field, handler. Write, for example: { viewer: true }, or { all: [{ … }, { … }] } for several."#
        ),
        (
            #"{}"#,
            #"A rule of "Issue" is an object with one member: all, any, not, claim, viewer, field, handler. Write, for example: { viewer: true }, or { all: [{ … }, { … }] } for several."#
        ),
    ])
    func mistakesOfRulesAreNamed(rule: String, expected: String) {
        #expect(Self.mistakes(onType: "@access(read: \(rule))") == [expected])
    }

    @Test func mistakesOfPlacesAreNamed() {
        #expect(
            Self.mistakes(onType: "@access(write: { viewer: true })") == [
                #"Unknown argument "write" on directive "@access". Did you mean "create"?"#
            ])
        #expect(
            Self.mistakes(onType: "@access(if: { viewer: true })") == [
                #""if" means nothing on type "Issue": it has rules for read, create, update and delete."#
            ])
        #expect(
            Self.mistakes(field: "secret: String @access(update: { viewer: true })") == [
                #""update" means nothing on field "Issue.secret": it has a rule for read."#
            ])
        #expect(
            Self.mistakes(field: "secret: String! @access(read: { viewer: true })") == [
                #""Issue.secret" has a rule, so it is null for some, and its type is String!. Write: secret: String @access(…)"#
            ])
        let mine = #"mine: [Issue!] @list(type: "Issue") @access"#
        #expect(
            Self.mistakes(root: mine + "(read: { viewer: true })") == [
                #""read" means nothing on field "Query.mine": it says who may use it with if."#
            ])
        #expect(
            Self.mistakes(root: mine + "(if: { field: { open: true } })") == [
                #""Query.mine" is about no record, so there is no field to look at. Write { claim: … } or { viewer: true }."#
            ])
        #expect(
            Self.mistakes(root: mine + #"(if: { handler: "a" })"#) == [
                #""Query.mine" is about no record, so no access check can decide about it. Write { claim: … } or { viewer: true }."#
            ])
        #expect(
            Self.mistakes(more: "extend schema @access(read: { viewer: true })") == [
                #""read" means nothing on the schema: it says what is true of types without @access."#
            ])
    }

    /// Nobody may see its records, whatever the default is.
    @Test(arguments: ["", "extend schema @access(default: OPEN)"])
    func aTypeWithoutAnyRuleIsClosed(_ more: String) throws {
        let schema = try ServiceSchema(
            """
            interface Node { id: ID! }
            type Person implements Node @access(read: { viewer: true }) { id: ID! }
            type Issue implements Node @access { id: ID! }
            type Query { node(id: ID!): Node }
            \(more)
            """)
        #expect(schema.closedTypes == ["Issue"])
    }
}
