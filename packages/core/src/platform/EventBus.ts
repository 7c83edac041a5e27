/**
 * Events between the parts of the service, and between its processes. Delivery is at most once: whoever must not miss a change
 * re-reads the store when it subscribes and when it is told that messages were lost.
 */
import { Context, Effect, Layer, Queue, Schema, Scope, Stream } from "effect"

/** What a subscriber receives. `Lost` says that an unknown number of events of the channel is missing. */
export type Delivery<A> = { readonly _tag: "Event"; readonly event: A } | { readonly _tag: "Lost" }

/** Messages one subscriber may fall behind before it loses the oldest and is told so. */
export const subscriberCapacity = 256

export class EventBus extends Context.Tag("@atelier/core/EventBus")<
  EventBus,
  {
    /** Delivers a text of at most 7,500 bytes to the channel's present subscribers, in every process. */
    readonly publish: (channel: string, message: string) => Effect.Effect<void>
    /** Subscribes before it returns; the subscription ends with the scope. */
    readonly subscribe: (channel: string) => Effect.Effect<Queue.Dequeue<Delivery<string>>, never, Scope.Scope>
  }
>() {
  /** Within this process only. */
  static readonly layerMemory = Layer.effect(
    EventBus,
    Effect.suspend(() => makeLocal)
  )
}

/** Routes messages to this process's subscribers; the other processes' messages enter by `deliver` and `lost`. */
export const makeRouter = Effect.sync(() => {
  const channels = new Map<string, Set<Queue.Queue<Delivery<string>>>>()
  const offer = (queue: Queue.Queue<Delivery<string>>, delivery: Delivery<string>): void => {
    if (queue.unsafeOffer(delivery)) return
    // The reader is too slow: what it has not read yet becomes one notice of loss
    Effect.runSync(Queue.takeAll(queue))
    queue.unsafeOffer({ _tag: "Lost" })
  }
  return {
    deliver: (channel: string, message: string): void => {
      for (const queue of channels.get(channel) ?? []) offer(queue, { _tag: "Event", event: message })
    },
    lost: (): void => {
      for (const queues of channels.values()) for (const queue of queues) offer(queue, { _tag: "Lost" })
    },
    subscribe: (channel: string): Effect.Effect<Queue.Dequeue<Delivery<string>>, never, Scope.Scope> =>
      Effect.acquireRelease(
        Effect.gen(function* () {
          const queue = yield* Queue.dropping<Delivery<string>>(subscriberCapacity)
          const queues = channels.get(channel) ?? new Set()
          channels.set(channel, queues.add(queue))
          return queue
        }),
        (queue) =>
          Effect.suspend(() => {
            const queues = channels.get(channel)
            queues?.delete(queue)
            if (queues?.size === 0) channels.delete(channel)
            return Queue.shutdown(queue)
          })
      )
  }
})

const makeLocal = Effect.map(makeRouter, (router) =>
  EventBus.of({
    publish: (channel, message) => Effect.sync(() => router.deliver(channel, message)),
    subscribe: router.subscribe
  })
)

/** A family of channels that carry one type of event; `name` may hold the id of what it is about. */
export interface Channel<A> {
  readonly name: string
  readonly schema: Schema.Schema<A, string>
}

/** A channel whose events travel as JSON. */
export const channel = <A, I>(name: string, event: Schema.Schema<A, I>): Channel<A> => ({ name, schema: Schema.parseJson(event) })

/** Channels of one type of event, by the id of what they are about. The JSON form is compiled once, for all of them. */
export const channelsOf = <A, I>(prefix: string, event: Schema.Schema<A, I>): ((id: string) => Channel<A>) => {
  const schema = Schema.parseJson(event)
  return (id) => ({ name: `${prefix}:${id}`, schema })
}

/** The events of a channel from now on: subscribed once the effect has succeeded. Messages that do not decode count as lost. */
export const subscribe = <A>(from: Channel<A>): Effect.Effect<Stream.Stream<Delivery<A>>, never, EventBus | Scope.Scope> =>
  Effect.gen(function* () {
    const bus = yield* EventBus
    const queue = yield* bus.subscribe(from.name)
    const decode = Schema.decodeUnknownOption(from.schema)
    return Stream.fromQueue(queue).pipe(
      Stream.map((delivery): Delivery<A> => {
        if (delivery._tag === "Lost") return delivery
        const event = decode(delivery.event)
        return event._tag === "Some" ? { _tag: "Event", event: event.value } : { _tag: "Lost" }
      })
    )
  })
