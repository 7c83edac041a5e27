/** The values of a template's variables: other values make a new version of the same source. */
import type { Template, TemplateVersion } from "@atelier/client"
import * as templateVersions from "@atelier/client/templateVersions"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../../../app/client.js"
import { settingsText } from "../../../texts/templates.js"
import { Button } from "../../../ui/forms/Button.js"
import { Callout } from "../../../ui/page/Callout.js"
import { Checkbox } from "../../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../../ui/forms/Form.js"
import { Section } from "../../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../../ui/page/States.js"
import { notify } from "../../../ui/floating/Toast.js"
import { imported } from "../imported.js"
import { refreshTemplates, versionQuery } from "../queries.js"
import { givenValues, VariableFields, variablesQuery } from "../VariableFields.js"
import { VersionLog } from "../VersionLog.js"
import { SettingsFrame } from "./SettingsFrame.js"

export const Variables = () => <SettingsFrame>{(template) => <Active key={template.id} template={template} />}</SettingsFrame>

const Active = ({ template }: { readonly template: Template }) => {
  // As it was when the form was opened: what is typed stays when another version is promoted
  const [opened, setOpened] = useState(template.active_version_id)
  const { data, error, isLoadingError, refetch } = useQuery(versionQuery(opened))
  return (
    <Section title={settingsText.variables} description={settingsText.variablesHint}>
      {opened === template.active_version_id ? null : (
        <Callout
          kind="warning"
          title={settingsText.otherVersion}
          action={
            <Button size="small" onClick={() => setOpened(template.active_version_id)}>
              {settingsText.otherVersionShow}
            </Button>
          }
        >
          {settingsText.otherVersionHint}
        </Callout>
      )}
      {isLoadingError ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <SkeletonLines count={4} />
      ) : (
        <VariableForm key={data.id} template={template} version={data} onPromoted={setOpened} />
      )}
    </Section>
  )
}

interface FormProps {
  readonly template: Template
  readonly version: TemplateVersion
  readonly onPromoted: (version: string) => void
}

const VariableForm = ({ onPromoted, template, version }: FormProps) => {
  const { data: variables, error, isLoadingError, refetch } = useQuery(variablesQuery(version.id))
  const [made, setMade] = useState<string | undefined>()
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  if (variables === undefined) return <SkeletonLines count={4} />
  if (variables.length === 0) return <p className="muted">{settingsText.noVariables}</p>
  return (
    <Form
      onSubmit={async (form) => {
        const { id, name } = await templateVersions.createTemplateVersion(client, {
          organization: template.organization_id,
          body: {
            template_id: template.id,
            storage_method: "file",
            provisioner: template.provisioner,
            file_id: version.job.file_id,
            message: version.message,
            tags: version.job.tags,
            user_variable_values: givenValues(variables, form)
          }
        })
        setMade(id)
        await imported(id)
        const isPromoted = form.get("promote") === "on"
        if (isPromoted) await templateVersions.promoteTemplateVersion(client, { template: template.id, body: { id } })
        notify(settingsText.versionMade(name))
        await refreshTemplates()
        if (isPromoted) onPromoted(id)
      }}
    >
      <VariableFields variables={variables} />
      <Checkbox name="promote" label={settingsText.promoteAfter} defaultChecked />
      {made === undefined ? null : <VersionLog key={made} version={made} height={240} />}
      <FormActions>
        <SubmitButton>{settingsText.makeVersion}</SubmitButton>
      </FormActions>
    </Form>
  )
}
