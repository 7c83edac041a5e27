import { AtelierError, type TemplateVersion } from "@atelier/client"
import * as templateVersions from "@atelier/client/templateVersions"
import { client } from "../../app/client.js"
import { mayPass } from "../../app/queries.js"
import { startersText } from "../../texts/templates.js"

const recheck = 500

/** Waits for the end of an import, and fails with its reason. A server that is away for a moment is asked again. */
export const imported = async (id: string, signal?: AbortSignal): Promise<TemplateVersion> => {
  for (;;) {
    const version = await templateVersions
      .getTemplateVersion(client, { templateversion: id }, signal === undefined ? {} : { signal })
      .catch((error: unknown) => {
        if (signal?.aborted !== true && mayPass(error)) return undefined
        throw error
      })
    if (version?.job.status === "succeeded") return version
    if (version?.job.status === "failed") throw new AtelierError({ status: 400, message: startersText.failed, detail: version.job.error })
    if (version?.job.status === "canceled") throw new AtelierError({ status: 400, message: startersText.canceled })
    await new Promise((resolve) => setTimeout(resolve, recheck))
  }
}
