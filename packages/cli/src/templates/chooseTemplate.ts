import type { Client, Template } from "@atelier/client"
import * as templates from "@atelier/client/templates"
import { Failure, usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { findTemplate } from "../workspaces/find.js"

/** Names that a refusal lists. */
const mostNamed = 10

/** The template with the given name. Without a name it is the only one, or the user chooses; without a terminal the refusal names the choices. */
export const chooseTemplate = async (client: Client, given: string | undefined, session: Session): Promise<Template> => {
  if (given !== undefined) return findTemplate(client, given, session)
  const { ask, out, program, signal } = session
  const all = await templates.listTemplates(client, {}, { signal })
  if (all.length === 0) throw new Failure({ message: "There is no template.", hint: `"${program} templates init" begins one.` })
  if (!ask.canAsk) {
    const names = all.slice(0, mostNamed).map(({ name }) => name)
    throw usage(
      "--template: is missing.",
      `name one of ${names.join(", ")}${all.length > mostNamed ? `, … "${program} templates list" lists all` : ""}.`
    )
  }
  const [only] = all
  if (only !== undefined && all.length === 1) {
    out.say(`The template is ${only.name}, the only one.`)
    return only
  }
  const id = await ask.choose(
    "Template",
    all.map((each) => ({ name: each.display_name === "" ? each.name : `${each.name} (${each.display_name})`, value: each.id }))
  )
  return findTemplate(client, id, session)
}
