/** Name and updates of a workspace, and its end. */
import type { Workspace } from "@atelier/client"
import * as workspaceSettings from "@atelier/client/workspaceSettings"
import * as workspaces from "@atelier/client/workspaces"
import { useMutation } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Trash2 } from "lucide-react"
import { useState } from "react"
import { client } from "../../../app/client.js"
import { queryClient } from "../../../app/queries.js"
import { useMay } from "../../../app/session.js"
import { settingsText, workspaceText } from "../../../texts/workspace.js"
import { actionsText } from "../../../texts/workspaces.js"
import { Button } from "../../../ui/forms/Button.js"
import { Field, Input, Switch } from "../../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../../ui/forms/Form.js"
import { Section } from "../../../ui/page/Page.js"
import { notify, notifyError } from "../../../ui/floating/Toast.js"
import { DeleteDialog } from "../DeleteDialog.js"
import { isBuilding } from "../state.js"
import { useWorkspaceQuery } from "./workspace.js"

export const Settings = () => {
  const { data: workspace } = useWorkspaceQuery()
  return workspace === undefined ? null : <Loaded key={workspace.id} workspace={workspace} />
}

const Loaded = ({ workspace }: { readonly workspace: Workspace }) => {
  const {
    allow_renames,
    automatic_updates,
    id,
    latest_build,
    organization_id,
    owner_id,
    owner_name,
    template_id,
    template_require_active_version
  } = workspace
  const [name, setName] = useState(workspace.name)
  const [isDeleting, setDeleting] = useState(false)
  const navigate = useNavigate()
  const may = useMay({
    delete: { on: "workspace", to: "delete", owner: owner_id, organization: organization_id, id },
    orphan: { on: "template", to: "update", organization: organization_id, id: template_id }
  })
  const rename = async (): Promise<void> => {
    await workspaces.updateWorkspace(client, { workspace: id, body: { name } })
    notify(workspaceText.renamed)
    await navigate({ to: "/@{$owner}/$workspace/settings", params: { owner: owner_name, workspace: name }, replace: true })
    void queryClient.invalidateQueries({ queryKey: ["workspaces"] })
  }
  const update = useMutation({
    mutationFn: (isAlways: boolean) =>
      workspaceSettings.setWorkspaceAutoupdates(client, { workspace: id, body: { automatic_updates: isAlways ? "always" : "never" } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["workspaces"] }),
    onError: notifyError
  })
  return (
    <>
      <Section title={settingsText.general}>
        <Form onSubmit={rename}>
          <Field label={settingsText.name} name="name" hint={allow_renames ? settingsText.nameHint : settingsText.renameOff}>
            <Input
              value={name}
              maxLength={32}
              spellCheck={false}
              disabled={!allow_renames}
              onChange={(event) => setName(event.target.value)}
            />
          </Field>
          <Switch
            label={settingsText.autoUpdate}
            hint={template_require_active_version ? settingsText.autoUpdateAlways : settingsText.autoUpdateHint}
            checked={template_require_active_version || automatic_updates === "always"}
            disabled={template_require_active_version || update.isPending}
            onChange={(event) => update.mutate(event.target.checked)}
          />
          {allow_renames ? (
            <FormActions>
              <SubmitButton disabled={name === workspace.name}>{actionsText.rename}</SubmitButton>
            </FormActions>
          ) : null}
        </Form>
      </Section>
      {may.delete ? (
        <Section
          title={actionsText.deleteAction}
          description={settingsText.deleteHint}
          actions={
            <Button kind="danger" icon={<Trash2 />} disabled={isBuilding(latest_build)} onClick={() => setDeleting(true)}>
              {actionsText.delete}
            </Button>
          }
        />
      ) : null}
      <DeleteDialog workspace={isDeleting ? workspace : undefined} mayOrphan={may.orphan} onClose={() => setDeleting(false)} />
    </>
  )
}
