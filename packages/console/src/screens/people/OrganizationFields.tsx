import type { Organization } from "@atelier/client"
import { organizationsText } from "../../texts/people.js"
import { Field, Input, TextArea } from "../../ui/forms/Field.js"

/** The fields of an organization, of a form that makes or changes one. */
export const OrganizationFields = ({ organization }: { readonly organization?: Organization }) => (
  <>
    <div className="people-pair">
      <Field label={organizationsText.name} name="name" hint={organizationsText.nameHint}>
        <Input defaultValue={organization?.name} autoFocus={organization === undefined} spellCheck={false} autoCapitalize="off" />
      </Field>
      <Field label={organizationsText.displayName} name="display_name" isOptional>
        <Input defaultValue={organization?.display_name} />
      </Field>
    </div>
    <Field label={organizationsText.descriptionField} name="description" isOptional>
      <TextArea rows={2} defaultValue={organization?.description} />
    </Field>
    <Field label={organizationsText.icon} name="icon" hint={organizationsText.iconHint} isOptional>
      <Input defaultValue={organization?.icon} spellCheck={false} />
    </Field>
  </>
)

/** What a form with these fields says. */
export const organizationOf = (form: FormData) => {
  const text = (name: string): string => String(form.get(name) ?? "").trim()
  return { name: text("name"), display_name: text("display_name"), description: text("description"), icon: text("icon") }
}
