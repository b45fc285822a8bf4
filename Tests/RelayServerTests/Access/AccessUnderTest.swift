import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import StoreEngine

/// A tracker in which people see what is public and what they own or are members of.
enum AccessUnderTest {
    static let schema = """
        interface Node { id: ID! }
        type Person implements Node @access(read: { viewer: true }) {
          id: ID!
          login: String! @unique
          email: String @unique @access(read: { field: { id: "$viewer" } })
        }
        type Project implements Node @access(
          read: { any: [{ field: { public: true } }, { field: { members: "$viewer" } }, { claim: { roles: "admin" } }] }
          create: { viewer: true }
          update: { field: { owner: "$viewer" } }
          delete: { claim: { roles: "admin" } }
        ) {
          id: ID!
          name: String! @unique
          public: Boolean!
          owner: Person
          members(first: Int, after: String, last: Int, before: String): PersonConnection!
          issues(open: Boolean, first: Int, after: String, last: Int, before: String): IssueConnection!
          issueList: [Issue!]!
          openIssues: Int! @count(field: "issues", where: { open: true })
          allIssues: Int! @count(field: "issues")
        }
        type Issue implements Node @access(
          read: { any: [{ field: { project: { public: true } } }, { field: { project: { members: "$viewer" } } }] }
          create: { field: { project: { members: "$viewer" } } }
          update: { field: { owner: "$viewer" } }
          delete: { field: { owner: "$viewer" } }
        ) {
          id: ID!
          title: String!
          open: Boolean!
          project: Project
          owner: Person
          secret: String @access(read: { claim: { roles: "admin" } })
        }
        type PersonConnection { edges: [PersonEdge] pageInfo: PageInfo! }
        type PersonEdge { node: Person cursor: String! }
        type ProjectConnection { edges: [ProjectEdge] pageInfo: PageInfo! }
        type ProjectEdge { node: Project cursor: String! }
        type IssueConnection { edges: [IssueEdge] pageInfo: PageInfo! }
        type IssueEdge { node: Issue cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        type Query {
          node(id: ID!): Node
          nodes(ids: [ID!]!): [Node]!
          person(login: ID!): Person @lookup
          project(name: ID!): Project @lookup
          issue(id: ID!): Issue @lookup
          projects(first: Int, after: String): ProjectConnection! @list(type: "Project")
          issues(open: Boolean, project: ID, first: Int, after: String, last: Int, before: String): IssueConnection! @list(type: "Issue")
          everyIssue: [Issue]! @list(type: "Issue")
          adminIssues: [Issue] @list(type: "Issue") @access(if: { claim: { roles: "admin" } })
        }
        type Mutation {
          addProject(input: AddProjectInput!): ProjectPayload @create(type: "Project")
          updateProject(input: UpdateProjectInput!): ProjectPayload @update(type: "Project")
          deleteProject(input: DeleteInput!): DeletePayload @delete(type: "Project")
          addIssue(input: AddIssueInput!): AddIssuePayload @create(type: "Issue", into: "Project.issues", parent: "projectId")
          updateIssue(input: UpdateIssueInput!): IssuePayload @update(type: "Issue")
          deleteIssue(input: DeleteInput!): DeletePayload @delete(type: "Issue")
          join(input: JoinInput!): JoinPayload @link(field: "Project.members", parent: "projectId", child: "personId")
          leave(input: JoinInput!): JoinPayload @unlink(field: "Project.members", parent: "projectId", child: "personId")
          rank(input: RankInput!): JoinPayload @move(field: "Project.members", parent: "projectId", child: "personId", after: "afterId")
          forceDelete(input: DeleteInput!): DeletePayload @delete(type: "Issue") @access(if: { claim: { roles: "admin" } })
        }
        input AddProjectInput { name: String! public: Boolean! ownerId: ID }
        input UpdateProjectInput { id: ID! name: String public: Boolean ownerId: ID }
        input AddIssueInput { projectId: ID! title: String! open: Boolean! ownerId: ID secret: String }
        input UpdateIssueInput { id: ID! title: String open: Boolean ownerId: ID projectId: ID secret: String }
        input DeleteInput { id: ID! }
        input JoinInput { projectId: ID! personId: ID! }
        input RankInput { projectId: ID! personId: ID! afterId: ID }
        type ProjectPayload { project: Project }
        type AddIssuePayload { issue: Issue issueEdge: IssueEdge project: Project }
        type IssuePayload { issue: Issue }
        type DeletePayload { deletedId: ID }
        type JoinPayload { project: Project person: Person }
        type Subscription {
          issueAdded: AddIssuePayload @on(mutations: ["addIssue"])
          issueChanged: IssuePayload @on(mutations: ["updateIssue"])
          issueDeleted: DeletePayload @on(mutations: ["deleteIssue", "forceDelete"])
          adminIssueAdded: AddIssuePayload @on(mutations: ["addIssue"]) @access(if: { claim: { roles: "admin" } })
          issue(id: ID!): Issue @lookup @live
        }
        """
}
