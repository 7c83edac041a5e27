/** What happens in a service, for programs without Effect. */
import { Access, SystemActor } from "@atelier/core/access"
import type { AuditEntry } from "@atelier/core/audit"
import { Background, type EventBus, Events } from "@atelier/core/platform"
import { buildEnds, WorkspaceBuilds } from "@atelier/core/workspaces"
import { Effect, type Scope, Stream } from "effect"

/** A build that has ended. */
export interface BuildEvent {
  readonly type: "build"
  readonly build_id: string
  readonly build_number: number
  readonly workspace_id: string
  readonly workspace_name: string
  readonly owner_id: string
  readonly transition: "start" | "stop" | "delete"
  /** Of the workspace that it leaves, such as `running`, `stopped`, `deleted` or `failed`. */
  readonly status: string
}

/** An entry that this process has added to the audit log. */
export interface AuditEvent {
  readonly type: "audit"
  readonly entry: AuditEntry
}

/** An unknown number of events is missing: read what you need again. */
export interface LostEvents {
  readonly type: "lost"
}

export type AtelierEvent = BuildEvent | AuditEvent | LostEvents

export interface EventOptions {
  /** Ends the iteration, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** Events that a listener may fall behind. */
const capacity = 1_000

const done = { done: true, value: undefined } as const

/** One iteration. */
class Listening implements AsyncIterableIterator<AtelierEvent> {
  private unread: Array<AtelierEvent> = []
  private isOver = false
  private isAborted = false
  private wake = (): void => {}

  constructor(
    private readonly leave: (listening: Listening) => void,
    private readonly signal: AbortSignal | undefined
  ) {
    signal?.addEventListener("abort", this.abort)
    if (signal?.aborted === true) this.abort()
  }

  tell(event: AtelierEvent): void {
    // A loss that is not read yet stands for these too
    if (this.unread.length >= capacity) this.unread = [{ type: "lost" }]
    else this.unread.push(event)
    this.awake()
  }

  end(): void {
    this.isOver = true
    this.signal?.removeEventListener("abort", this.abort)
    this.leave(this)
    this.awake()
  }

  async next(): Promise<IteratorResult<AtelierEvent, undefined>> {
    for (;;) {
      if (this.isAborted) this.signal?.throwIfAborted()
      const value = this.unread.shift()
      if (value !== undefined) return { done: false, value }
      if (this.isOver) return done
      await new Promise<void>((resolve) => {
        const before = this.wake
        this.wake = () => {
          before()
          resolve()
        }
      })
    }
  }

  async return(): Promise<IteratorResult<AtelierEvent, undefined>> {
    this.unread = []
    this.end()
    return done
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  private awake(): void {
    const { wake } = this
    this.wake = () => {}
    wake()
  }

  private readonly abort = (): void => {
    this.isAborted = true
    this.unread = []
    this.end()
  }
}

/** Tells a program's listeners. */
export const makeHostEvents = () => {
  const listenings = new Set<Listening>()
  let isOver = false
  const tell = (event: AtelierEvent): void => {
    for (const listening of listenings) listening.tell(event)
  }
  return {
    tell,
    /** Listens from now on. */
    listen: ({ signal }: EventOptions = {}): AsyncIterableIterator<AtelierEvent> => {
      const listening = new Listening((ended) => listenings.delete(ended), signal)
      if (isOver) listening.end()
      else if (signal?.aborted !== true) listenings.add(listening)
      return listening
    },
    end: (): void => {
      isOver = true
      for (const listening of listenings) listening.end()
    }
  }
}

/** Tells of the builds that end, until the scope closes. Its failure counts as a loss, after which it goes on. */
export const tellBuilds = (tell: (event: AtelierEvent) => void): Effect.Effect<void, never, EventBus | Scope.Scope | WorkspaceBuilds> => {
  const lost = Effect.sync(() => tell({ type: "lost" }))
  const told = Effect.gen(function* () {
    const builds = yield* WorkspaceBuilds
    const ends = yield* Events.subscribe(buildEnds)
    const one = (id: (typeof buildEnds.schema.Type)["build_id"]) =>
      Effect.map(builds.get(id), ({ build_number, status, transition, workspace_id, workspace_name, workspace_owner_id }) =>
        tell({ type: "build", build_id: id, build_number, workspace_id, workspace_name, owner_id: workspace_owner_id, transition, status })
      )
    yield* Stream.runForEach(ends, (delivery) =>
      delivery._tag === "Lost"
        ? lost
        : Effect.catchAllCause(one(delivery.event.build_id), (cause) =>
            Effect.zipRight(Effect.logWarning("a build's end could not be told", cause), lost)
          )
    )
  }).pipe(Effect.scoped, Access.actingAs(SystemActor.autostart))
  return Background.repeat(
    "host_events",
    Effect.onError(told, () => lost)
  )
}
