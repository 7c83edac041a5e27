/** What a sandbox is made of. */
import type { Client } from "@atelier/client"
import * as templates from "@atelier/client/templates"
import * as templateVersions from "@atelier/client/templateVersions"
import { exitCodes, Failure } from "../Failure.js"
import type { Session } from "../Session.js"

/** The parameter of templates whose workspaces can have any image. */
export const imageParameter = "image"

interface Origin {
  readonly template: string
  readonly image?: string
}

/** What a sandbox is made of: the named template, or the first one that takes an image. A template's name has no colon, and one slash at most. */
export const originOf = async (client: Client, text: string, { program, signal }: Session): Promise<Origin> => {
  if (!text.includes(":") && text.split("/").length < 3) return { template: text }
  for (const { active_version_id: templateversion, id } of await templates.listTemplates(client, {}, { signal })) {
    const parameters = await templateVersions.getTemplateVersionParameters(client, { templateversion }, { signal })
    if (parameters.some(({ name }) => name === imageParameter)) return { template: id, image: text }
  }
  throw new Failure({
    message: `No template takes the image ${text}.`,
    hint: `push one that has the parameter ${imageParameter}: "${program} templates init --from kubernetes-pod" writes an example.`,
    code: exitCodes.notFound
  })
}
