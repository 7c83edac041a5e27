import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { load } from "../../src/streams/Pseudoterminal.js"
import { isAlive } from "../machine/processes.js"

/** Milliseconds: more than the time after which the library closes the terminal of a program that has ended. */
const longTurn = 250

/** Makes each turn of the event loop that follows a program's end a long one, as on a machine that has no time for the agent. */
const slowFromEndOf = (pid: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const never = new Int32Array(new SharedArrayBuffer(4))
      let hasEnded = false
      let turn = setImmediate(function next() {
        if (hasEnded) Atomics.wait(never, 0, 0, longTurn)
        hasEnded = !isAlive(pid)
        turn = setImmediate(next)
      })
      return () => clearImmediate(turn)
    }),
    (stop) => Effect.sync(stop)
  )

it.scopedLive.each([false, true])("all that a program wrote is handed over however late it is read (paused: %s)", (isPaused) =>
  Effect.gen(function* () {
    const open = yield* load
    // Less than the system holds, so that the program ends before all is read, and more than one read takes
    const args = ["-c", "stty -echo; echo ready; read go; seq 3000"]
    const environment = { PATH: process.env["PATH"] ?? "" }
    const { onOutput, pause, pty } = yield* open({ file: "/bin/sh", args, directory: "/", environment, cols: 80, rows: 24 })
    let shown = ""
    const ready = yield* Effect.makeLatch()
    onOutput((bytes) => {
      shown += bytes.toString()
      if (shown === "ready\r\n") ready.unsafeOpen()
    })
    const ended = Effect.async<void>((resume) => {
      pty.onExit(() => resume(Effect.void))
    })
    yield* ready.await
    if (isPaused) pause(true)
    yield* slowFromEndOf(pty.pid)
    pty.write("go\n")
    yield* ended
    const lines = Array.from({ length: 3000 }, (_, index) => `${index + 1}\r\n`).join("")
    expect(shown.slice("ready\r\n".length) === lines).toBe(true)
  })
)
