import type { OAuth2ProviderApp } from "@atelier/client"
import { applicationsText } from "../../texts/deployment.js"
import { organizationsText } from "../../texts/people.js"
import { Field, Input } from "../../ui/forms/Field.js"

/** The fields of an OAuth2 application, of a form that registers or changes one. */
export const ApplicationFields = ({ application }: { readonly application?: OAuth2ProviderApp }) => (
  <>
    <Field label={applicationsText.name} name="name">
      <Input defaultValue={application?.name} autoFocus={application === undefined} />
    </Field>
    <Field label={applicationsText.callback} name="callback_url" hint={applicationsText.callbackHint}>
      <Input type="url" defaultValue={application?.callback_url} spellCheck={false} />
    </Field>
    <Field label={applicationsText.icon} name="icon" hint={organizationsText.iconHint} isOptional>
      <Input defaultValue={application?.icon} spellCheck={false} />
    </Field>
  </>
)

/** What a form with these fields says. */
export const applicationOf = (form: FormData) => {
  const text = (name: string): string => String(form.get(name) ?? "").trim()
  return { name: text("name"), callback_url: text("callback_url"), icon: text("icon") }
}
