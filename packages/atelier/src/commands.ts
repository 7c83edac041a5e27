/** What the program can be asked to do. Each part is loaded when it is needed. */
import * as startFlags from "./startFlags.js"

export const commands = {
  /** Serves a workspace proxy; returns the exit code. */
  proxy: async (words: ReadonlyArray<string>): Promise<number> => (await import("./proxy.js")).run(words),
  /** Serves the service; returns the exit code. */
  serve: async (): Promise<number> => {
    startFlags.begin()
    return (await import("./run.js")).run()
  }
}
