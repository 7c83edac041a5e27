/** Name, look and rules of a template, its deprecation and its end. */
import type { Template } from "@atelier/client"
import * as templates from "@atelier/client/templates"
import { useNavigate } from "@tanstack/react-router"
import { Trash2 } from "lucide-react"
import { useState } from "react"
import { client } from "../../../app/client.js"
import { queryClient } from "../../../app/queries.js"
import { settingsText } from "../../../texts/templates.js"
import { Button } from "../../../ui/forms/Button.js"
import { ConfirmDialog } from "../../../ui/floating/Dialog.js"
import { Checkbox, Field, Input, Select, TextArea } from "../../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../../ui/forms/Form.js"
import { Section } from "../../../ui/page/Page.js"
import { notify } from "../../../ui/floating/Toast.js"
import { refreshTemplates, templateQuery, useTemplateRights } from "../queries.js"
import { changedOf } from "./changed.js"
import { SettingsFrame } from "./SettingsFrame.js"

const choicesOf = <Value extends string>(labels: Readonly<Record<Value, string>>) =>
  Object.entries<string>(labels).map(([value, label]) => ({ value, label }))

export const General = () => <SettingsFrame>{(template) => <Parts key={template.id} template={template} />}</SettingsFrame>

/** The choice of a list with these values; the one before, if the form has none of them. */
const oneOf = <Value extends string>(labels: Readonly<Record<Value, string>>, given: FormDataEntryValue | null, before: Value): Value =>
  Object.keys(labels).includes(String(given)) ? (String(given) as Value) : before

const Parts = ({ template: current }: { readonly template: Template }) => {
  // As it was when the form was opened: what is typed stays when the template is read again
  const [template, setTemplate] = useState(current)
  const navigate = useNavigate()
  const send = async (body: Partial<Template>): Promise<void> => {
    if (Object.keys(body).length === 0) return notify(settingsText.saved)
    const next = await templates.updateTemplate(client, { template: template.id, body })
    const { name, organization_name } = next
    queryClient.setQueryData(templateQuery(organization_name, name).queryKey, next)
    // The fields still show what they showed: with what others changed, they would seem to differ
    setTemplate((before) => ({ ...before, ...body }))
    if (name !== template.name) {
      await navigate({
        to: "/templates/$organization/$template/settings",
        params: { organization: organization_name, template: name },
        replace: true
      })
    }
    notify(settingsText.saved)
    await refreshTemplates()
  }
  const save = async (form: FormData): Promise<void> => {
    const text = (name: string): string => String(form.get(name) ?? "").trim()
    const isOn = (name: string): boolean => form.get(name) === "on"
    await send(
      changedOf(template, {
        name: text("name"),
        display_name: text("display_name"),
        description: text("description"),
        icon: text("icon"),
        require_active_version: isOn("require_active_version"),
        allow_user_cancel_workspace_jobs: isOn("allow_user_cancel_workspace_jobs"),
        agents_allowed: isOn("agents_allowed"),
        disable_module_cache: isOn("disable_module_cache"),
        use_classic_parameter_flow: isOn("use_classic_parameter_flow"),
        max_port_share_level: oneOf(settingsText.portLevels, form.get("max_port_sharing_level"), template.max_port_share_level),
        cors_behavior: oneOf(settingsText.corsLevels, form.get("cors_behavior"), template.cors_behavior)
      })
    )
  }
  return (
    <>
      <Section title={settingsText.general}>
        <Form onSubmit={save}>
          <div className="tpl-pair">
            <Field label={settingsText.name} name="name" hint={settingsText.nameHint}>
              <Input defaultValue={template.name} maxLength={32} spellCheck={false} autoCapitalize="off" />
            </Field>
            <Field label={settingsText.displayName} name="display_name" isOptional>
              <Input defaultValue={template.display_name} />
            </Field>
          </div>
          <Field label={settingsText.summary} name="description" hint={settingsText.summaryHint} isOptional>
            <TextArea defaultValue={template.description} rows={2} />
          </Field>
          <Field label={settingsText.icon} name="icon" hint={settingsText.iconHint} isOptional>
            <Input defaultValue={template.icon} spellCheck={false} />
          </Field>
          <div className="tpl-checks">
            <Checkbox
              name="require_active_version"
              label={settingsText.requireActive}
              hint={settingsText.requireActiveHint}
              defaultChecked={template.require_active_version}
            />
            <Checkbox
              name="allow_user_cancel_workspace_jobs"
              label={settingsText.cancel}
              hint={settingsText.cancelHint}
              defaultChecked={template.allow_user_cancel_workspace_jobs}
            />
            <Checkbox name="agents_allowed" label={settingsText.agents} defaultChecked={template.agents_allowed} />
            <Checkbox
              name="disable_module_cache"
              label={settingsText.moduleCache}
              hint={settingsText.moduleCacheHint}
              defaultChecked={template.disable_module_cache}
            />
            <Checkbox
              name="use_classic_parameter_flow"
              label={settingsText.classic}
              hint={settingsText.classicHint}
              defaultChecked={template.use_classic_parameter_flow}
            />
          </div>
          <div className="tpl-pair">
            <Field label={settingsText.portSharing} name="max_port_sharing_level" hint={settingsText.portHint}>
              <Select defaultValue={template.max_port_share_level} choices={choicesOf(settingsText.portLevels)} />
            </Field>
            <Field label={settingsText.cors} name="cors_behavior">
              <Select defaultValue={template.cors_behavior} choices={choicesOf(settingsText.corsLevels)} />
            </Field>
          </div>
          <FormActions>
            <SubmitButton>{settingsText.save}</SubmitButton>
          </FormActions>
        </Form>
      </Section>
      <Section title={settingsText.deprecation} description={settingsText.deprecationHint}>
        <Form
          onSubmit={async (form) =>
            send(changedOf(template, { deprecation_message: String(form.get("deprecation_message") ?? "").trim() }))
          }
        >
          <Field label={settingsText.deprecationMessage} name="deprecation_message" hint={settingsText.deprecationMessageHint} isOptional>
            <Input defaultValue={template.deprecation_message} />
          </Field>
          <FormActions>
            <SubmitButton>{settingsText.save}</SubmitButton>
          </FormActions>
        </Form>
      </Section>
      <Delete template={template} />
    </>
  )
}

const Delete = ({ template }: { readonly template: Template }) => {
  const { display_name, id, name } = template
  const may = useTemplateRights(template)
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const shown = display_name || name
  if (!may.delete) return null
  return (
    <Section
      title={settingsText.danger}
      description={settingsText.deleteHint}
      actions={
        <Button kind="danger" icon={<Trash2 />} onClick={() => setDeleting(true)}>
          {settingsText.delete}
        </Button>
      }
    >
      <ConfirmDialog
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={settingsText.deleteTitle(shown)}
        description={settingsText.deleteText}
        action={settingsText.delete}
        isDangerous
        typedName={name}
        onConfirm={async () => {
          await templates.deleteTemplate(client, { template: id })
          await navigate({ to: "/templates" })
          notify(settingsText.deleted(shown))
          queryClient.removeQueries({ queryKey: templateQuery(template.organization_name, name).queryKey })
          await refreshTemplates()
        }}
      />
    </Section>
  )
}
