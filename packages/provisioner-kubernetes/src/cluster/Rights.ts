/** The rights that the engine needs in its namespace, as rbac.yaml gives them. Without one of them a part of its work would fail later, or never be told. */
import { Effect, Schema } from "effect"
import type { Api } from "./Api.js"
import { ClusterError } from "./ClusterError.js"
import { read } from "./Resources.js"

const rules: ReadonlyArray<{ readonly group: string; readonly resource: string; readonly verbs: ReadonlyArray<string> }> = [
  { group: "", resource: "pods", verbs: ["create", "delete", "get", "list", "patch", "watch"] },
  { group: "", resource: "pods/log", verbs: ["get"] },
  { group: "", resource: "events", verbs: ["list", "watch"] },
  { group: "", resource: "secrets", verbs: ["create", "delete", "get", "list", "patch"] },
  { group: "", resource: "persistentvolumeclaims", verbs: ["create", "delete", "list", "patch"] },
  { group: "networking.k8s.io", resource: "networkpolicies", verbs: ["create", "delete", "get", "list"] }
]

const strings = Schema.optional(Schema.NullOr(Schema.Array(Schema.String)))

const Review = Schema.Struct({
  status: Schema.Struct({
    /** Whether an authorizer cannot tell all that it would allow. */
    incomplete: Schema.Boolean,
    resourceRules: Schema.Array(
      Schema.Struct({ verbs: Schema.Array(Schema.String), apiGroups: strings, resources: strings, resourceNames: strings })
    )
  })
})

type Rule = (typeof Review.Type)["status"]["resourceRules"][number]

const holds = (all: ReadonlyArray<string> | null | undefined, one: string): boolean =>
  all?.some((each) => each === "*" || each === one) === true

const allows = ({ apiGroups, resourceNames, resources, verbs }: Rule, group: string, resource: string, verb: string): boolean =>
  holds(apiGroups, group) && holds(resources, resource) && holds(verbs, verb) && (resourceNames ?? []).length === 0

/** Asks the cluster for the rights of the account. Fails with those that are missing. */
export const checkRights = (api: Api, namespace: string): Effect.Effect<void, ClusterError> =>
  Effect.gen(function* () {
    const doing = "tell the rights of the engine's account"
    const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace } }
    const { status } = yield* Effect.flatMap(api.call({ doing, method: "POST", path, body }), (answer) => read(Review, doing, answer))
    const missing = rules.flatMap(({ group, resource, verbs }) =>
      verbs.filter((verb) => !status.resourceRules.some((rule) => allows(rule, group, resource, verb))).map((verb) => `${verb} ${resource}`)
    )
    if (missing.length === 0 || status.incomplete) return
    return yield* new ClusterError({
      message: `the engine's account may not do this in the namespace ${namespace}: ${missing.join(", ")} (rbac.yaml has the rights that it needs)`,
      status: 403,
      reason: "Forbidden"
    })
  })
