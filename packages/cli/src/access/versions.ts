/** `version`. */
import * as deployment from "@atelier/client/deployment"
import { Failure } from "../Failure.js"
import type { Session } from "../Session.js"
import { version } from "../version.js"

export const versions = async (_: object, session: Session): Promise<void> => {
  const client = await session.client().catch((error: unknown) => {
    // The program has a version without a login too
    if (error instanceof Failure) return undefined
    throw error
  })
  const service = client === undefined ? undefined : (await deployment.buildInfo(client, { signal: session.signal })).version
  session.out.one({ client: version, service }, [
    ["Program", version],
    ["Service", service ?? "not logged in"]
  ])
}
