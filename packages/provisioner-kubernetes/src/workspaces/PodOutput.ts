/** What the containers of a Pod write. */
import { Effect, Stream } from "effect"
import type { Api } from "../cluster/Api.js"
import type { ClusterError } from "../cluster/ClusterError.js"
import { pathOf } from "../cluster/Resources.js"
import type { Report } from "./WorkspaceFailure.js"

/** Lines of a container's output that go to a build's log. */
const lastLines = 100

export const podOutput = ({ api, namespace }: { readonly api: Api; readonly namespace: string }) => {
  const logPath = (pod: string) => `${pathOf("pods", namespace)}/${encodeURIComponent(pod)}/log`

  /** The last lines of a container's output; empty where they cannot be had. */
  const tail = (pod: string, container: string, isPrevious: boolean): Effect.Effect<ReadonlyArray<string>> =>
    api
      .lines(
        {
          doing: `read the output of ${pod}`,
          path: logPath(pod),
          query: { container, tailLines: String(lastLines), limitBytes: "262144", ...(isPrevious ? { previous: "true" } : {}) }
        },
        "20 seconds"
      )
      .pipe(
        Stream.runCollect,
        Effect.map((lines) => [...lines]),
        Effect.catchAll(() => Effect.succeed([]))
      )

  /** Puts the end of a container's output into the build's log. */
  const reportTail = (pod: string, container: string, isPrevious: boolean, report: Report) =>
    Effect.gen(function* () {
      const lines = yield* tail(pod, container, isPrevious)
      if (lines.length === 0) return
      yield* report(`The last lines of the container ${container}:`)
      for (const line of lines) yield* report(`  ${line}`)
    })

  /** The agent's output from its beginning, as it comes. */
  const output = (pod: string): Stream.Stream<string, ClusterError> =>
    api.lines({ doing: `follow the output of ${pod}`, path: logPath(pod), query: { container: "agent", follow: "true" } }, "1 minute")

  return { output, reportTail }
}
