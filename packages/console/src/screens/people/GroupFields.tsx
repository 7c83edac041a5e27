import type { Group } from "@atelier/client"
import { groupsText, organizationsText } from "../../texts/people.js"
import { Field, Input } from "../../ui/forms/Field.js"

/** The fields of a group, of a form that makes or changes one. */
export const GroupFields = ({ group }: { readonly group?: Group }) => (
  <>
    <div className="people-pair">
      <Field label={groupsText.name} name="name" hint={groupsText.nameHint}>
        <Input defaultValue={group?.name} autoFocus={group === undefined} spellCheck={false} autoCapitalize="off" />
      </Field>
      <Field label={groupsText.displayName} name="display_name" isOptional>
        <Input defaultValue={group?.display_name} />
      </Field>
    </div>
    <div className="people-pair">
      <Field label={groupsText.quota} name="quota_allowance" hint={groupsText.quotaHint}>
        <Input type="number" min={0} max={2147483647} step={1} defaultValue={group?.quota_allowance ?? 0} />
      </Field>
      <Field label={organizationsText.icon} name="avatar_url" hint={organizationsText.iconHint} isOptional>
        <Input defaultValue={group?.avatar_url} spellCheck={false} />
      </Field>
    </div>
  </>
)

/** What a form with these fields says. */
export const groupOf = (form: FormData) => {
  const text = (name: string): string => String(form.get(name) ?? "").trim()
  return {
    name: text("name"),
    display_name: text("display_name"),
    avatar_url: text("avatar_url"),
    quota_allowance: Number(text("quota_allowance") || "0")
  }
}
