/** Objects of the cluster by kind, namespace and name. */
import { Effect, Either, Option, Schema, Stream } from "effect"
import type { Api } from "./Api.js"
import { ClusterError, silence } from "./ClusterError.js"
import { Any, List } from "./Objects.js"

/** The kinds of objects that the engine makes, and reads. */
const groups = {
  pods: "/api/v1",
  secrets: "/api/v1",
  persistentvolumeclaims: "/api/v1",
  events: "/api/v1",
  networkpolicies: "/apis/networking.k8s.io/v1"
} as const

export type Kind = keyof typeof groups

const words: Readonly<Record<Kind, string>> = {
  pods: "Pod",
  secrets: "Secret",
  persistentvolumeclaims: "PersistentVolumeClaim",
  events: "Event",
  networkpolicies: "NetworkPolicy"
}

/** The path of a kind, in one namespace or in all. */
export const pathOf = (kind: Kind, namespace: string | undefined): string =>
  namespace === undefined ? `${groups[kind]}/${kind}` : `${groups[kind]}/namespaces/${encodeURIComponent(namespace)}/${kind}`

/** Objects of a list in one answer. */
const pageSize = 500

/** Reads what the cluster answers. */
export const read = <A, I>(schema: Schema.Schema<A, I>, doing: string, value: unknown): Either.Either<A, ClusterError> =>
  Either.mapLeft(Schema.decodeUnknownEither(schema)(value), () => silence(doing, "its answer has another form than expected"))

/** The objects of one page, and the version that a watch goes on from. */
interface Page {
  readonly items: ReadonlyArray<unknown>
  readonly resourceVersion: string
}

export interface Resources {
  /** Returns an object; None if no object has this name. */
  readonly get: <A, I>(
    kind: Kind,
    schema: Schema.Schema<A, I>,
    namespace: string,
    name: string
  ) => Effect.Effect<Option.Option<A>, ClusterError>
  /** Makes an object. Fails if there is one of its name. The cluster refuses fields that it does not know. */
  readonly create: (kind: Kind, namespace: string, object: Manifest) => Effect.Effect<Any, ClusterError>
  /** Changes an object by a merge patch. */
  readonly patch: (kind: Kind, namespace: string, name: string, patch: unknown) => Effect.Effect<Any, ClusterError>
  /**
   * Deletes an object; one that is gone is fine. With `uid`, another object of the same name stays. `grace` is in seconds; a Pod with 0 is forgotten
   * without an answer of its node.
   */
  readonly remove: (
    kind: Kind,
    namespace: string,
    name: string,
    options?: { readonly uid?: string; readonly grace?: number }
  ) => Effect.Effect<void, ClusterError>
  /** The objects with these labels, in pages; `namespace` undefined means all namespaces. */
  readonly pages: (kind: Kind, namespace: string | undefined, query: Selection) => Stream.Stream<Page, ClusterError>
  readonly list: <A, I>(
    kind: Kind,
    schema: Schema.Schema<A, I>,
    namespace: string | undefined,
    query: Selection
  ) => Effect.Effect<ReadonlyArray<A>, ClusterError>
}

export interface Selection {
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** An object as it is sent. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly ownerReferences?: ReadonlyArray<{ readonly uid: string }>
  }
}

/** Returns the selector of objects with all these labels. */
export const selectorOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(",")

export const makeResources = (api: Api): Resources => {
  const named = (kind: Kind, namespace: string, name: string) => `${pathOf(kind, namespace)}/${encodeURIComponent(name)}`

  const pages: Resources["pages"] = (kind, namespace, query) => {
    const doing = `list ${kind}`
    return Stream.paginateEffect(undefined as string | undefined, (next) =>
      Effect.gen(function* () {
        const answer = yield* api.call({
          doing,
          method: "GET",
          path: pathOf(kind, namespace),
          query: { ...query, limit: String(pageSize), continue: next }
        })
        const { items, metadata } = yield* read(List, doing, answer)
        const more = metadata.continue ?? ""
        return [{ items, resourceVersion: metadata.resourceVersion ?? "" }, more === "" ? Option.none() : Option.some(more)]
      })
    )
  }

  return {
    get: (kind, schema, namespace, name) => {
      const doing = `read the ${words[kind]} ${name}`
      return api.call({ doing, method: "GET", path: named(kind, namespace, name) }).pipe(
        Effect.flatMap((answer) => read(schema, doing, answer)),
        Effect.asSome,
        Effect.catchIf(
          (error) => error.isMissing,
          () => Effect.succeedNone
        )
      )
    },
    create: (kind, namespace, object) => {
      const doing = `create the ${words[kind]} ${object.metadata.name} in the namespace ${namespace}`
      const query = { fieldValidation: "Strict" }
      return Effect.flatMap(api.call({ doing, method: "POST", path: pathOf(kind, namespace), query, body: object }), (answer) =>
        read(Any, doing, answer)
      )
    },
    patch: (kind, namespace, name, patch) => {
      const doing = `change the ${words[kind]} ${name}`
      const call = {
        doing,
        method: "PATCH",
        path: named(kind, namespace, name),
        body: patch,
        contentType: "application/merge-patch+json"
      } as const
      return Effect.flatMap(api.call(call), (answer) => read(Any, doing, answer))
    },
    remove: (kind, namespace, name, { grace, uid } = {}) => {
      const body = {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: "Background",
        ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
        ...(uid === undefined ? {} : { preconditions: { uid } })
      }
      return api.call({ doing: `delete the ${words[kind]} ${name}`, method: "DELETE", path: named(kind, namespace, name), body }).pipe(
        Effect.asVoid,
        Effect.catchIf(
          // A conflict means that the object of this name is another one by now
          (error) => error.isMissing || (uid !== undefined && error.status === 409),
          () => Effect.void
        )
      )
    },
    pages,
    list: (kind, schema, namespace, query) =>
      Stream.runFold(pages(kind, namespace, query), new Array<unknown>(), (all, { items }) => all.concat(items)).pipe(
        Effect.flatMap(Effect.forEach((item) => read(schema, `list ${kind}`, item)))
      )
  }
}
