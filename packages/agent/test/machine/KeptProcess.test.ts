import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { KeptProcess } from "../../src/machine/processes/KeptProcess.js"

it.scoped("a slow reader gets the last output of an ended process before its end", () =>
  Effect.gen(function* () {
    const pauses: Array<boolean> = []
    const kept = new KeptProcess({ id: "1", program: "sh", args: [], cwd: "/", started_at: "" })
    kept.source = {
      pid: 1,
      leader: () => undefined,
      isTerminal: false,
      ended: Effect.never,
      completed: Effect.never,
      pause: (isPaused) => void pauses.push(isPaused),
      write: () => Effect.void,
      closeInput: () => undefined,
      resize: () => undefined
    }
    const viewer = yield* kept.watch(0)
    const piece = Buffer.alloc(1_500_000)
    kept.output(1, piece)
    expect(pauses).toStrictEqual([true])
    const end = { exit_code: 0, signal: null }
    kept.exited(end, "")
    kept.output(1, piece)
    expect(pauses).toStrictEqual([true, false])
    kept.over(end)
    // Of a process in the background
    kept.output(1, piece)
    for (const offset of [0, piece.length]) {
      const next = yield* kept.next(viewer)
      expect(next).toMatchObject({ _tag: "Piece", piece: { offset } })
      if (next._tag === "Piece") kept.read(viewer, next.piece)
    }
    expect(yield* kept.next(viewer)).toStrictEqual({ _tag: "End", end })
  })
)
