/** What the program can be asked to do. Each part is loaded when it is needed. */
import * as engine from "./engine.js"

export const commands = {
  /** Serves a workspace proxy; returns the exit code. */
  proxy: async (words: ReadonlyArray<string>): Promise<number> => (await import("./proxy.js")).run(words),
  /** Serves the service; returns the exit code. */
  serve: async (): Promise<number> => {
    engine.begin()
    const { run } = await engine.withoutLines(() => import("./run.js"))
    return run()
  }
}
