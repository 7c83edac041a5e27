/**
 * Events between the parts of the service, and between its processes. Delivery is at most once: a subscriber that must not miss a change
 * re-reads the store when it subscribes and when it is told that messages were lost.
 */
import { Context, Effect, Option, Queue, Schema, Scope, Stream } from "effect"
import { acquired } from "../background/acquired.js"
import { service } from "../wiring/Standing.js"

/** A delivery to a subscriber. `Lost` means that an unknown number of the channel's events is missing. */
export type Delivery<A> = { readonly _tag: "Event"; readonly event: A } | { readonly _tag: "Lost" }

export type Listener<A> = (delivery: Delivery<A>) => void

/** Messages one subscriber may fall behind before it loses the oldest and is told so. */
const subscriberCapacity = 256

export class EventBus extends Context.Tag("@atelier/core/EventBus")<
  EventBus,
  {
    /** Whether other processes may share the store, and hear what this one publishes. */
    readonly isShared: boolean
    /**
     * Delivers a text of at most 7,500 bytes, without NUL and lone surrogates, to the channel's present listeners. Those of this process have been called when
     * it returns; other processes are told soon after.
     */
    readonly publish: (channel: string, message: string) => Effect.Effect<void>
    /** Calls a listener, which must not throw, with each delivery; from before it returns until the scope closes. */
    readonly listen: (channel: string, listener: Listener<string>) => Effect.Effect<void, never, Scope.Scope>
  }
>() {
  /** Within this process only. */
  static readonly layerMemory = service(
    EventBus,
    Effect.suspend(() => makeLocal)
  )
}

/** Routes messages to this process's listeners; the other processes' messages enter by `deliver` and `lost`. */
export const makeRouter = Effect.sync(() => {
  const channels = new Map<string, Set<Listener<string>>>()
  return {
    deliver: (channel: string, message: string): void => {
      const delivery: Delivery<string> = { _tag: "Event", event: message }
      for (const listener of channels.get(channel) ?? []) listener(delivery)
    },
    lost: (): void => {
      const delivery: Delivery<string> = { _tag: "Lost" }
      for (const listeners of channels.values()) for (const listener of listeners) listener(delivery)
    },
    listen: (channel: string, listener: Listener<string>): Effect.Effect<void, never, Scope.Scope> =>
      acquired(() => {
        // A listener of its own for each call, so that each ends by itself
        const own: Listener<string> = (delivery) => listener(delivery)
        channels.set(channel, (channels.get(channel) ?? new Set()).add(own))
        return () => {
          const listeners = channels.get(channel)
          listeners?.delete(own)
          if (listeners?.size === 0) channels.delete(channel)
        }
      })
  }
})

const makeLocal = Effect.map(makeRouter, (router) =>
  EventBus.of({
    isShared: false,
    publish: (channel, message) => Effect.sync(() => router.deliver(channel, message)),
    listen: router.listen
  })
)

/** A family of channels that carry one type of event; `name` may contain the id of the event's subject. */
export interface Channel<A> {
  readonly name: string
  readonly schema: Schema.Schema<A, string>
  /** Messages that do not decode count as lost. */
  readonly read: (delivery: Delivery<string>) => Delivery<A>
}

const reader = <A>(schema: Schema.Schema<A, string>): Channel<A>["read"] => {
  const decode = Schema.decodeUnknownOption(schema)
  // All listeners of a process are called with one delivery: it is decoded for the first of them
  let last: { readonly delivery: Delivery<string>; readonly read: Delivery<A> } | undefined
  return (delivery) => {
    if (last?.delivery !== delivery) {
      const event = delivery._tag === "Lost" ? Option.none() : decode(delivery.event)
      last = { delivery, read: Option.isSome(event) ? { _tag: "Event", event: event.value } : { _tag: "Lost" } }
    }
    return last.read
  }
}

/** Channels of one type of event, by the id of the event's subject. The JSON form is compiled once, for all of them. */
export const channelsOf = <A, I>(prefix: string, event: Schema.Schema<A, I>): ((id: string) => Channel<A>) => {
  const schema = Schema.parseJson(event)
  const read = reader(schema)
  return (id) => ({ name: `${prefix}:${id}`, schema, read })
}

/** A channel whose events travel as JSON. */
export const channel = <A, I>(name: string, event: Schema.Schema<A, I>): Channel<A> => {
  const schema = Schema.parseJson(event)
  return { name, schema, read: reader(schema) }
}

/**
 * Calls a listener, which must not throw, with what happens on a channel; from before it returns until the scope closes. Who only waits
 * for a change needs no more than this and a latch, which takes a hundredth of a stream's memory.
 */
export const listen = <A>(from: Channel<A>, listener: Listener<A>): Effect.Effect<void, never, EventBus | Scope.Scope> =>
  Effect.flatMap(EventBus, (bus) => bus.listen(from.name, (delivery) => listener(from.read(delivery))))

/** The events of a channel from now on: subscribed once the effect has succeeded. */
export const subscribe = <A>(from: Channel<A>): Effect.Effect<Stream.Stream<Delivery<A>>, never, EventBus | Scope.Scope> =>
  Effect.gen(function* () {
    const queue = yield* Effect.acquireRelease(Queue.dropping<Delivery<A>>(subscriberCapacity), Queue.shutdown)
    yield* listen(from, (delivery) => {
      if (queue.unsafeOffer(delivery)) return
      // The reader is too slow: its unread events become one notice of loss
      Effect.runSync(Queue.takeAll(queue))
      queue.unsafeOffer({ _tag: "Lost" })
    })
    return Stream.fromQueue(queue)
  })
