import * as oauth2 from "@atelier/client/oauth2Provider"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { AppWindow, Plus } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { applicationsText, deploymentText } from "../../texts/deployment.js"
import { dialogText } from "../../texts/ui.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Button } from "../../ui/forms/Button.js"
import { Dialog } from "../../ui/floating/Dialog.js"
import { Switch } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { List, ListRow } from "../../ui/lists/List.js"
import { Section } from "../../ui/page/Page.js"
import { Empty } from "../../ui/page/States.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { ApplicationFields, applicationOf } from "./ApplicationFields.js"
import { DeploymentFrame } from "./DeploymentFrame.js"

const settingsKey = ["oauth2-settings"]

export const ApplicationList = () => {
  const [isCreating, setCreating] = useState(false)
  const may = useMay({
    create: { on: "oauth2_app", to: "create" },
    settings: { on: "deployment_config", to: "update" }
  })
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const apps = useQuery({
    queryKey: ["oauth2-apps"],
    queryFn: ({ signal }) => oauth2.listOAuth2Apps(client, {}, { signal })
  })
  const settings = useQuery({ queryKey: settingsKey, queryFn: ({ signal }) => oauth2.getOAuth2Settings(client, { signal }) }).data
  const register = useMutation({
    mutationFn: (dynamic_client_registration_enabled: boolean) =>
      oauth2.updateOAuth2Settings(client, { body: { dynamic_client_registration_enabled } }),
    onSuccess: (changed) => {
      queryClient.setQueryData(settingsKey, changed)
      notify(deploymentText.saved)
    },
    onError: notifyError
  })
  const close = (): void => setCreating(false)
  return (
    <DeploymentFrame
      actions={
        may.create ? (
          <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
            {applicationsText.create}
          </Button>
        ) : undefined
      }
    >
      <Section isFlush title={applicationsText.title} description={applicationsText.hint}>
        <List
          query={apps}
          empty={
            <Empty icon={<AppWindow />} title={applicationsText.none}>
              {applicationsText.noneHint}
            </Empty>
          }
          row={({ callback_url, icon, id, name }) => (
            <ListRow
              key={id}
              lead={<Avatar name={name} src={icon} size={28} isThing />}
              title={name}
              second={callback_url}
              link={{ to: "/deployment/oauth2-provider/apps/$app", params: { app: id } }}
            />
          )}
        />
      </Section>
      {settings === undefined ? null : (
        <Section>
          <Switch
            label={applicationsText.registration}
            hint={applicationsText.registrationHint}
            checked={register.isPending ? register.variables : settings.dynamic_client_registration_enabled}
            disabled={!may.settings || register.isPending}
            onChange={(event) => register.mutate(event.target.checked)}
          />
        </Section>
      )}
      <Dialog isOpen={isCreating} onClose={close} title={applicationsText.createTitle}>
        <Form
          onSubmit={async (form) => {
            const created = await oauth2.createOAuth2App(client, { body: applicationOf(form) })
            await queryClient.invalidateQueries({ queryKey: ["oauth2-apps"] })
            notify(applicationsText.created(created.name))
            void navigate({ to: "/deployment/oauth2-provider/apps/$app", params: { app: created.id } })
          }}
        >
          <ApplicationFields />
          <FormActions>
            <Button onClick={close}>{dialogText.cancel}</Button>
            <Button type="submit" kind="primary">
              {applicationsText.create}
            </Button>
          </FormActions>
        </Form>
      </Dialog>
    </DeploymentFrame>
  )
}
