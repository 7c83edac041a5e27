/** The form that makes a workspace from a template. */
import type { Preset, Template } from "@atelier/client"
import * as templateVersions from "@atelier/client/templateVersions"
import * as workspaces from "@atelier/client/workspaces"
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { Dices } from "lucide-react"
import { useEffect, useEffectEvent, useState } from "react"
import { client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { useMay, useMe } from "../../app/session.js"
import { createText } from "../../texts/create.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { IconButton } from "../../ui/forms/Button.js"
import { Combobox } from "../../ui/forms/Combobox.js"
import { Field, Input } from "../../ui/forms/Field.js"
import { Form, SubmitButton } from "../../ui/forms/Form.js"
import { Page, PageHeader, Section } from "../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { templateQuery } from "../templates/queries.js"
import { ExternalAccounts, useExternalAccounts } from "./ExternalAccounts.js"
import { nameIdea } from "./nameIdeas.js"
import { OwnerChoice } from "./OwnerChoice.js"
import { ParameterFields } from "./ParameterFields.js"
import { useParameterForm, type Values } from "./parameterForm.js"
import "./CreateWorkspace.css"

const route = getRouteApi("/templates/$organization/$template/workspace")

export const CreateWorkspace = () => {
  const { organization, template: name } = route.useParams()
  const { data, error, isLoadingError, refetch } = useQuery(templateQuery(organization, name))
  if (isLoadingError) return <ErrorState isScreen error={error} onRetry={refetch} />
  return (
    <Page width="narrow">
      <PageHeader
        title={data === undefined ? name : createText.title(data.display_name || data.name)}
        icon={<Avatar name={data?.display_name || name} src={data?.icon} size={32} isThing />}
        description={data?.description}
        crumbs={[{ label: createText.gallery, link: { to: "/new" } }]}
      />
      {data === undefined ? <SkeletonLines count={8} /> : <CreateForm key={data.id} template={data} />}
    </Page>
  )
}

const parametersOf = (search: Readonly<Record<string, string>>): Values =>
  Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => (name.startsWith("param.") ? [[name.slice("param.".length), value]] : []))
  )

/** Presets are named in two ways on the wire. */
const valuesOf = ({ parameters }: Preset): Values => Object.fromEntries((parameters ?? []).map(({ name, value }) => [name, value]))

const CreateForm = ({ template }: { readonly template: Template }) => {
  const search = route.useSearch()
  const navigate = useNavigate()
  const me = useMe()
  const version = search["version"] ?? template.active_version_id
  const [name, setName] = useState(() => search["name"] ?? nameIdea())
  const [owner, setOwner] = useState({ id: me.id, username: me.username })
  const form = useParameterForm({ version, owner: owner.id, initial: parametersOf(search) })
  const { accounts, connect, error, isMissing, refetch } = useExternalAccounts(version)
  const may = useMay({ others: { on: "workspace", to: "create", organization: template.organization_id } })
  const { data: presets } = useQuery({
    queryKey: ["template-versions", version, "presets"],
    queryFn: ({ signal }) => templateVersions.getTemplateVersionPresets(client, { templateversion: version }, { signal })
  })
  const [preset, setPreset] = useState<string | undefined>()
  const choosePreset = (id: string): void => {
    const chosen = presets?.find((each) => each.id === id)
    setPreset(chosen?.id)
    if (chosen !== undefined) form.setAll(valuesOf(chosen))
  }

  const chooseNamed = useEffectEvent(() => {
    const named = presets?.find(({ id, name }) => id === search["preset"] || name === search["preset"])
    if (named === undefined) return
    choosePreset(named.id)
    // What the link gives beside the preset
    form.setAll(parametersOf(search))
  })
  const areKnown = presets !== undefined
  useEffect(() => chooseNamed(), [areKnown])

  const submit = async (): Promise<void> => {
    const made = await workspaces.createWorkspace(client, {
      user: owner.id,
      body: {
        name,
        ...(version === template.active_version_id ? { template_id: template.id } : { template_version_id: version }),
        ...(preset === undefined ? {} : { template_version_preset_id: preset }),
        rich_parameter_values: form.build()
      }
    })
    void queryClient.invalidateQueries({ queryKey: ["workspaces"] })
    await navigate({ to: "/@{$owner}/$workspace", params: { owner: made.owner_name, workspace: made.name } })
  }

  return (
    <Form onSubmit={submit}>
      <Section title={createText.general}>
        <div className="create-fields">
          <Field label={createText.name} name="name" hint={createText.nameHint}>
            <div className="input-group">
              <NameInput value={name} onChange={setName} />
              <IconButton
                size="small"
                className="input-aside"
                label={createText.suggest}
                icon={<Dices />}
                onClick={() => setName(nameIdea())}
              />
            </div>
          </Field>
          {may.others ? (
            <Field label={createText.owner} hint={createText.ownerHint}>
              <OwnerChoice organization={template.organization_id} owner={owner} onChange={setOwner} />
            </Field>
          ) : null}
          {presets === undefined || presets === null || presets.length === 0 ? null : (
            <Field label={createText.preset}>
              <Combobox
                label={createText.preset}
                value={preset ?? ""}
                onChange={choosePreset}
                choices={[
                  { value: "", label: createText.noPreset },
                  ...presets.map(({ default: isDefault, description, icon, id, name }) => ({
                    value: id,
                    label: isDefault ? `${name} (${createText.presetDefault})` : name,
                    hint: description === "" ? undefined : description,
                    icon: <Avatar name={name} src={icon} size={16} isThing />
                  }))
                ]}
              />
            </Field>
          )}
        </div>
      </Section>
      {error === undefined ? null : <ErrorState error={error} onRetry={refetch} />}
      {accounts.length === 0 ? null : <ExternalAccounts accounts={accounts} connect={connect} />}
      <Section title={createText.parameters}>
        <div className="create-fields">
          <ParameterFields form={form} />
        </div>
      </Section>
      <Submit isReady={!form.isPending && form.isValid && !isMissing && name !== ""} isChecking={form.isChecking} />
    </Form>
  )
}

const NameInput = ({ onChange, value }: { readonly value: string; readonly onChange: (value: string) => void }) => (
  <Input value={value} maxLength={32} spellCheck={false} autoFocus onChange={(event) => onChange(event.target.value)} />
)

const Submit = ({ isChecking, isReady }: { readonly isReady: boolean; readonly isChecking: boolean }) => (
  <div className="create-submit">
    <span className="faint" role="status">
      {isChecking ? createText.checking : ""}
    </span>
    <SubmitButton disabled={!isReady}>{createText.create}</SubmitButton>
  </div>
)
