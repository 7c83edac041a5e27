import { AtelierError, type TemplateVersion } from "@atelier/client"
import * as templateVersions from "@atelier/client/templateVersions"
import { client } from "../../app/client.js"
import { mayPass } from "../../app/queries.js"
import { startersText } from "../../texts/templates.js"

const recheck = 500

const pause = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", end)
      resolve()
    }
    const timer = setTimeout(end, recheck)
    signal?.addEventListener("abort", end)
  })

/**
 * Waits for the end of an import, and fails with its reason. A server that is away for a moment is asked again. The import is canceled where the
 * signal is aborted.
 */
export const imported = async (id: string, signal?: AbortSignal): Promise<TemplateVersion> => {
  for (;;) {
    if (signal?.aborted === true) {
      // It may have ended by now, which is refused
      await templateVersions.cancelTemplateVersion(client, { templateversion: id }).catch(() => undefined)
      signal.throwIfAborted()
    }
    const version = await templateVersions
      .getTemplateVersion(client, { templateversion: id }, signal === undefined ? {} : { signal })
      .catch((error: unknown) => {
        if (signal?.aborted === true || mayPass(error)) return undefined
        throw error
      })
    if (version?.job.status === "succeeded" && signal?.aborted !== true) return version
    if (version?.job.status === "failed") throw new AtelierError({ status: 400, message: startersText.failed, detail: version.job.error })
    if (version?.job.status === "canceled") throw new AtelierError({ status: 400, message: startersText.canceled })
    if (signal?.aborted !== true) await pause(signal)
  }
}
