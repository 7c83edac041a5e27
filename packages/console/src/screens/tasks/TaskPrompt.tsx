/** The box where a task begins. */
import type { Template } from "@atelier/client"
import * as tasks from "@atelier/client/tasks"
import * as templateVersions from "@atelier/client/templateVersions"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Play, Sparkles } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay, useMe, useOrganization } from "../../app/session.js"
import { tasksText } from "../../texts/tasks.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { ButtonLink } from "../../ui/forms/Button.js"
import { Combobox } from "../../ui/forms/Combobox.js"
import { Field, TextArea } from "../../ui/forms/Field.js"
import { Form, SubmitButton } from "../../ui/forms/Form.js"
import { Section } from "../../ui/page/Page.js"
import { Empty, ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { notify } from "../../ui/floating/Toast.js"
import { ExternalAccounts, useExternalAccounts } from "../create/ExternalAccounts.js"
import { OwnerChoice } from "../create/OwnerChoice.js"
import { taskTemplatesQuery } from "./queries.js"
import { submitByKeys } from "./submitByKeys.js"

export const TaskPrompt = () => {
  const { data, error, isLoadingError, refetch } = useQuery(taskTemplatesQuery)
  const organization = useOrganization()
  const may = useMay({ template: { on: "template", to: "create", anyOrganization: true } })
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) {
    return (
      <Section>
        <SkeletonLines count={4} />
      </Section>
    )
  }
  const templates = data.filter(({ organization_id }) => organization === undefined || organization_id === organization.id)
  if (templates.length === 0) {
    return (
      <Section>
        <Empty
          icon={<Sparkles />}
          title={tasksText.noTemplates}
          action={
            may.template ? (
              <ButtonLink kind="primary" to="/starter-templates">
                {tasksText.addStarter}
              </ButtonLink>
            ) : undefined
          }
        >
          {may.template ? tasksText.noTemplatesHint : tasksText.noTemplatesMember}
        </Empty>
      </Section>
    )
  }
  return <PromptForm templates={templates} />
}

const PromptForm = ({ templates }: { readonly templates: ReadonlyArray<Template> }) => {
  const me = useMe()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [prompt, setPrompt] = useState("")
  const [chosen, setChosen] = useState<string | undefined>()
  const [preset, setPreset] = useState<{ readonly version: string; readonly id: string } | undefined>()
  const [other, setOther] = useState<{ readonly organization: string; readonly id: string; readonly username: string } | undefined>()
  const template = templates.find(({ id }) => id === chosen) ?? templates[0]
  const version = template?.active_version_id
  const organization = template?.organization_id
  const { accounts, connect, error, isMissing, refetch } = useExternalAccounts(version)
  const may = useMay({
    tasks: { on: "task", to: "create", organization },
    workspaces: { on: "workspace", to: "create", organization }
  })
  // Another organization has other users, and other rights: a choice that is not shown does not count
  const owner = may.tasks && may.workspaces && other !== undefined && other.organization === organization ? other : me
  const { data: presets } = useQuery({
    queryKey: ["template-versions", version, "presets"],
    queryFn: ({ signal }) => templateVersions.getTemplateVersionPresets(client, { templateversion: version ?? "" }, { signal }),
    enabled: version !== undefined
  })
  // Another template has other presets; its own default one is taken unless the user chose
  const known = preset?.version === version ? preset?.id : presets?.find((each) => each.default)?.id
  return (
    <Section>
      <Form
        onSubmit={async () => {
          if (version === undefined) return
          const task = await tasks.createTask(client, {
            user: owner.id,
            body: {
              template_version_id: version,
              input: prompt,
              ...(known === undefined || known === "" ? {} : { template_version_preset_id: known })
            }
          })
          void queryClient.invalidateQueries({ queryKey: ["tasks"] })
          notify(tasksText.created(task.display_name || task.name))
          await navigate({ to: "/tasks/$owner/$task", params: { owner: task.owner_name, task: task.name } })
        }}
      >
        <Field label={tasksText.prompt} name="input">
          <TextArea
            rows={3}
            maxLength={32_767}
            placeholder={tasksText.placeholder}
            value={prompt}
            onChange={(event) => setPrompt(event.target.value)}
            onKeyDown={submitByKeys}
          />
        </Field>
        {error === undefined ? null : <ErrorState error={error} onRetry={refetch} />}
        {accounts.length === 0 ? null : <ExternalAccounts accounts={accounts} connect={connect} />}
        <div className="tk-choices">
          <Field label={tasksText.template} name="template_version_id">
            <Combobox
              label={tasksText.template}
              value={template?.id}
              placeholder={tasksText.chooseTemplate}
              onChange={setChosen}
              choices={templates.map(({ description, display_name, icon, id, name }) => ({
                value: id,
                label: display_name || name,
                hint: description === "" ? undefined : description,
                icon: <Avatar name={display_name || name} src={icon} size={18} isThing />
              }))}
            />
          </Field>
          {presets === undefined || presets === null || presets.length === 0 ? null : (
            <Field label={tasksText.preset} name="template_version_preset_id">
              <Combobox
                label={tasksText.preset}
                value={known ?? ""}
                onChange={(id) => setPreset(version === undefined ? undefined : { version, id })}
                choices={[
                  { value: "", label: tasksText.noPreset },
                  ...presets.map(({ default: isDefault, description, id, name }) => ({
                    value: id,
                    label: isDefault ? `${name} (${tasksText.isDefault})` : name,
                    hint: description === "" ? undefined : description
                  }))
                ]}
              />
            </Field>
          )}
          {may.tasks && may.workspaces && organization !== undefined ? (
            <Field label={tasksText.owner}>
              <OwnerChoice organization={organization} owner={owner} onChange={(chosen) => setOther({ ...chosen, organization })} />
            </Field>
          ) : null}
          <SubmitButton className="tk-start" icon={<Play />} title={tasksText.sendKeys} disabled={prompt.trim() === "" || isMissing}>
            {tasksText.create}
          </SubmitButton>
        </div>
      </Form>
    </Section>
  )
}
