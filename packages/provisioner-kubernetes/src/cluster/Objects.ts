/** The parts of Kubernetes' objects that the engine reads. Schemas, because the answers come from outside. */
import { Schema } from "effect"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

export const Metadata = Schema.Struct({
  name: Schema.String,
  namespace: optional(Schema.String),
  uid: Schema.String,
  resourceVersion: optional(Schema.String),
  creationTimestamp: optional(Schema.String),
  deletionTimestamp: optional(Schema.String),
  labels: optional(Schema.Record({ key: Schema.String, value: Schema.String })),
  annotations: optional(Schema.Record({ key: Schema.String, value: Schema.String })),
  ownerReferences: optional(Schema.Array(Schema.Struct({ uid: Schema.String })))
})

const Condition = Schema.Struct({
  type: Schema.String,
  status: Schema.String,
  reason: optional(Schema.String),
  message: optional(Schema.String)
})

const ContainerState = Schema.Struct({
  waiting: optional(Schema.Struct({ reason: optional(Schema.String), message: optional(Schema.String) })),
  running: optional(Schema.Struct({})),
  terminated: optional(Schema.Struct({ exitCode: Schema.Number, reason: optional(Schema.String), message: optional(Schema.String) }))
})

const ContainerStatus = Schema.Struct({
  name: Schema.String,
  image: optional(Schema.String),
  imageID: optional(Schema.String),
  restartCount: Schema.Number,
  state: optional(ContainerState),
  lastState: optional(ContainerState)
})

export const Pod = Schema.Struct({
  metadata: Metadata,
  spec: optional(Schema.Struct({ nodeName: optional(Schema.String) })),
  status: optional(
    Schema.Struct({
      phase: optional(Schema.String),
      reason: optional(Schema.String),
      message: optional(Schema.String),
      podIP: optional(Schema.String),
      conditions: optional(Schema.Array(Condition)),
      containerStatuses: optional(Schema.Array(ContainerStatus)),
      initContainerStatuses: optional(Schema.Array(ContainerStatus))
    })
  )
})
export interface Pod extends Schema.Schema.Type<typeof Pod> {}

/** What happened to an object, as the cluster tells it. */
export const Event = Schema.Struct({
  metadata: Metadata,
  involvedObject: Schema.Struct({ kind: optional(Schema.String), name: optional(Schema.String), uid: optional(Schema.String) }),
  type: optional(Schema.String),
  reason: optional(Schema.String),
  message: optional(Schema.String),
  count: optional(Schema.Number)
})
export interface Event extends Schema.Schema.Type<typeof Event> {}

/** Any object: what all have. */
export const Any = Schema.Struct({ metadata: Metadata })
export interface Any extends Schema.Schema.Type<typeof Any> {}

export const Secret = Schema.Struct({ metadata: Metadata, data: optional(Schema.Record({ key: Schema.String, value: Schema.String })) })
export interface Secret extends Schema.Schema.Type<typeof Secret> {}

export const List = Schema.Struct({
  metadata: Schema.Struct({ resourceVersion: optional(Schema.String), continue: optional(Schema.String) }),
  items: Schema.Array(Schema.Unknown)
})

/** A line of a watch. */
export const WatchLine = Schema.parseJson(
  Schema.Struct({ type: Schema.Literal("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"), object: Schema.Unknown })
)

/** The object of a bookmark: where a watch goes on. */
export const Bookmark = Schema.Struct({ metadata: Schema.Struct({ resourceVersion: Schema.String }) })

/** The object of an error in a watch. */
export const WatchError = Schema.Struct({ code: optional(Schema.Number), message: optional(Schema.String) })
