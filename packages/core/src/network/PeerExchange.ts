/**
 * Has the processes of a deployment introduce their peers to each other. Each process stores its own peers, tells the others which have
 * changed, and plays theirs to its own coordinator: peers need not be connected to the same process. agents-and-apps.md §16.
 */
import { Effect, Mailbox, type Scope } from "effect"
import { Replicas } from "../deployment/Replicas.js"
import * as Background from "../platform/background/Background.js"
import * as Worker from "../platform/background/Worker.js"
import { type Delivery, EventBus, listen } from "../platform/events/EventBus.js"
import { Coordinator } from "./Coordinator.js"
import { hearPeers } from "./PeerHearing.js"
import { type PeerNews, peerNews } from "./PeerNews.js"
import { PeerRepository } from "./PeerRepository.js"
import { tellPeers } from "./PeerTelling.js"

/** Events that wait to be read; when more come, all peers are read. */
const maximumWaiting = 1024

/** How often the processes that are alive are looked at. */
const lookEvery = "2 seconds"

type Incoming = Delivery<PeerNews> | { readonly _tag: "Look" }

/** Runs until the scope closes. A process that has its store for itself has nothing to exchange. */
export const exchangePeers: Effect.Effect<void, never, Coordinator | EventBus | PeerRepository | Replicas | Scope.Scope> = Effect.gen(
  function* () {
    const bus = yield* EventBus
    if (!bus.isShared) return
    const coordinator = yield* Coordinator
    const repository = yield* PeerRepository
    const replicas = yield* Replicas

    const { note, tellNext } = yield* tellPeers({ coordinator, repository, replicas })
    const { hear, look, readAll } = hearPeers({ coordinator, repository, replicas, note })

    const incoming = yield* Mailbox.make<Incoming>({ capacity: maximumWaiting, strategy: "dropping" })
    let hasMissed = false
    yield* listen(peerNews, (delivery) => {
      if (!incoming.unsafeOffer(delivery)) hasMissed = true
    })
    const handleNext = Effect.gen(function* () {
      const message = yield* Effect.orDie(incoming.take)
      if (message._tag === "Event") yield* hear(message.event)
      if (message._tag === "Look") yield* look
      if (message._tag === "Lost" || hasMissed) {
        hasMissed = false
        yield* readAll
      }
    }).pipe(
      Effect.tapErrorCause(() =>
        Effect.sync(() => {
          hasMissed = true
        })
      )
    )

    coordinator.onChange(note)
    for (const { id } of coordinator.own()) note({ _tag: "Changed", id })
    yield* Background.repeat("telling_of_peers", tellNext)
    yield* Background.repeat("hearing_of_peers", handleNext)
    const askToLook = Effect.zipRight(incoming.offer({ _tag: "Look" }), Effect.sleep(lookEvery))
    yield* Background.repeat("looking_for_peers", Effect.zipRight(Worker.begun, askToLook))
  }
)
